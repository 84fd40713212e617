"""How well files on storage targets fit placement at random: the count of targets in use, and of those with k files."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from halcyon.errors import UsageError
from halcyon.models.functions import functions
from halcyon.models.stripes import expected_histogram

SPREAD_MOST = 256
"""Its time grows with the square of the numbers of stripes: on few targets with many files, none is computed."""


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
    spread: list[float] | None
    """Standard deviation of each number of `expected`; exact. None: more than `SPREAD_MOST` numbers of stripes."""

    expected_scatter: float
    """Standard deviation of the stripes on a target."""

    @property
    def mean_stripes(self) -> float:
        """On a target, in use or not."""
        return self.stripes / self.total

    @property
    def most_stripes(self) -> int:
        return max(k for k, targets in enumerate(self.actual) if targets)

    @property
    def actual_scatter(self) -> float:
        squares = math.fsum(targets * (k - self.mean_stripes) ** 2 for k, targets in enumerate(self.actual))
        return math.sqrt(squares / self.total)

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
    expected = _without_tail(expected_histogram(total, requests))
    length = max(len(expected), len(actual))
    return Fit(
        total, stripes, used, mean,
        (used - mean) / deviation if deviation > 1e-9 else 0.0,
        min(1.0, math.fsum(chance for u, chance in enumerate(in_use) if abs(u - mean) >= distance)),
        [*actual, *([0] * (length - len(actual)))],
        [*expected, *([0.0] * (length - len(expected)))],
        spread_of_histogram(total, requests, length) if length <= SPREAD_MOST else None,
        math.sqrt(math.fsum(request / total * (1 - request / total) for request in requests)),
    )  # fmt: skip


def _without_tail(expected: list[float]) -> list[float]:
    """Without numbers of stripes that no target of a million file systems has."""
    while len(expected) > 1 and expected[-1] < 1e-6:
        expected = expected[:-1]
    return expected


def spread_of_histogram(total: int, requests: Sequence[int], length: int) -> list[float]:
    """Element k < `length`: the standard deviation of the number of targets that have k of these files.

    Targets are not independent: a file on one is likelier to be off another one. `both[i, j]` is the chance
    that one target has i files, and a second one j, file by file.
    """
    both = np.zeros((length, length))
    both[0, 0] = 1.0
    pairs = total * (total - 1)
    for request in requests:
        on_both = request * (request - 1) / pairs if pairs else 0.0
        on_one = request * (total - request) / pairs if pairs else 0.0
        after = both * (1 - on_both - 2 * on_one)
        after[1:, 1:] += both[:-1, :-1] * on_both
        after[1:, :] += both[:-1, :] * on_one
        after[:, 1:] += both[:, :-1] * on_one
        both = after
    mean = np.zeros(length)
    expected = expected_histogram(total, requests)[:length]
    mean[: len(expected)] = expected
    variance = mean + pairs * np.diag(both) - mean**2
    return [math.sqrt(max(float(each), 0.0)) for each in variance]
