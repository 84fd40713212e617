"""Means of repeated runs, with the confidence intervals of Student's t."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import mean, stdev

# Not scipy.stats, which takes longer to load than all else that the command needs.
from scipy.special import stdtrit

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """`half`: half the width of the interval; None: one value has none."""

    mean: float
    half: float | None
    count: int

    @property
    def relative(self) -> float:
        """Half the width over the mean; infinite where it is not known."""
        return math.inf if self.half is None or not self.mean else self.half / abs(self.mean)

    @property
    def low(self) -> float:
        return self.mean - (self.half or 0.0)

    @property
    def high(self) -> float:
        return self.mean + (self.half or 0.0)

    def over(self, other: "Estimate") -> "Estimate":
        """Their ratio; relative widths add as those of independent errors (first order)."""
        ratio = self.mean / other.mean
        halves = None if self.half is None or other.half is None else ratio * math.hypot(self.relative, other.relative)
        return Estimate(ratio, halves, min(self.count, other.count))


def estimate(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Of the mean of values, at least one."""
    if len(values) < 2:
        return Estimate(values[0], None, 1)
    half = _quantile((1 + confidence) / 2, len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return Estimate(mean(values), half, len(values))


@cache
def _quantile(probability: float, freedom: int) -> float:
    """Of Student's t."""
    return float(stdtrit(freedom, probability))


def sum_of_ratios(
    values: Sequence[Sequence[float]], others: Sequence[Estimate], confidence: float = CONFIDENCE
) -> Estimate:
    """Of ratios of means: `values` of each, in the same order of runs, over the others. Values of one run go together,
    the others are independent of them and of one another (first order)."""
    sums = [sum(v / other.mean for v, other in zip(run, others, strict=True)) for run in zip(*values, strict=True)]
    found = estimate(sums, confidence)
    ratios = [estimate(each).mean / other.mean for each, other in zip(values, others, strict=True)]
    half = None
    if found.half is not None and all(other.half is not None for other in others):
        errors = [ratio * other.relative for ratio, other in zip(ratios, others, strict=True)]
        half = math.hypot(found.half, *errors)
    return Estimate(found.mean, half, min(found.count, *(other.count for other in others)))
