"""What studies of Δ-graphs measured of two applications, in two halves: one to learn from, one that is the truth."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from halcyon.delta.measuring import ALONE, of_key
from halcyon.delta.runs import Run, Told
from halcyon.delta.turns import UNCOORDINATED

LEAST_OVERLAP = 0.25
"""Of the shorter time alone: speeds side by side are not known from less."""
LEAST_OVERLAPS = 3
"""Runs side by side in each half."""


@dataclass(frozen=True)
class Overlap:
    """Of one run: the time in which both did I/O, and their speeds meanwhile, relative to their speeds alone."""

    seconds: float
    a_speed: float
    b_speed: float


@dataclass(frozen=True)
class Half:
    """Of the runs of a pair."""

    a_alone_s: float
    b_alone_s: float
    overlaps: list[Overlap]

    @property
    def speed(self) -> tuple[float, float]:
        return median(one.a_speed for one in self.overlaps), median(one.b_speed for one in self.overlaps)


class TooFewError(Exception):
    """Of what a half needs."""


def halves(runs: Sequence[Run]) -> tuple[Half, Half]:
    """The first, third, … run of each point, and the others."""
    keys = [run.key for run in runs if run.key.policy == UNCOORDINATED and run.key.alone is None]
    together = [of_key(key, runs) for key in dict.fromkeys(keys)]
    alone = [of_key(key, runs) for key in ALONE]
    return _half(together, alone, 0), _half(together, alone, 1)


def delays_ns(runs: Sequence[Run]) -> list[int]:
    """All at which anything was measured."""
    return sorted({run.key.dt_ns for run in runs if run.key.alone is None and run.problem is None})


def side_by_side(a: Told, b: Told, a_alone_s: float, b_alone_s: float) -> Overlap | None:
    """Outside of the time in which both did I/O, each had its speed alone. None: an application had several phases, or
    that time was too short."""
    if len(a.phases) != 1 or len(b.phases) != 1:
        return None
    phases = (a.phases[0], b.phases[0])
    ends_s = min(one.begin_ns / 1e9 + one.seconds for one in phases)
    overlap_s = ends_s - max(one.begin_ns for one in phases) / 1e9
    if overlap_s < LEAST_OVERLAP * min(a_alone_s, b_alone_s):
        return None
    speeds = [
        (alone_s - (one.seconds - overlap_s)) / overlap_s
        for one, alone_s in zip(phases, (a_alone_s, b_alone_s), strict=True)
    ]
    return Overlap(overlap_s, *speeds) if min(speeds) > 0 else None


def _half(together: Sequence[Sequence[Run]], alone: Sequence[Sequence[Run]], first: int) -> Half:
    times = [[told.seconds for run in runs[first::2] if (told := run.a or run.b)] for runs in alone]
    if not all(times):
        raise TooFewError("a half has no run of A or of B alone")
    a_alone_s, b_alone_s = (median(values) for values in times)
    overlaps = [
        found
        for runs in together for run in runs[first::2]
        if run.a and run.b and (found := side_by_side(run.a, run.b, a_alone_s, b_alone_s))
    ]  # fmt: skip
    if len(overlaps) < LEAST_OVERLAPS:
        raise TooFewError(f"a half has {len(overlaps)} uncoordinated runs side by side, and needs {LEAST_OVERLAPS}")
    return Half(a_alone_s, b_alone_s, overlaps)
