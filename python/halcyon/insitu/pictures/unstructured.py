"""Pieces of unstructured meshes and of points: one for each block."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halcyon.errors import UsageError
from halcyon.insitu.pictures.frame import Block, Centering, Frame, Key, Mesh
from halcyon.insitu.pictures.pieces import Cells, Piece, Pieces

Array = NDArray[Any]

POINTS_OF_TYPE = {
    1: 1, 3: 2, 5: 3, 8: 4, 9: 4, 10: 4, 11: 8, 12: 8, 13: 6, 14: 5, 15: 10, 16: 12,
    21: 3, 22: 6, 23: 8, 24: 10, 25: 20, 26: 15, 27: 13, 28: 9, 29: 27,
}  # fmt: skip
"""Of VTK's types of cells that always have the same number of points."""


def unstructured_pieces(
    frame: Frame, mesh: Mesh, names: Sequence[str], keys: Sequence[Key], strides: Mapping[Key, int] | None
) -> Pieces:
    """See pieces_of. A block of a variable belongs to the coordinates and cells of its rank and number."""
    made = Pieces()
    for key in keys:
        points = tuple(_line(frame, name, key, f"mesh '{mesh.name}'") for name in mesh.coordinates)
        if len({len(line) for line in points}) > 1:
            told = ", ".join(f"{name}: {len(line)}" for name, line in zip(mesh.coordinates, points, strict=True))
            raise UsageError(f"mesh '{mesh.name}', {_of(key)}: coordinates of different lengths ({told})")
        fields = {name: _line(frame, name, key, f"'{names[0]}'") for name in names}
        if not len(points[0]):
            continue
        coordinates = points[::-1]
        if mesh.type == "points":
            _as_many(names, fields, len(points[0]), mesh, key)
            stride = (strides or {}).get(key, 1)
            thin = slice(None, None, stride) if stride > 1 else slice(None)
            taken = {name: values[thin] for name, values in fields.items()}
            made.pieces.append(Piece("points", tuple(c[thin] for c in coordinates), taken, "node", key))
            continue
        cells = _cells(frame, mesh, key, len(points[0]))
        centering = _centering(frame, names[0], fields[names[0]], len(points[0]), len(cells.types), mesh, key)
        _as_many(names, fields, len(fields[names[0]]), mesh, key)
        made.pieces.append(Piece("unstructured", coordinates, fields, centering, key, cells))
    return made


def _of(key: Key) -> str:
    return f"rank {key[0]}, block {key[1]}"


def _line(frame: Frame, name: str, key: Key, needed_by: str) -> Array:
    """All elements of a block, in one row; a view where the array is contiguous."""
    found: Block | None = frame.blocks_of(name).get(key)
    if found is None:
        raise UsageError(f"{needed_by} needs '{name}', which has no block of {_of(key)}")
    return found.inner().reshape(-1)


def _as_many(names: Sequence[str], fields: Mapping[str, Array], count: int, mesh: Mesh, key: Key) -> None:
    for name in names:
        if len(fields[name]) != count:
            raise UsageError(
                f"'{name}', {_of(key)}: {len(fields[name])} values, but {count} are expected on mesh '{mesh.name}'"
            )


def _centering(frame: Frame, name: str, values: Array, points: int, cells: int, mesh: Mesh, key: Key) -> Centering:
    """What the number of values says; where it says nothing, the configuration."""
    said = frame.variable(name).centering
    fits = {"node": len(values) == points, "cell": len(values) == cells}
    if fits[said]:
        return said
    other: Centering = "cell" if said == "node" else "node"
    if fits[other]:
        return other
    raise UsageError(
        f"'{name}', {_of(key)}: {len(values)} values, but mesh '{mesh.name}' has {points} points and {cells} cells"
    )


def _cells(frame: Frame, mesh: Mesh, key: Key, points: int) -> Cells:
    where = f"mesh '{mesh.name}', {_of(key)}"
    connectivity = _whole_numbers(_line(frame, mesh.cells, key, where), mesh.cells, where)
    types = _whole_numbers(_line(frame, mesh.cell_types, key, where), mesh.cell_types, where)
    sizes = None
    if mesh.cell_sizes:
        sizes = _whole_numbers(_line(frame, mesh.cell_sizes, key, where), mesh.cell_sizes, where)
        if len(sizes) != len(types):
            raise UsageError(f"{where}: {len(types)} types of cells, but {len(sizes)} sizes")
    if len(connectivity) and not 0 <= int(connectivity.min()) <= int(connectivity.max()) < points:
        raise UsageError(
            f"{where}: '{mesh.cells}' names the points {connectivity.min()} to {connectivity.max()}, but there are "
            f"{points}, and they are counted from 0"
        )
    counts, types = _counts(types, sizes, len(connectivity), where)
    offsets = np.zeros(len(counts) + 1, connectivity.dtype)
    np.cumsum(counts, out=offsets[1:])
    return Cells(connectivity, offsets, types.astype(np.uint8))


def _whole_numbers(values: Array, name: str, where: str) -> Array:
    """As VTK takes them: 4 or 8 bytes with a sign. A view where they are."""
    if values.dtype.kind not in "iu":
        raise UsageError(f"{where}: '{name}' has elements of type {values.dtype}; expected whole numbers")
    return values if values.dtype in (np.int32, np.int64) else values.astype(np.int64)


def _counts(types: Array, sizes: Array | None, listed: int, where: str) -> tuple[Array, Array]:
    """Points of each cell, and its type. Types are of cells, or of sections, whose sizes are then numbers of cells."""
    if sizes is not None and int(sizes.sum()) == listed:
        return sizes, types
    unknown = sorted(set(types.tolist()) - POINTS_OF_TYPE.keys())
    if unknown:
        more = "sizes do not add up to the length of the list" if sizes is not None else "they need cell-sizes"
        raise UsageError(f"{where}: cells of type {unknown[0]} have no fixed number of points; {more}")
    points = np.array([POINTS_OF_TYPE[kind] for kind in types.tolist()], np.int64)
    if sizes is not None and int((points * sizes).sum()) == listed:
        return np.repeat(points, sizes), np.repeat(types, sizes)
    if sizes is None and int(points.sum()) == listed:
        return points, types
    if sizes is None and len(types) == 1 and listed % points[0] == 0:
        return np.repeat(points, listed // points[0]), np.repeat(types, listed // points[0])
    raise UsageError(
        f"{where}: the types and sizes of its cells ask for a list of {int(points.sum())} points or more, and there "
        f"are {listed}"
    )
