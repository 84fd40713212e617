"""Pieces of rectilinear and curvilinear meshes, and of variables without a mesh."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halcyon.errors import UsageError
from halcyon.insitu.pictures.frame import Block, Centering, Frame, Key, Mesh
from halcyon.insitu.pictures.gathered import Box, Gathered, box_of, gather, hull
from halcyon.insitu.pictures.pieces import Piece, Pieces

Array = NDArray[Any]


def structured_pieces(
    frame: Frame,
    mesh: Mesh | None,
    names: Sequence[str],
    keys: Sequence[Key],
    *,
    at_points: bool,
    strides: Mapping[Key, int] | None,
) -> Pieces:
    """See pieces_of."""
    blocks = {name: [frame.blocks_of(name)[key] for key in keys] for name in names}
    _check_shapes(blocks)
    if all(block.whole is not None for block in blocks[names[0]]):
        made = Pieces()
        if _add_together(made, frame, mesh, blocks, keys, at_points=at_points, strides=strides):
            return made
    made = grids_of_their_own(frame, mesh, names, keys, at_points=at_points, strides=strides)
    if mesh is not None and mesh.type == "rectilinear":
        refuse_overlaps(made.pieces)
    return made


def grids_of_their_own(
    frame: Frame,
    mesh: Mesh | None,
    names: Sequence[str],
    keys: Sequence[Key],
    *,
    at_points: bool = False,
    strides: Mapping[Key, int] | None = None,
) -> Pieces:
    """A piece of each block, with the coordinates of its rank and number where these have no place."""
    made = Pieces()
    for key in keys:
        alone = {name: [_by_itself(frame.blocks_of(name)[key])] for name in names}
        _add_together(made, frame, mesh, alone, [key], at_points=at_points, strides=strides or {})
    return made


def _check_shapes(blocks: Mapping[str, Sequence[Block]]) -> None:
    first, *others = blocks.items()
    for name, of_name in others:
        for a, b in zip(first[1], of_name, strict=True):
            if (a.interior, a.whole, a.offset) != (b.interior, b.whole, b.offset):
                raise UsageError(
                    f"rank {a.rank}, block {a.number}: '{first[0]}' has the shape {a.interior} at {a.offset}, but "
                    f"'{name}' has {b.interior} at {b.offset}; variables of one drawing have the same places"
                )


def _by_itself(block: Block) -> Block:
    """A block without a place as the whole of itself; one with a place has neighbours too far away to matter."""
    return _alone(block) if block.whole is None else block


def _alone(block: Block) -> Block:
    return replace(block, values=block.inner(), whole=block.interior, offset=(), ghost_before=(), ghost_after=())


def _add_together(
    made: Pieces,
    frame: Frame,
    mesh: Mesh | None,
    blocks: Mapping[str, Sequence[Block]],
    keys: Sequence[Key],
    *,
    at_points: bool,
    strides: Mapping[Key, int] | None,
) -> bool:
    """Adds the pieces of blocks in one whole; nothing, and False, where the blocks lie too far apart."""
    gathered: dict[str, Gathered] = {}
    for name, of_name in blocks.items():
        one = gather(of_name)
        if one is None:
            return False
        gathered[name] = one
    leading = next(iter(blocks.values()))
    coordinates = _Coordinates(frame, mesh, next(iter(blocks)), leading, keys)
    boxes = [box_of(block) for block in leading]
    all_of_it = hull(boxes)
    one_window = strides is None and all(one.has(*all_of_it) for one in gathered.values())
    windows: list[tuple[Key | None, Box]]
    windows = [(keys[0] if len(keys) == 1 else None, all_of_it)] if one_window else list(zip(keys, boxes, strict=True))
    points = at_points or coordinates.centering == "node"
    whole = leading[0].whole
    assert whole is not None
    for key, (begin, end) in windows:
        if points:
            end, seams = _to_neighbours(begin, end, whole, gathered)
            made.open_seams += seams
        stride = 1 if strides is None or key is None else strides.get(key, 1)
        taken = [_taken(e - b, stride) for b, e in zip(begin, end, strict=True)]
        made.pieces.append(
            Piece(
                mesh.type if mesh else "rectilinear",
                coordinates.of(begin, end, taken, at_points=points),
                {name: _thinned(one.values[one.window(begin, end)], taken) for name, one in gathered.items()},
                "node" if points else "cell",
                key,
            )
        )
    made.copied_bytes += sum(one.copied_bytes for one in gathered.values())
    return True


def _to_neighbours(
    begin: tuple[int, ...], end: tuple[int, ...], whole: tuple[int, ...], gathered: Mapping[str, Gathered]
) -> tuple[tuple[int, ...], int]:
    """The end with the first layer of what lies behind it, in each dimension that has one here; and those that lack."""
    reached, seams = list(end), 0
    for d, n in enumerate(whole):
        if end[d] >= n:
            continue
        reached[d] += 1
        if not all(one.has(begin, reached) for one in gathered.values()):
            reached[d] -= 1
            seams += 1
    return tuple(reached), seams


def _taken(count: int, stride: int) -> Array | None:
    """Places of every `stride`-th of `count` values and of the last; None: all."""
    if stride <= 1 or count <= 2:
        return None
    places = np.arange(0, count, stride)
    return places if places[-1] == count - 1 else np.append(places, count - 1)


def _thinned(values: Array, taken: Sequence[Array | None]) -> Array:
    for d, places in enumerate(taken):
        if places is not None:
            values = values.take(places, axis=d)
    return values


class _Coordinates:
    """Of the points that belong to the elements of a box. Whether values are of nodes or cells, the shapes say."""

    def __init__(
        self, frame: Frame, mesh: Mesh | None, name: str, blocks: Sequence[Block], keys: Sequence[Key]
    ) -> None:
        self._whole = blocks[0].whole or ()
        self._name, self._mesh = name, mesh
        self._arrays: list[Gathered] = []
        self.centering: Centering = frame.variable(name).centering
        if len(self._whole) not in (2, 3):
            raise UsageError(f"variable '{name}' has {len(self._whole)} dimensions; pictures are of 2 or 3")
        if mesh is None:
            return
        lines = mesh.type == "rectilinear"
        if lines and len(mesh.coordinates) != len(self._whole):
            raise UsageError(
                f"variable '{name}' has {len(self._whole)} dimensions, and mesh '{mesh.name}' {len(mesh.coordinates)}"
            )
        nodes: list[tuple[int, ...]] = []
        for d, coordinate in enumerate(mesh.coordinates):
            dimensions = (d,) if lines else tuple(range(len(self._whole)))
            found = frame.blocks_of(coordinate)
            placed = _placed(coordinate, found, blocks, dimensions, keys)
            gathered = gather(placed)
            if gathered is None:
                raise UsageError(f"coordinate '{coordinate}' of mesh '{mesh.name}': its blocks lie too far apart")
            self._arrays.append(gathered)
            shape = placed[0].whole or ()
            nodes = [*nodes, shape] if lines else [(n,) for n in shape]
        counts = tuple(n for shape in nodes for n in shape)
        if counts == self._whole:
            self.centering = "node"
        elif counts == tuple(n + 1 for n in self._whole):
            self.centering = "cell"
        else:
            raise UsageError(
                f"variable '{name}' has the shape {_text(self._whole)}, but mesh '{mesh.name}' has {_text(counts)} "
                f"nodes and {_text([n - 1 for n in counts])} cells; give the variable a mesh of its own shape"
            )

    def of(
        self, begin: Sequence[int], end: Sequence[int], taken: Sequence[Array | None], *, at_points: bool
    ) -> tuple[Array, ...]:
        """x first. `at_points`: of the nodes or cell centres of a box of elements; else of the nodes of its cells."""
        on_cells = self.centering == "cell"
        ends = [e + 1 for e in end] if on_cells else list(end)
        if self._mesh is None or self._mesh.type == "rectilinear":
            lines = [self._line(d, begin[d], ends[d]) for d in range(len(self._whole))]
            if on_cells and at_points:
                lines = [_middles(line, 0) for line in lines]
            lines = [_thinned(line, [places]) for line, places in zip(lines, taken, strict=True)]
            return tuple(lines[::-1])
        arrays = [self._array(i, begin, ends) for i in range(len(self._arrays))]
        if on_cells and at_points:
            for d in range(len(self._whole)):
                arrays = [_middles(array, d) for array in arrays]
        return tuple(_thinned(array, taken) for array in arrays[::-1])

    def _line(self, d: int, begin: int, end: int) -> Array:
        return np.arange(begin, end, dtype=np.float64) if self._mesh is None else self._array(d, [begin], [end])

    def _array(self, i: int, begin: Sequence[int], end: Sequence[int]) -> Array:
        gathered = self._arrays[i]
        if not gathered.has(begin, end):
            assert self._mesh is not None
            raise UsageError(
                f"coordinate '{self._mesh.coordinates[i]}' of mesh '{self._mesh.name}' lacks values that variable "
                f"'{self._name}' needs, from {tuple(begin)} to {tuple(e - 1 for e in end)}"
            )
        return gathered.values[gathered.window(begin, end)]


def _placed(
    name: str,
    found: Mapping[Key, Block],
    blocks: Sequence[Block],
    dimensions: Sequence[int],
    keys: Sequence[Key],
) -> list[Block]:
    """Blocks of a coordinate with places: their own ones, or those of the variable's blocks that they belong to."""
    if not found:
        raise UsageError(f"coordinate '{name}' is not here: no block of it was written or kept")
    whole = tuple((blocks[0].whole or ())[d] for d in dimensions)
    nodes_of_cells = tuple(n + 1 for n in whole)
    if len(keys) == 1 and keys[0] in found:  # one block of thousands, perhaps: its own coordinates are enough
        own, alone = found[keys[0]], blocks[0]
        has_ghosts = any(alone.ghost_before) or any(alone.ghost_after)
        elsewhere = own.whole not in (None, whole, nodes_of_cells)  # the variable has no place
        if alone.interior == alone.whole and (elsewhere or (own.whole is None and not has_ghosts)):
            found = {keys[0]: _alone(own)}
        elif own.whole is None or _covers(own, alone, dimensions):
            found = {keys[0]: own}
    own_places = list(found.values())
    if all(block.whole is not None for block in own_places):
        return own_places
    if any(block.values.ndim != len(dimensions) for block in own_places):
        ndim = own_places[0].values.ndim
        raise UsageError(f"coordinate '{name}' has {ndim} dimensions; {len(dimensions)} are expected")
    first = own_places[0]
    if first.values.shape in (whole, nodes_of_cells):  # everybody has all of it
        return [_alone(first)]
    placed = []
    for key, of_variable in zip(keys, blocks, strict=True):
        if key not in found:
            raise UsageError(f"coordinate '{name}' has no place, and no block of rank {key[0]}, number {key[1]}")
        placed.append(_like(found[key], of_variable, dimensions, whole))
    return placed


