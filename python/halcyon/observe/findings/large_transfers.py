"""What small transfers would take if they were large: the measure for several findings."""

from dataclasses import dataclass

import ibis
from ibis import _

from halcyon.database import Rows, question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.typical import typical
from halcyon.quantities import rate

LARGE = 1 << 20
"""Bytes of a transfer that a file system serves well: the usual stripe, and the read-ahead of most clients."""


@dataclass(frozen=True)
class Saving:
    """Seconds that would be saved, in sum over processes, and how that was estimated."""

    seconds: float
    estimate: str


def saving(answers: Answers, direction: str, rows: Rows) -> Saving:
    """If the transfers of these rows of Survey.durations were made in pieces of 1 MiB.

    Measured by the large transfers of the same run, where it has some; else at most, as if a large one took no longer
    than a small one. Each counts with the usual time of its class of sizes: calls that something else delayed say
    nothing about sizes.
    """
    own = typical(rows, "size_class").values()
    usual = sum(one.total_s for one in own)
    volume = sum(one.calls * one.bytes for one in own)
    large = typical(_large_ones(answers.survey.durations, direction), "size_class").values()
    measured_s = sum(one.total_s for one in large)
    if sum(one.calls for one in large) >= answers.settings.large_calls and measured_s:
        measured = sum(one.calls * one.bytes for one in large) / measured_s
        text = f"their usual time, less that of their bytes at {rate(measured)}, which this run's large transfers reach"
        return Saving(max(usual - volume / measured, 0.0), text)
    left = sum(one.total_s * max(1 - one.bytes / LARGE, 0.0) for one in own)
    text = "at most: their usual time, if a transfer of 1 MiB took no longer than each of these"
    return Saving(left, text)


@question
def _large_ones(durations: ibis.Table, direction: str) -> ibis.Table:
    half = (LARGE // 2).bit_length() - 1
    return durations.filter(_.transfer & (_.direction == direction) & (_.size_class >= half))


@question
def small_ones(rows: ibis.Table, direction: str, small_bytes: int) -> ibis.Table:
    """Of rows of the profile, or of Survey.durations: transfers below so many bytes."""
    bound = small_bytes.bit_length() - 1
    return rows.filter(_.transfer & (_.direction == direction) & (_.size_class < bound))


@question
def sums_of_pairs(rows: ibis.Table) -> ibis.Table:
    """Of rows of the profile: sums per file and process."""
    return rows.aggregate(
        by=["file", "process"],
        calls=_.calls.sum().cast("int64"),
        volume=_.volume.sum().cast("int64"),
        duration_ns=_.duration_ns.sum().cast("int64"),
    )
