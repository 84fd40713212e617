"""What small transfers would take if they were large: the measure for several findings."""

from dataclasses import dataclass

import ibis
from ibis import _

from halcyon.observe.analysis.answers import Answers
from halcyon.quantities import rate

LARGE = 1 << 20
"""Bytes of a transfer that a file system serves well: the usual stripe, and the read-ahead of most clients."""


@dataclass(frozen=True)
class Saving:
    """Seconds that would be saved, in sum over processes, and how that was estimated."""

    seconds: float
    estimate: str


def saving(answers: Answers, direction: str, transfers: int, volume: int, seconds: float) -> Saving:
    """If `transfers` small ones of `volume` bytes in all, which took `seconds`, were made in pieces of 1 MiB.

    Measured by the large transfers of the same run, where it has some; else at most, as if a large one took no longer
    than a small one.
    """
    half = (LARGE // 2).bit_length() - 1
    large = answers.survey.profile.filter(_.transfer & (_.direction == direction) & (_.size_class >= half))
    sums = large.aggregate(
        volume=_.volume.sum().cast("int64"), duration_ns=_.duration_ns.sum().cast("int64"), calls=_.calls.sum()
    )
    row = sums.to_pyarrow().to_pylist()[0]
    if row["calls"] and row["calls"] >= answers.settings.large_calls and row["duration_ns"]:
        measured = row["volume"] / (row["duration_ns"] / 1e9)
        text = f"their time less that of their bytes at {rate(measured)}, which this run's large transfers reach"
        return Saving(max(seconds - volume / measured, 0.0), text)
    share = max(1 - volume / transfers / LARGE, 0.0) if transfers else 0.0
    return Saving(seconds * share, "at most: their time, if transfers of 1 MiB took no longer than each of these")


def small(answers: Answers) -> ibis.Deferred:
    """Condition on rows of the profile: transfers below settings.small_bytes."""
    bound = answers.settings.small_bytes.bit_length() - 1
    return _.transfer & (_.size_class < bound)
