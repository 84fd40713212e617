"""Small fields on meshes of each kind, whole or in blocks."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halcyon.insitu.pictures.frame import Block, Frame, Mesh, Variable

Array = NDArray[Any]
SHAPE = (9, 13, 17)
"""z, y, x"""
BOX = Mesh("box", "rectilinear", ("z", "y", "x"))
WARPED = Mesh("warped", "curvilinear", ("zz", "yy", "xx"))
NAMES = ("u", "v", "w")


def lines(shape: Sequence[int] = SHAPE, *, even: bool = True) -> list[Array]:
    """Coordinates, slowest first, each from 0 to a little more than 1."""
    made = [np.linspace(0, 1 + 0.25 * d, n) for d, n in enumerate(shape)]
    return made if even else [line**1.5 for line in made]


def ball(z: Array, y: Array, x: Array) -> Array:
    """The distance from a point within."""
    return np.sqrt((x - 0.7) ** 2 + (y - 0.6) ** 2 + (z - 0.5) ** 2)


def turning(z: Array, y: Array, x: Array) -> dict[str, Array]:
    """Around an upright axis, and a little upwards."""
    return {"u": -(y - 0.6), "v": x - 0.7, "w": 0.05 + 0 * z}


def boxes(shape: Sequence[int], parts: Sequence[int]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Begin and end of blocks that tile a whole."""
    edges = [np.linspace(0, n, p + 1).astype(int) for n, p in zip(shape, parts, strict=True)]
    for place in product(*(range(p) for p in parts)):
        yield (
            tuple(int(e[i]) for e, i in zip(edges, place, strict=True)),
            tuple(int(e[i + 1]) for e, i in zip(edges, place, strict=True)),
        )


def blocks_of(name: str, whole: Array, parts: Sequence[int], *, ghost: int = 0, per_rank: int = 10**9) -> list[Block]:
    """Copies of boxes of a whole, with ghost layers that hold the neighbours' values."""
    made = []
    for number, (begin, end) in enumerate(boxes(whole.shape, parts)):
        before = tuple(min(ghost, b) for b in begin)
        after = tuple(min(ghost, n - e) for n, e in zip(whole.shape, end, strict=True))
        at = tuple(slice(b - g, e + h) for b, e, g, h in zip(begin, end, before, after, strict=True))
        made.append(
            Block(name, whole[at].copy(), number // per_rank, number % per_rank, whole.shape, begin, before, after)
        )
    return made


def on_box(
    values: dict[str, Array],
    parts: Sequence[int] = (1, 1, 1),
    *,
    coordinates: Sequence[Array] | None = None,
    ghost: int = 0,
    unit: str = "K",
) -> Frame:
    """Variables on a rectilinear mesh whose lines each process has whole."""
    found = coordinates or lines(next(iter(values.values())).shape)
    blocks: dict[str, list[Block]] = {name: [Block(name, line)] for name, line in zip("zyx", found, strict=True)}
    variables = {name: Variable(name, "m") for name in "zyx"}
    for name, whole in values.items():
        blocks[name] = blocks_of(name, whole, parts, ghost=ghost)
        variables[name] = Variable(name, unit, mesh="box")
    return Frame(3, variables, {"box": BOX}, blocks, 12.5)


def grids(coordinates: Sequence[Array]) -> list[Array]:
    return list(np.meshgrid(*coordinates, indexing="ij"))


def warped(coordinates: Sequence[Array]) -> list[Array]:
    """Points of a curvilinear mesh: a box that is bent."""
    z, y, x = grids(coordinates)
    return [z + 0.1 * np.sin(3 * x), y + 0.1 * x * z, x + 0.05 * y]


def on_warped(values: dict[str, Array], points: Sequence[Array], parts: Sequence[int] = (1, 1, 1)) -> Frame:
    """Variables on a curvilinear mesh, its coordinates in the same blocks."""
    shape = next(iter(values.values())).shape
    blocks = {}
    for name, array in zip(WARPED.coordinates, points, strict=True):
        if array.shape == shape:
            blocks[name] = blocks_of(name, array, parts)
        else:  # nodes of cells: each block has all nodes of its own
            blocks[name] = [
                Block(name, array[tuple(slice(b, e + 1) for b, e in zip(*box, strict=True))], 0, i, array.shape, box[0])
                for i, box in enumerate(boxes(shape, parts))
            ]
    variables = {name: Variable(name, "m") for name in WARPED.coordinates}
    for name, whole in values.items():
        blocks[name] = blocks_of(name, whole, parts)
        variables[name] = Variable(name, "K", mesh="warped")
    return Frame(3, variables, {"warped": WARPED}, blocks)


def tetrahedra(coordinates: Sequence[Array]) -> tuple[list[Array], Array]:
    """Points z, y, x and cells: each box of a grid as six tetrahedra around its diagonal."""
    shape = [len(line) for line in coordinates]
    numbers = np.arange(np.prod(shape)).reshape(shape)
    corners = [
        numbers[tuple(slice(o, n - 1 + o) for o, n in zip(offset, shape, strict=True))].ravel()
        for offset in product((0, 1), repeat=3)
    ]
    ways = [(0, 1, 3, 7), (0, 1, 5, 7), (0, 2, 3, 7), (0, 2, 6, 7), (0, 4, 5, 7), (0, 4, 6, 7)]
    cells = np.concatenate([np.stack([corners[i] for i in way], axis=1) for way in ways])
    return [grid.ravel() for grid in grids(coordinates)], cells


SOLID = Mesh("solid", "unstructured", ("pz", "py", "px"), "cells", "types", "sizes")


def on_tetrahedra(field: Any, coordinates: Sequence[Array], *, centering: str = "node", rank: int = 0) -> Frame:
    """`f` on tetrahedra, as one section of cells; with indices of 4 bytes."""
    points, cells = tetrahedra(coordinates)
    values = field(*points)
    if centering == "cell":
        values = values[cells].mean(axis=1)
    arrays = dict(zip(SOLID.coordinates, points, strict=True))
    arrays |= {
        "cells": cells.ravel().astype(np.int32), "types": np.array([10], np.int32),
        "sizes": np.array([len(cells)], np.int32), "f": values,
    }  # fmt: skip
    blocks = {name: [Block(name, array, rank)] for name, array in arrays.items()}
    variables = {name: Variable(name) for name in arrays} | {
        "f": Variable("f", "K", "cell" if centering == "cell" else "node", "solid")
    }
    return Frame(3, variables, {"solid": SOLID}, blocks)
