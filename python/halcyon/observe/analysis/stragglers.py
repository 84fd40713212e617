"""Ranks that are slow again and again: a tired node, a bad cable, an uneven share of the work."""

from dataclasses import dataclass

import numpy as np

from halcyon.observe.analysis.phases import Phase
from halcyon.observe.analysis.settings import Settings

_SCALE = 1.4826  # makes the median absolute deviation comparable with a standard deviation, for normal scatter


@dataclass(frozen=True)
class Straggler:
    """A rank that is slow in many phases."""

    rank: int
    host: str | None
    phases: int
    slow_phases: int
    factor: float
    """Median over its slow phases: its time over the median rank's time."""
    bytes_factor: float | None
    """The same of its bytes: when this is as large, the rank is slow because it has more to do."""
    seconds_lost: float
    """Sum over its slow phases of its time less the slowest other rank's: what the run would have been shorter."""


def stragglers(phases: list[Phase], hosts: dict[int, str | None], settings: Settings) -> list[Straggler]:
    """Of phases of one kind. Needs three ranks in a phase: of two, nobody knows which one is the odd one."""
    taken: dict[int, int] = {}
    slow: dict[int, list[tuple[float, float | None, float]]] = {}
    for phase in phases:
        for rank in phase.ranks:
            taken[rank] = taken.get(rank, 0) + 1
        for rank, figures in _slow_ranks(phase, settings):
            slow.setdefault(rank, []).append(figures)
    found = [
        Straggler(
            rank=rank,
            host=hosts.get(rank),
            phases=taken[rank],
            slow_phases=len(each),
            factor=float(np.median([factor for factor, _, _ in each])),
            bytes_factor=_median([factor for _, factor, _ in each]),
            seconds_lost=sum(lost for _, _, lost in each),
        )
        for rank, each in slow.items()
        if len(each) >= settings.slow_phases and len(each) >= settings.slow_share * taken[rank]
    ]
    return sorted(found, key=lambda one: (-one.seconds_lost, one.rank))


def _slow_ranks(phase: Phase, settings: Settings) -> list[tuple[int, tuple[float, float | None, float]]]:
    """Rank; its time and bytes over the median rank's, seconds by which it exceeds the slowest of the others."""
    if len(phase.ranks) < 3:
        return []
    seconds = np.asarray(phase.seconds)
    middle = float(np.median(seconds))
    bytes_middle = float(np.median(phase.bytes_each))
    bound = max(
        settings.slow_factor * middle,
        middle + settings.slow_deviations * _SCALE * float(np.median(np.abs(seconds - middle))),
    )
    slow = [i for i, value in enumerate(phase.seconds) if value > bound]
    calm = [value for value in phase.seconds if value <= bound]
    return [
        (
            phase.ranks[i],
            (
                phase.seconds[i] / middle if middle else float("inf"),
                phase.bytes_each[i] / bytes_middle if bytes_middle else None,
                phase.seconds[i] - max(calm, default=0.0),
            ),
        )
        for i in slow
    ]


def _median(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None
