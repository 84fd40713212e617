"""Parts of a mesh with the variables on them, as NumPy arrays: what becomes a data set of VTK."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halcyon.errors import UsageError
from halcyon.insitu.pictures.frame import Centering, Frame, Key, Mesh

Array = NDArray[Any]


@dataclass(frozen=True)
class Cells:
    """Of an unstructured mesh, as VTK holds them."""

    connectivity: Array
    offsets: Array
    """One more than cells; where each begins in the connectivity."""
    types: Array


@dataclass(frozen=True)
class Piece:
    """Arrays of structured meshes have their slowest dimension first; coordinates are x, y, z, as many as there are."""

    mesh_type: str
    coordinates: tuple[Array, ...]
    """Rectilinear: a line for each dimension; otherwise an array each, with a value for every point."""
    fields: Mapping[str, Array]
    centering: Centering
    key: Key | None
    """The block that it was made of; None: of several."""
    cells: Cells | None = None

    @property
    def dimensions(self) -> int:
        """Of the mesh itself: 2 for a surface, even where its points have three coordinates."""
        return len(self.coordinates) if self.mesh_type == "rectilinear" else self.coordinates[0].ndim

    @property
    def bounds(self) -> Array:
        """Smallest and largest x, y and z, as rows; 0 where there is no such coordinate."""
        box = np.zeros((3, 2))
        for row, values in zip(box, self.coordinates, strict=False):
            row[:] = float(values.min()), float(values.max())
        return box

    @property
    def bytes(self) -> int:
        return sum(values.nbytes for values in self.fields.values())


@dataclass
class Pieces:
    """What there is of some variables of a frame, and what it took to make it."""

    pieces: list[Piece] = field(default_factory=list)
    copied_bytes: int = 0
    open_seams: int = 0
    """Ends of blocks behind which the whole goes on, with no neighbour or ghost layer here: a gap of one cell."""


def pieces_of(
    frame: Frame,
    names: Sequence[str],
    *,
    at_points: bool = False,
    strides: Mapping[Key, int] | None = None,
    region_of: Sequence[Key] | None = None,
) -> Pieces:
    """The blocks of variables that share a mesh.

    `at_points`: values of cells become values of points, which are the cells' centres; nothing is averaged. Blocks
    that tile a box become one piece, unless `strides` says how many points of each block to take one of; those at its
    ends are always taken. `region_of`: only these blocks.

    UsageError: the variables do not fit one another or their mesh.
    """
    from halcyon.insitu.pictures.structured import structured_pieces
    from halcyon.insitu.pictures.unstructured import unstructured_pieces

    mesh = shared_mesh(frame, names)
    keys = common_keys(frame, names)
    if region_of is not None:
        wanted = set(region_of)
        keys = [key for key in keys if key in wanted]
    if not keys:
        return Pieces()
    if mesh is None or mesh.type in ("rectilinear", "curvilinear"):
        return structured_pieces(frame, mesh, names, keys, at_points=at_points or strides is not None, strides=strides)
    if strides is not None and mesh.type == "unstructured":
        raise UsageError(
            f"mesh '{mesh.name}' is unstructured: regions leave out every n-th point of a grid, and it has none; "
            "draw it without regions"
        )
    return unstructured_pieces(frame, mesh, names, keys, strides)


def shared_mesh(frame: Frame, names: Sequence[str]) -> Mesh | None:
    """UsageError: the variables live on different meshes."""
    meshes = {name: frame.variable(name).mesh for name in names}
    if len(set(meshes.values())) > 1:
        told = ", ".join(f"{name}: {mesh or 'no mesh'}" for name, mesh in meshes.items())
        raise UsageError(f"variables of one drawing live on one mesh, but here are {told}")
    return frame.mesh_of(names[0])


def common_keys(frame: Frame, names: Sequence[str]) -> list[Key]:
    """The blocks that are there of every variable and hold something."""
    first, *others = (frame.blocks_of(name) for name in names)
    return [
        key
        for key, block in sorted(first.items())
        if block.values.size and all(n > 0 for n in block.interior) and all(key in other for other in others)
    ]
