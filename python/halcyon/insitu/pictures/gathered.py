"""Blocks of a placed variable as one array: a view where one block is all, one copy where several are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halcyon.errors import UsageError
from halcyon.insitu.pictures.frame import Block

MOST_HOLES = 4
"""A hull of blocks that is larger than so many times the blocks is not filled."""

Box = tuple[tuple[int, ...], tuple[int, ...]]
"""Begin and end in the whole, in each dimension."""


@dataclass(frozen=True)
class Gathered:
    """Elements of a variable within a box of its whole."""

    values: NDArray[Any]
    begin: tuple[int, ...]
    known: NDArray[np.bool_] | None
    """Which elements a block supplied; None: all."""
    copied_bytes: int

    @property
    def end(self) -> tuple[int, ...]:
        return tuple(b + n for b, n in zip(self.begin, self.values.shape, strict=True))

    def window(self, begin: Sequence[int], end: Sequence[int]) -> tuple[slice, ...]:
        return tuple(slice(b - o, e - o) for b, e, o in zip(begin, end, self.begin, strict=True))

    def has(self, begin: Sequence[int], end: Sequence[int]) -> bool:
        """Whether every element of a box is known."""
        if any(b < o for b, o in zip(begin, self.begin, strict=True)) or any(
            e > o for e, o in zip(end, self.end, strict=True)
        ):
            return False
        return self.known is None or bool(self.known[self.window(begin, end)].all())


def box_of(block: Block) -> Box:
    """Of the interior."""
    return block.offset, tuple(o + n for o, n in zip(block.offset, block.interior, strict=True))


def hull(boxes: Sequence[Box]) -> Box:
    begins, ends = zip(*boxes, strict=True)
    return tuple(map(min, zip(*begins, strict=True))), tuple(map(max, zip(*ends, strict=True)))


def gather(blocks: Sequence[Block]) -> Gathered | None:
    """All blocks in their hull, with at most one ghost layer beyond; None where that would be mostly holes.

    Interiors count before ghost layers, wherever both know an element.
    """
    first = blocks[0]
    if first.whole is None:
        raise UsageError(f"variable '{first.variable}' has no place: its blocks are not one array")
    if any(block.whole != first.whole for block in blocks):
        raise UsageError(f"variable '{first.variable}': its blocks lie in wholes of different shapes")
    if any(block.values.dtype != first.values.dtype for block in blocks):
        raise UsageError(f"variable '{first.variable}': its blocks have different types")
    if len(blocks) == 1:
        begin, end = _with_ghosts(first)
        return Gathered(first.values[_within(first, begin, end)], begin, None, 0)
    begin, end = hull([_with_ghosts(block) for block in blocks])
    shape = tuple(e - b for b, e in zip(begin, end, strict=True))
    if np.prod(shape) > MOST_HOLES * sum(block.values.size for block in blocks):
        return None
    values = np.zeros(shape, first.values.dtype)
    known = np.zeros(shape, np.bool_)
    for block in blocks:
        if any(block.ghost_before) or any(block.ghost_after):
            _put(values, known, begin, block, _with_ghosts(block))
    for block in blocks:
        _put(values, known, begin, block, box_of(block))
    return Gathered(values, begin, None if known.all() else known, values.nbytes)


def _with_ghosts(block: Block) -> Box:
    """With one ghost layer on each side that has some, and within the whole: periodic ones lie outside."""
    begin, end = box_of(block)
    assert block.whole is not None
    return (
        tuple(max(0, b - min(g, 1)) for b, g in zip(begin, block.ghost_before, strict=True)),
        tuple(min(w, e + min(g, 1)) for e, g, w in zip(end, block.ghost_after, block.whole, strict=True)),
    )


def _within(block: Block, begin: Sequence[int], end: Sequence[int]) -> tuple[slice, ...]:
    return tuple(
        slice(b - o + g, e - o + g) for b, e, o, g in zip(begin, end, block.offset, block.ghost_before, strict=True)
    )


def _put(values: NDArray[Any], known: NDArray[np.bool_], origin: Sequence[int], block: Block, box: Box) -> None:
    at = tuple(slice(b - o, e - o) for b, e, o in zip(*box, origin, strict=True))
    values[at] = block.values[_within(block, *box)]
    known[at] = True
