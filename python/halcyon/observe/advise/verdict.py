"""Whether a setting made a difference: ratios round by round, with an interval that holds for few runs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

CONFIDENCE = 0.95
"""That none of the intervals of one table misses the truth."""


class Verdict(StrEnum):
    """Of one setting against the unchanged command."""

    BETTER = "faster"
    WORSE = "slower"
    SAME = "no difference seen"
    UNKNOWN = "too few runs to say"


@dataclass(frozen=True)
class Ratio:
    """Time with over time without, the median over rounds. `low`, `high`: its interval; None: too few rounds."""

    median: float
    low: float | None
    high: float | None
    rounds: int

    @property
    def verdict(self) -> Verdict:
        if self.low is None or self.high is None:
            return Verdict.UNKNOWN
        if self.high < 1:
            return Verdict.BETTER
        return Verdict.WORSE if self.low > 1 else Verdict.SAME


def ratio(changed: Sequence[float | None], unchanged: Sequence[float | None], tables: int = 1) -> Ratio | None:
    """Of times of the same rounds; rounds in which one is None are left out. None: no round is left.

    The interval is the sign test's: two of the ordered ratios between which the median of all possible rounds lies
    with a probability of CONFIDENCE, whatever the times' distribution. Resampling (bootstrap) promises more than six
    or eight runs hold. `tables`: how many intervals stand together; each is as much surer (Bonferroni).
    """
    pairs = zip(changed, unchanged, strict=True)
    found = [with_it / without for with_it, without in pairs if with_it is not None and without]
    if not found:
        return None
    from scipy.stats import quantile_test  # takes about a second to load

    # The quantile that is tested for has no influence on the interval.
    interval = quantile_test(found, q=1.0, p=0.5).confidence_interval(1 - (1 - CONFIDENCE) / tables)
    low, high = float(interval.low), float(interval.high)
    known = math.isfinite(low) and math.isfinite(high)
    return Ratio(median(found), low if known else None, high if known else None, len(found))


def rounds_needed(tables: int) -> int:
    """The fewest rounds that give `tables` intervals: all ratios on one side have to be rarer than the risk."""
    return math.ceil(1 + math.log2(tables / (1 - CONFIDENCE)))
