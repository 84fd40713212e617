"""Blocks in boxes of one size, for regions: each may be of interest, or not. Large blocks are divided, which copies
nothing; many that are smaller than a box are put together first."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from halcyon.insitu.pictures.frame import Block, Frame
from halcyon.insitu.pictures.gathered import box_of, gather, hull

_MOST = 1 << 20
"""Parts of a block."""


def divided(frame: Frame, names: Sequence[str], edge: int) -> Frame:
    """Blocks of variables with a place, in boxes of about `edge` values along each side.

    Variables stay as they are where a coordinate of their mesh belongs to blocks by their numbers.
    """
    blocks = dict(frame.blocks)
    for name in names:
        if _has_places(frame, name):
            own = _together(frame.blocks[name], edge)
            blocks[name] = [part for block in own for part in _parts(block, edge)]
    return replace(frame, blocks=blocks)


def _has_places(frame: Frame, name: str) -> bool:
    own = frame.blocks.get(name, ())
    if not own or any(block.whole is None for block in own):
        return False
    mesh = frame.mesh_of(name)
    if mesh is None:
        return True
    if mesh.type not in ("rectilinear", "curvilinear"):
        return False
    whole = own[0].whole or ()
    for d, coordinate in enumerate(mesh.coordinates):
        found = frame.blocks.get(coordinate, ())
        size = (whole[d],) if mesh.type == "rectilinear" and d < len(whole) else whole
        has_all = found and found[0].interior in (size, tuple(n + 1 for n in size))
        if not has_all and any(block.whole is None for block in found):
            return False
    return True


def _together(blocks: Sequence[Block], edge: int) -> Sequence[Block]:
    """One block, where many small ones tile a box."""
    first = blocks[0]
    if len(blocks) == 1 or 2 * sum(block.inner().size for block in blocks) > len(blocks) * edge**first.values.ndim:
        return blocks
    begin, end = hull([box_of(block) for block in blocks])
    gathered = gather(blocks)
    if gathered is None or not gathered.has(begin, end):
        return blocks
    before = tuple(b - own for b, own in zip(begin, gathered.begin, strict=True))
    after = tuple(own - e for e, own in zip(end, gathered.end, strict=True))
    if gathered.known is not None:  # some of the ghost layers
        inner = gathered.values[gathered.window(begin, end)]
        return [Block(first.variable, inner, first.rank, 0, first.whole, begin)]
    return [Block(first.variable, gathered.values, first.rank, 0, first.whole, begin, before, after)]


def _parts(block: Block, edge: int) -> list[Block]:
    """The outer ones keep the block's ghost layers."""
    counts = [max(1, round(n / edge)) for n in block.interior]
    if max(counts, default=1) == 1:
        return [replace(block, number=block.number * _MOST)]
    cuts = [[n * i // parts for i in range(parts + 1)] for n, parts in zip(block.interior, counts, strict=True)]
    made: list[Block] = []
    for place in product(*map(range, counts)):
        first = [i == 0 for i in place]
        last = [i == parts - 1 for i, parts in zip(place, counts, strict=True)]
        before = tuple(g if at else 0 for g, at in zip(block.ghost_before, first, strict=True))
        after = tuple(g if at else 0 for g, at in zip(block.ghost_after, last, strict=True))
        begin = [cut[i] for cut, i in zip(cuts, place, strict=True)]
        end = [cut[i + 1] for cut, i in zip(cuts, place, strict=True)]
        at = tuple(
            slice(b + g - own, e + g + more)
            for b, e, g, own, more in zip(begin, end, block.ghost_before, before, after, strict=True)
        )
        offset = tuple(o + b for o, b in zip(block.offset, begin, strict=True))
        number = block.number * _MOST + len(made)
        made.append(Block(block.variable, block.values[at], block.rank, number, block.whole, offset, before, after))
    return made
