"""One iteration as pictures need it: blocks, which are views of arrays, and their description in the configuration."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from halcyon.errors import UsageError

Centering = Literal["node", "cell"]
MESH_TYPES = ("rectilinear", "curvilinear", "unstructured", "points")
Key = tuple[int, int]
"""Rank and number of a block."""


@dataclass(frozen=True)
class Variable:
    name: str
    unit: str = ""
    centering: Centering = "cell"
    mesh: str = ""
    """Empty: cells of unit size."""
    description: str = ""

    def __post_init__(self) -> None:
        if self.centering not in ("node", "cell"):
            raise UsageError(f"variable '{self.name}': centering '{self.centering}'; expected node or cell")

    @property
    def title(self) -> str:
        """`qr (kg kg-1)`"""
        return f"{self.name} ({self.unit})" if self.unit else self.name


@dataclass(frozen=True)
class Mesh:
    """A geometry; coordinates are names of variables, slowest dimension first, as in halcyon.yaml."""

    name: str
    type: str
    coordinates: tuple[str, ...]
    cells: str = ""
    cell_types: str = ""
    cell_sizes: str = ""

    def __post_init__(self) -> None:
        if self.type not in MESH_TYPES:
            raise UsageError(f"mesh '{self.name}': no type '{self.type}'; known types: {', '.join(MESH_TYPES)}")
        if not 1 <= len(self.coordinates) <= 3:
            raise UsageError(
                f"mesh '{self.name}' has {len(self.coordinates)} coordinates; pictures are of 1, 2 or 3 dimensions"
            )
        if self.type == "unstructured" and not (self.cells and self.cell_types):
            raise UsageError(f"mesh '{self.name}' is unstructured; it needs cells and cell_types")

    @property
    def names(self) -> tuple[str, ...]:
        """Of all variables that describe it."""
        return (*self.coordinates, *filter(None, (self.cells, self.cell_types, self.cell_sizes)))


@dataclass(frozen=True)
class Block:
    """A process's piece of a variable. The array is a view, with its ghost layers; it is neither copied nor changed."""

    variable: str
    values: NDArray[Any]
    rank: int = 0
    number: int = 0
    whole: tuple[int, ...] | None = None
    """Shape of the whole array; None: it has no place."""
    offset: tuple[int, ...] = ()
    """Where the interior begins in the whole."""
    ghost_before: tuple[int, ...] = ()
    ghost_after: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        zeros = (0,) * self.values.ndim
        for name in ("offset", "ghost_before", "ghost_after"):
            if not getattr(self, name):
                object.__setattr__(self, name, zeros)
        if self.values.dtype.kind not in "iufb":
            raise self._wrong(f"elements of type {self.values.dtype} are no numbers")
        lengths = {len(self.offset), len(self.ghost_before), len(self.ghost_after), len(self.whole or zeros)}
        if lengths != {self.values.ndim}:
            raise self._wrong(f"has {self.values.ndim} dimensions, and a place or ghost layers of another number")
        if min((*self.ghost_before, *self.ghost_after, *self.offset), default=0) < 0:
            raise self._wrong("has a negative offset or a negative number of ghost layers")
        if min(self.interior, default=0) < 0:
            raise self._wrong(f"of shape {self.values.shape} is smaller than its ghost layers")
        if self.whole is not None and any(
            o + n > w for o, n, w in zip(self.offset, self.interior, self.whole, strict=True)
        ):
            raise self._wrong(f"at {self.offset}, of shape {self.interior}, ends outside of the whole, {self.whole}")

    def _wrong(self, what: str) -> UsageError:
        return UsageError(f"variable '{self.variable}', rank {self.rank}, block {self.number}: {what}")

    @property
    def key(self) -> Key:
        return (self.rank, self.number)

    @property
    def interior(self) -> tuple[int, ...]:
        """Shape without ghost layers."""
        return tuple(n - b - a for n, b, a in zip(self.values.shape, self.ghost_before, self.ghost_after, strict=True))

    def inner(self) -> NDArray[Any]:
        """The interior, as a view."""
        return self.values[tuple(slice(b, b + n) for b, n in zip(self.ghost_before, self.interior, strict=True))]


@dataclass(frozen=True)
class Frame:
    """What one node, or whoever draws, has of an iteration. Coordinates that were written once belong to each frame."""

    iteration: int
    variables: Mapping[str, Variable]
    meshes: Mapping[str, Mesh]
    blocks: Mapping[str, Sequence[Block]]
    time: float | None = None
    """Time of the simulation, where the configuration names a parameter for it."""
    found: dict[str, dict[Key, Block]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def variable(self, name: str) -> Variable:
        """UsageError: there is none of this name."""
        try:
            return self.variables[name]
        except KeyError:
            raise UsageError(f"no variable '{name}'; known variables: {_listed(self.variables)}") from None

    def mesh_of(self, name: str) -> Mesh | None:
        """The mesh that a variable lives on; None: cells of unit size."""
        wanted = self.variable(name).mesh
        if not wanted:
            return None
        if wanted not in self.meshes:
            raise UsageError(f"variable '{name}': no mesh '{wanted}'; known meshes: {_listed(self.meshes)}")
        return self.meshes[wanted]

    def blocks_of(self, name: str) -> Mapping[Key, Block]:
        """The blocks of a variable by rank and number; none is no error. UsageError: two have the same."""
        if name not in self.found:
            by_key: dict[Key, Block] = {}
            for block in self.blocks.get(name, ()):
                if block.key in by_key:
                    raise UsageError(
                        f"variable '{name}': two blocks of rank {block.rank} have the number {block.number}"
                    )
                by_key[block.key] = block
            self.found[name] = by_key
        return self.found[name]


def frame_of(
    arrays: Mapping[str, NDArray[Any]],
    variables: Iterable[Variable],
    meshes: Iterable[Mesh] = (),
    *,
    iteration: int = 0,
    time: float | None = None,
) -> Frame:
    """A frame of whole arrays, one block each; for scripts and tests."""
    blocks = {name: [Block(name, np.asarray(values), whole=values.shape)] for name, values in arrays.items()}
    known = {variable.name: variable for variable in variables}
    for name in arrays:
        known.setdefault(name, Variable(name))
    return Frame(iteration, known, {mesh.name: mesh for mesh in meshes}, blocks, time)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
