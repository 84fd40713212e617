"""A phase with the times of some of its ranks: what pictures and comparisons of many runs keep of it."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from halcyon.observe.analysis.phases import Phase
from halcyon.observe.result_columns import Column, Unit

SLOWEST = 16
"""Ranks of each phase that stay, whatever the number of ranks."""


@dataclass(frozen=True)
class PhaseSketch:
    """A burst of I/O between two pauses. `seconds[i]` is the I/O time of `ranks[i]` within it.

    `kind`: of writes, of reads, or of all calls; the same burst has the same number in each.
    """

    number: Annotated[int, Column("of the phase: the same burst has the same number in each kind")]
    kind: Annotated[str, Column("write, read, or all calls")]
    start_s: Annotated[float, Column("when it began")]
    end_s: Annotated[float, Column("when it ended")]
    bytes: Annotated[int, Column("bytes moved in it")]
    throughput: Annotated[float | None, Column("bytes over the time of the slowest rank", unit=Unit.BYTES_PER_S)]
    rank_count: Annotated[
        int,
        Column(
            "ranks in it. Of many ranks, `ranks` and `seconds` hold only some: spread evenly over their order by "
            "time, and the slowest"
        ),
    ]
    ranks: Annotated[list[int], Column("some of its ranks, the fastest first")]
    seconds: Annotated[list[float], Column("time of each of `ranks`")]
    median_s: Annotated[float, Column("median over all ranks")]
    variation: Annotated[
        float | None, Column("standard deviation of the times of all ranks over their mean", unit=Unit.SHARE)
    ]
    max_over_median: Annotated[float | None, Column("time of the slowest rank over the median rank's", unit=Unit.RATIO)]


def sketch(phase: Phase, most: int) -> PhaseSketch:
    """The phase with at most `most` of its ranks (more than SLOWEST), by their time."""
    order = sorted(range(len(phase.ranks)), key=lambda i: (phase.seconds[i], phase.ranks[i]))
    kept = spread(order, most)
    return PhaseSketch(
        number=phase.number,
        kind=phase.kind,
        start_s=phase.start_s,
        end_s=phase.end_s,
        bytes=phase.bytes,
        throughput=phase.throughput,
        rank_count=len(order),
        ranks=[phase.ranks[i] for i in kept],
        seconds=[short(phase.seconds[i]) for i in kept],
        median_s=float(np.median(phase.seconds)),
        variation=phase.variation,
        max_over_median=phase.max_over_median,
    )


def spread(order: list[int], most: int) -> list[int]:
    """At most `most` of a list: the last SLOWEST, and of the others an even choice with the first among them."""
    if len(order) <= most:
        return order
    others, few = order[:-SLOWEST], most - SLOWEST
    return [others[i * len(others) // few] for i in range(few)] + order[-SLOWEST:]


def short(value: float) -> float:
    """Seven digits: more than a picture shows, at half the bytes."""
    return float(f"{value:.7g}")
