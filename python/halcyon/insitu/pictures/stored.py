"""Frames of a stored run: its blocks as the servers' files hold them, whichever format."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from halcyon.errors import UsageError
from halcyon.insitu.pictures.frame import Block, Centering, Frame, Mesh, Variable
from halcyon.offload.block_reader import BlockReader
from halcyon.offload.stored_blocks import WHOLE, Key, contents_of
from halcyon.offload.stored_blocks import Block as StoredBlock


class StoredRun:
    """A run's directory, or one data file of it; to be closed. Elements are read when a frame asks for them.

    UsageError: there is no run, or no data in it. HalcyonSystemError: a file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        contents = contents_of(path, None)
        if not contents.blocks:
            raise UsageError(f"{path}: no data files of Halcyon's servers here")
        self._path, self._reader = path, BlockReader()
        self._stored: dict[str, dict[int | None, list[tuple[Key, StoredBlock]]]] = {}
        for key, block in sorted(contents.blocks.items(), key=lambda item: item[0].order()):
            self._stored.setdefault(key.variable, {}).setdefault(key.iteration, []).append((key, block))
        self.iterations = sorted(contents.all_iterations)
        self.variables = {name: _variable(name, said[0]) for name, said in contents.descriptions.items()}
        self.meshes = {name: mesh for name, said in contents.meshes.items() if (mesh := _mesh(said)) is not None}
        self._placed = {name for name, said in contents.descriptions.items() if said[0].get("placed")}

    def __enter__(self) -> "StoredRun":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._reader.close()

    @property
    def drawable(self) -> list[str]:
        """Names of variables that live on a mesh."""
        return sorted(name for name, variable in self.variables.items() if variable.mesh in self.meshes)

    def frame(self, iteration: int, names: Sequence[str]) -> Frame:
        """Some variables of an iteration, with the meshes that they live on. UsageError: there is no such iteration."""
        if iteration not in self.iterations:
            raise UsageError(f"{self._path}: no iteration {iteration}; it has {_spans(self.iterations)}")
        needed = dict.fromkeys(names)
        for name in names:
            if name in self.variables and self.variables[name].mesh in self.meshes:
                needed.update(dict.fromkeys(self.meshes[self.variables[name].mesh].names))
        blocks = {name: self._blocks(name, iteration) for name in needed if name in self._stored}
        return Frame(iteration, self.variables, self.meshes, blocks)

    def _blocks(self, name: str, iteration: int) -> list[Block]:
        """Of a file of all servers the whole, with blocks of parts that were stored earlier put into it."""
        of_variable = self._stored[name]
        found = [*of_variable.get(iteration, ()), *of_variable.get(None, ())]
        blocks = [self._block(name, key, stored) for key, stored in found]
        if len(blocks) == 1 or not any(key.domain == WHOLE for key, _ in found):
            return blocks
        whole = next(block for (key, _), block in zip(found, blocks, strict=True) if key.domain == WHOLE)
        values = whole.values.copy()
        for (key, _), block in zip(found, blocks, strict=True):
            if key.domain != WHOLE:
                values[tuple(slice(o, o + n) for o, n in zip(block.offset, block.interior, strict=True))] = (
                    block.inner()
                )
        return [Block(name, values, whole.rank, whole.number, whole.whole)]

    def _block(self, name: str, key: Key, stored: StoredBlock) -> Block:
        values = self._reader.values(stored)
        if values.dtype == np.float16:
            values = values.astype(np.float32)
        rank, number = (-1, 0) if key.domain == WHOLE else (stored.rank, stored.number)
        if name not in self._placed:
            return Block(name, values, rank, number)
        place = stored.place
        whole, before, after = place["global"], place["ghost_before"], place["ghost_after"]
        return Block(name, values, rank, number, whole, place["offset"], before, after)


def _variable(name: str, said: dict[str, Any]) -> Variable:
    return Variable(
        name,
        str(said.get("unit", "")),
        cast(Centering, str(said.get("centering", "cell"))),
        str(said.get("mesh", "")),
        str(said.get("description", "")),
    )


def _mesh(said: dict[str, Any]) -> Mesh | None:
    """None where no picture could be made of it."""
    coordinates = said.get("coordinates", ())
    names = (coordinates,) if isinstance(coordinates, str) else tuple(map(str, coordinates))
    others = (str(said.get(key, "")) for key in ("cells", "cell_types", "cell_sizes"))
    return Mesh(str(said["name"]), str(said["type"]), names, *others) if len(names) <= 3 else None


def _spans(iterations: Sequence[int]) -> str:
    """`0 to 9, 12`"""
    spans: list[list[int]] = []
    for i in iterations:
        if spans and spans[-1][1] == i - 1:
            spans[-1][1] = i
        else:
            spans.append([i, i])
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in spans) or "none"
