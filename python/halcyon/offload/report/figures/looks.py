"""How the runs of a comparison look in every figure."""

from dataclasses import dataclass
from typing import Any

from halcyon.figures.picture import SERIES
from halcyon.offload.comparison import Comparison


@dataclass(frozen=True)
class Look:
    """How the marks of one run are drawn, the same in every figure."""

    colour: str
    dash: Any
    marker: str


_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)), (0, (3, 1, 1, 1, 1, 1)))
_MARKERS = "osD^vPX<>p"


def looks(comparison: Comparison) -> list[Look]:
    """A colour for each approach, a dash and a marker for each of its runs; one approach only: a colour per run."""
    approaches = list(dict.fromkeys(entry.approach for entry in comparison.entries))
    if len(approaches) == 1:
        return [_look(i, i // len(SERIES)) for i in range(len(comparison.entries))]
    seen = dict.fromkeys(approaches, 0)
    found = []
    for entry in comparison.entries:
        found.append(_look(approaches.index(entry.approach), seen[entry.approach]))
        seen[entry.approach] += 1
    return found


def _look(colour: int, variant: int) -> Look:
    return Look(SERIES[colour % len(SERIES)], _DASHES[variant % len(_DASHES)], _MARKERS[variant % len(_MARKERS)])
