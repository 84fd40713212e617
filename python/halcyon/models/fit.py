"""How well files on storage targets fit placement at random: the count of targets in use, and of those with k files."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from halcyon.errors import UsageError
from halcyon.models.functions import functions
from halcyon.models.stripes import expected_histogram


@dataclass(frozen=True)
class Fit:
    """Expected and actual, of `total` targets. Placement that balances capacity spreads files more evenly than chance
    does, so that a deviation is told, and never a verdict."""

    total: int
    stripes: int
    actual_in_use: int
    expected_in_use: float
    deviation_in_use: float
    """Standard deviations of the exact distribution; 0 where it has none."""
    chance_in_use: float
    """Of a number of targets in use at least as far from the mean."""
    actual: list[int]
    """Element k: targets with k stripes."""
    expected: list[float]

    @property
    def actual_load(self) -> float:
        return self.stripes / self.actual_in_use if self.actual_in_use else 0.0

    @property
    def expected_load(self) -> float:
        return self.stripes / self.expected_in_use if self.expected_in_use else 0.0


def fit(total: int, requests: Sequence[int], actual: Sequence[int]) -> Fit:
    """Of files with `requests` stripes each, of which `actual[k]` targets have k. UsageError: they do not add up."""
    if sum(actual) != total:
        raise UsageError(f"targets by their stripes: {sum(actual):,} in all; expected {total:,}")
    stripes = sum(requests)
    if sum(k * targets for k, targets in enumerate(actual)) != stripes:
        raise UsageError(f"stripes on targets: they are not the {stripes:,} of the files")
    in_use = functions().targets_in_use(total, requests)
    mean = math.fsum(u * chance for u, chance in enumerate(in_use))
    deviation = math.sqrt(math.fsum((u - mean) ** 2 * chance for u, chance in enumerate(in_use)))
    used = total - actual[0]
    # The mean is rounded: the actual one must count although it may lie as far from it as another.
    distance = abs(used - mean) * (1 - 1e-9)
    expected = expected_histogram(total, requests)
    length = max(len(expected), len(actual))
    return Fit(
        total, stripes, used, mean,
        (used - mean) / deviation if deviation > 1e-9 else 0.0,
        min(1.0, math.fsum(chance for u, chance in enumerate(in_use) if abs(u - mean) >= distance)),
        [*actual, *([0] * (length - len(actual)))],
        [*expected, *([0.0] * (length - len(expected)))],
    )  # fmt: skip