def _covers(coordinate: Block, block: Block, dimensions: Sequence[int]) -> bool:
    """Whether a coordinate's block has all nodes of a variable's, ghost layers included."""
    assert block.whole is not None
    if coordinate.whole is None or coordinate.values.ndim != len(dimensions):
        return False
    for i, d in enumerate(dimensions):
        begin = block.offset[d] - block.ghost_before[d]
        end = block.offset[d] + block.interior[d] + block.ghost_after[d]
        own = coordinate.offset[i] - coordinate.ghost_before[i]
        more = coordinate.whole[i] - block.whole[d]  # 1: nodes of cells
        if own > max(begin, 0) or own + coordinate.values.shape[i] < min(end, block.whole[d]) + more:
            return False
    return True


def _like(block: Block, of_variable: Block, dimensions: Sequence[int], whole: tuple[int, ...]) -> Block:
    """A coordinate's block at the place of a variable's."""
    shape = block.values.shape
    full = tuple(of_variable.values.shape[d] for d in dimensions)
    inner = tuple(of_variable.interior[d] for d in dimensions)
    offset = tuple(of_variable.offset[d] for d in dimensions)
    before = tuple(of_variable.ghost_before[d] for d in dimensions)
    after = tuple(of_variable.ghost_after[d] for d in dimensions)
    for more in (0, 1):
        size = tuple(n + more for n in whole)
        if shape == tuple(n + more for n in inner):
            return replace(block, whole=size, offset=offset, ghost_before=(), ghost_after=())
        if shape == tuple(n + more for n in full):
            return replace(block, whole=size, offset=offset, ghost_before=before, ghost_after=after)
    raise UsageError(
        f"coordinate '{block.variable}', rank {block.rank}, block {block.number}: has {_text(shape)} values for "
        f"{_text(inner)} of '{of_variable.variable}'; expected as many, or one more in each dimension"
    )


