"""Blocks of adaptive meshes as yt takes them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from halcyon.errors import UsageError
from halcyon.insitu.pictures.frame import Frame
from halcyon.insitu.pictures.pieces import Piece, common_keys, shared_mesh
from halcyon.insitu.pictures.structured import grids_of_their_own

_EVEN = 1e-4
"""Of a spacing: what steps may differ by."""


def amr_grids(frame: Frame, names: Sequence[str], *, refine_by: int = 2) -> dict[str, Any]:
    """Keyword arguments of `yt.load_amr_grids`: each block without a place is a grid, whose coordinates say its level.

    The arrays are views, in yt's order (x first). Their number may change from frame to frame.

    UsageError: a block is not rectilinear with even steps, its values are not of cells, or its steps are no level of
    the coarsest ones.
    """
    mesh = shared_mesh(frame, names)
    if mesh is None or mesh.type != "rectilinear":
        raise UsageError(f"'{names[0]}': grids of adaptive meshes are rectilinear, with coordinates of their own")
    keys = common_keys(frame, names)
    if not keys:
        raise UsageError(f"'{names[0]}': this frame has no blocks")
    pieces = grids_of_their_own(frame, mesh, names, keys).pieces
    edges = np.stack([_edges(piece) for piece in pieces])
    counts = np.stack([_counts(piece) for piece in pieces])
    steps = (edges[:, :, 1] - edges[:, :, 0]) / counts
    coarsest = steps.max(axis=0)
    levels = [_level(steps[i], coarsest, refine_by, piece) for i, piece in enumerate(pieces)]
    left, right = edges[:, :, 0].min(axis=0), edges[:, :, 1].max(axis=0)
    grids = [
        {
            "left_edge": edges[i, :, 0].tolist(),
            "right_edge": edges[i, :, 1].tolist(),
            "level": levels[i],
            "dimensions": counts[i].tolist(),
            **{name: (_x_first(piece.fields[name]), _unit(frame, name)) for name in names},
        }
        for i, piece in enumerate(pieces)
    ]
    return {
        "grid_data": grids,
        "domain_dimensions": np.rint((right - left) / coarsest).astype(int).tolist(),
        "bbox": np.stack([left, right], axis=1),
        "sim_time": frame.time or 0.0,
        "refine_by": refine_by,
    }


def _edges(piece: Piece) -> Any:
    """Smallest and largest x, y, z of the cells."""
    if piece.centering != "cell":
        raise UsageError(
            f"rank {_key(piece)[0]}, block {_key(piece)[1]}: yt takes values of cells, and these are of nodes"
        )
    edges = np.zeros((3, 2))
    edges[len(piece.coordinates) :, 1] = 1
    for row, line in zip(edges, piece.coordinates, strict=False):
        steps = np.diff(line.astype(np.float64))
        if not len(steps) or steps.min() <= 0 or np.ptp(steps) > _EVEN * steps.mean():
            raise UsageError(f"rank {_key(piece)[0]}, block {_key(piece)[1]}: its coordinates are not evenly spaced")
        row[:] = line[0], line[-1]
    return edges


def _counts(piece: Piece) -> Any:
    return np.array([*(len(line) - 1 for line in piece.coordinates), 1, 1][:3])


def _level(steps: Any, coarsest: Any, refine_by: int, piece: Piece) -> int:
    levels = np.log(coarsest / steps)[: len(piece.coordinates)] / np.log(refine_by)
    level = int(np.rint(levels[0]))
    if np.abs(levels - level).max() > 0.01:
        raise UsageError(
            f"rank {_key(piece)[0]}, block {_key(piece)[1]}: its steps are no level of the coarsest ones, refined by "
            f"{refine_by}"
        )
    return level


def _key(piece: Piece) -> tuple[int, int]:
    return piece.key or (0, 0)


def _x_first(values: Any) -> Any:
    turned = values.transpose()
    return turned.reshape(turned.shape + (1,) * (3 - turned.ndim))


def _unit(frame: Frame, name: str) -> str:
    return frame.variable(name).unit or "dimensionless"
