"""Ranks that are slow again and again: a tired node, a bad cable, an uneven share of the work."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from halcyon.observe.analysis.phases import Phase
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.result_columns import Column

_SCALE = 1.4826  # makes the median absolute deviation comparable with a standard deviation, for normal scatter


@dataclass(frozen=True)
class Straggler:
    """A rank that is slow in many phases of one kind: write or read."""

    kind: Annotated[str, Column("read or write", head="kind")]
    rank: Annotated[int, Column("the rank", head="rank", shown=str)]
    host: Annotated[str | None, Column("its node", head="node")]
    phases: Annotated[int, Column("phases that it took part in")]
    slow_phases: Annotated[
        int,
        Column(
            "phases in which it was slow", head="slow phases", of_row=lambda one: f"{one.slow_phases} of {one.phases}"
        ),
    ]
    factor: Annotated[
        float, Column("median over its slow phases of its time over the median rank's", head="time/median")
    ]
    bytes_factor: Annotated[
        float | None,
        Column("the same of its bytes: when this is as large, the rank has more to do", head="bytes/median"),
    ]
    seconds_lost: Annotated[
        float, Column("sum over its slow phases of its time less that of the slowest other rank", head="lost")
    ]
    slow_s: Annotated[float, Column("its time in its slow phases, in sum")]
    first_slow: Annotated[int, Column("number of the first phase in which it is slow")]
    last_slow: Annotated[int, Column("number of the last one")]
    slowest: Annotated[int, Column("number of the phase that lost the most")]


@dataclass(frozen=True)
class _Slow:
    """One rank in one phase in which it is slow."""

    rank: int
    phase: int
    factor: float
    """Its time over the median rank's …"""
    bytes_factor: float | None
    """… and its bytes."""
    seconds: float
    lost_s: float
    """Its time less that of the slowest of the others."""


def stragglers(phases: list[Phase], hosts: dict[int, str | None], settings: Settings) -> list[Straggler]:
    """Of phases of one kind. Needs three ranks in a phase: of two, nobody knows which one is the odd one."""
    taken: dict[int, int] = {}
    slow: dict[int, list[_Slow]] = {}
    for phase in phases:
        for rank in phase.ranks:
            taken[rank] = taken.get(rank, 0) + 1
        for one in _slow_ranks(phase, settings):
            slow.setdefault(one.rank, []).append(one)
    found = [
        Straggler(
            kind=phases[0].kind,
            rank=rank,
            host=hosts.get(rank),
            phases=taken[rank],
            slow_phases=len(each),
            factor=float(np.median([one.factor for one in each])),
            bytes_factor=_median([one.bytes_factor for one in each]),
            seconds_lost=sum(one.lost_s for one in each),
            slow_s=sum(one.seconds for one in each),
            first_slow=min(one.phase for one in each),
            last_slow=max(one.phase for one in each),
            slowest=max(each, key=lambda one: one.lost_s).phase,
        )
        for rank, each in slow.items()
        if len(each) >= settings.slow_phases and len(each) >= settings.slow_share * taken[rank]
    ]
    return sorted(found, key=lambda one: (-one.seconds_lost, one.rank))


def _slow_ranks(phase: Phase, settings: Settings) -> list[_Slow]:
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
        _Slow(
            rank=phase.ranks[i],
            phase=phase.number,
            factor=phase.seconds[i] / middle if middle else float("inf"),
            bytes_factor=phase.bytes_each[i] / bytes_middle if bytes_middle else None,
            seconds=phase.seconds[i],
            lost_s=phase.seconds[i] - max(calm, default=0.0),
        )
        for i in slow
    ]


def _median(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None
