"""Where the boxes of a picture stand: columns from left to right, each box right of all that point to it.

Edges stay between the columns. Where one passes a column it has a lane of its own there, as if it were a thin box; all
edges to one box share that lane. Nothing covers anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

GAP = 16.0
"""Between boxes of a column."""
LANE = 7.0
"""Height of a lane."""
SWEEPS = 12
EDGE, WIDEST = 2.0, 160.0
"""What each edge adds to the gutter that it crosses, and all together at most."""


@dataclass(frozen=True)
class Box:
    """What is to be placed: its size, and from where on its right side it points to which other boxes."""

    key: int
    width: float
    height: float
    ports: Sequence[tuple[float, int]]
    """Distance from the box's top, key of the other box."""


@dataclass
class Item:
    """A box, or the lane of one, in a column."""

    box: int
    lane: bool
    height: float
    ports: list[tuple[float, "Item"]] = field(default_factory=list)
    into: list[tuple["Item", float]] = field(default_factory=list)
    """What points to it, and from where."""
    column: int = 0
    x: float = 0.0
    y: float = 0.0
    """Of its top."""

    @property
    def entry(self) -> float:
        """Where edges come in, from its top."""
        return self.height / 2 if self.lane else min(ENTRY, self.height / 2)


ENTRY = 11.0
"""From the top of a box to where edges come in: the middle of its name."""


@dataclass
class Layout:
    """What was placed."""

    boxes: dict[int, Item]
    columns: list[list[Item]]
    lefts: list[float]
    """Of each column."""
    widths: list[float]
    width: float
    height: float


def place(boxes: Sequence[Box], gutter: float) -> Layout:
    """`gutter`: between columns, at the least; all in one unit.

    The first box stands left; every box must be reached from it, and no way leads back.
    """
    column = _columns(boxes)
    items = {box.key: Item(box.key, False, box.height, column=column[box.key]) for box in boxes}
    lanes: dict[tuple[int, int], Item] = {}
    columns: list[list[Item]] = [[] for _ in range(max(column.values()) + 1)]
    for box in boxes:
        columns[column[box.key]].append(items[box.key])
    for box in boxes:
        for at, to in box.ports:
            target = items[to]
            for passed in range(column[to] - 1, column[box.key], -1):
                if (to, passed) not in lanes:
                    lane = lanes[to, passed] = Item(to, True, LANE, column=passed)
                    columns[passed].append(lane)
                    _join(lane, LANE / 2, target)
                target = lanes[to, passed]
            _join(items[box.key], at, target)
    _order(columns)
    widths = [max((box.width for box in boxes if column[box.key] == n), default=0.0) for n in range(len(columns))]
    gutters = [gutter + min(EDGE * sum(len(item.ports) for item in items), WIDEST) for items in columns]
    lefts = [sum(widths[:n]) + sum(gutters[:n]) for n in range(len(columns))]
    height = _settle(columns)
    for number, items_of in enumerate(columns):
        for item in items_of:
            item.x = lefts[number]
    return Layout(items, columns, lefts, widths, lefts[-1] + widths[-1], height)


def _join(one: Item, at: float, other: Item) -> None:
    if one.lane and one.ports:
        return
    one.ports.append((at, other))
    other.into.append((one, at))


def _columns(boxes: Sequence[Box]) -> dict[int, int]:
    """The longest way from the first box to each."""
    by_key = {box.key: box for box in boxes}
    waiting = {box.key: 0 for box in boxes}
    for box in boxes:
        for _, to in box.ports:
            waiting[to] += 1
    column = {box.key: 0 for box in boxes}
    ready = [boxes[0].key]
    while ready:
        key = ready.pop()
        for _, to in by_key[key].ports:
            column[to] = max(column[to], column[key] + 1)
            waiting[to] -= 1
            if not waiting[to]:
                ready.append(to)
    return column


def _order(columns: list[list[Item]]) -> None:
    """Few crossings: each item near the middle of what it is joined to, from left to right and back."""
    _stack(columns)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for items in columns[1:] if forward else columns[-2::-1]:
            items.sort(key=_source_middle if forward else _target_middle)
            _stack([items])


def _stack(columns: Sequence[list[Item]]) -> None:
    for items in columns:
        below = 0.0
        for item in items:
            item.y = below
            below += item.height + GAP


def _source_middle(item: Item) -> float:
    return fmean(one.y + at for one, at in item.into) if item.into else item.y


def _target_middle(item: Item) -> float:
    return fmean(other.y + other.entry for _, other in item.ports) if item.ports else item.y


def _settle(columns: list[list[Item]]) -> float:
    """Tops, near where the edges come from; returns the height of all."""
    for items in columns[1:]:
        wanted = [_source_middle(item) - item.entry for item in items]
        for item, top in zip(items, _apart(wanted, [item.height + GAP for item in items]), strict=True):
            item.y = top
    highest = min(item.y for items in columns for item in items)
    for items in columns:
        for item in items:
            item.y -= highest
    return max(item.y + item.height for items in columns for item in items)


def _apart(wanted: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Tops as near to those wanted as can be, in this order, without overlap: means of blocks that touch."""
    blocks: list[tuple[float, int, float]] = []  # top, items, height
    for top, height in zip(wanted, heights, strict=True):
        block = (top, 1, height)
        while blocks and blocks[-1][0] + blocks[-1][2] > block[0]:
            above = blocks.pop()
            count = above[1] + block[1]
            mean = (above[0] * above[1] + (block[0] - above[2]) * block[1]) / count
            block = (mean, count, above[2] + block[2])
        blocks.append(block)
    tops: list[float] = []
    for top, count, _ in blocks:
        for _ in range(count):
            tops.append(top)
            top += heights[len(tops) - 1]
    return tops
