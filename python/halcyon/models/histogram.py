"""Targets by their number of stripes, in classes that fit a table or a picture."""

import math
from dataclasses import dataclass

from halcyon.models.fit import Fit

MOST_CLASSES = 40
_LEAST = 0.05
"""Fewer expected targets than this at an end of the distribution are not shown."""


@dataclass(frozen=True)
class Class:
    """Targets with `first` to `last` stripes. `spread`: standard deviation of `expected`; None where the class holds
    several numbers of stripes."""

    first: int
    last: int
    actual: int
    expected: float
    spread: float | None

    @property
    def name(self) -> str:
        return f"{self.first:,}" if self.first == self.last else f"{self.first:,}–{self.last:,}"


def classes_of(fit: Fit) -> list[Class]:
    """From the first to the last number of stripes that any target has, or is expected to have."""
    shown = [
        stripes
        for stripes, (actual, expected) in enumerate(zip(fit.actual, fit.expected, strict=True))
        if actual or expected >= _LEAST
    ]
    first, last = min(shown), max(shown)
    width = math.ceil((last - first + 1) / MOST_CLASSES)
    return [_class(fit, start, min(start + width - 1, last)) for start in range(first, last + 1, width)]


def _class(fit: Fit, first: int, last: int) -> Class:
    spread = fit.spread[first] if fit.spread is not None and first == last else None
    return Class(
        first, last, sum(fit.actual[first : last + 1]), math.fsum(fit.expected[first : last + 1]), spread
    )  # fmt: skip