def _middles(values: Array, axis: int) -> Array:
    first = values.take(range(values.shape[axis] - 1), axis=axis)
    second = values.take(range(1, values.shape[axis]), axis=axis)
    return np.asarray((first.astype(np.float64) + second) / 2)


def refuse_overlaps(pieces: Sequence[Piece]) -> None:
    """UsageError: two grids without a place share room, as those of adaptive meshes do."""
    if len(pieces) < 2:
        return
    boxes = np.stack([piece.bounds for piece in pieces])
    sizes = boxes[:, :, 1] - boxes[:, :, 0]
    flat = sizes.max(axis=0) == 0
    order = np.argsort(boxes[:, 0, 0], kind="stable")
    begins = (boxes[:, :, 0] + 1e-6 * sizes)[order]  # neighbours that touch do not overlap
    ends = (boxes[:, :, 1] - 1e-6 * sizes)[order]
    for i, until in enumerate(np.searchsorted(begins[:, 0], ends[:, 0], side="left")):
        later = slice(i + 1, int(until))
        meets = flat | ((begins[later] < ends[i]) & (ends[later] > begins[i]))
        hit = np.flatnonzero(meets.all(axis=1))
        if hit.size:
            a, b = (pieces[order[j]].key or (0, 0) for j in (i, i + 1 + int(hit[0])))
            raise UsageError(
                f"block {a[1]} of rank {a[0]} and block {b[1]} of rank {b[0]} overlap: give the "
                "variable a place, or hand adaptive meshes to yt, which draws them: halcyon.insitu.pictures.amr_grids"
            )


def _text(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape))
