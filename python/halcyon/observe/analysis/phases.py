"""The I/O phases of a run: bursts of I/O separated by pauses, and how evenly the ranks got through them.

Dorier 2014, figure 2.3: in each phase, ranks sorted by their write time, which is normalised by the longest; the
phase's throughput is all bytes over the time of the slowest rank.

How phases are found: all intervals of I/O calls are merged, across processes. Bursts that hold next to nothing (log
lines) are set aside. The remaining pauses are sorted by length; those above the lowest clear jump in length (else the
largest jump) separate phases.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import ibis
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from ibis import _

from halcyon.database import Given, question
from halcyon.intervals import Times, merge
from halcyon.observe.analysis import passes
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.analysis.survey import Survey, outer
from halcyon.observe.result_columns import Column, Unit, derived
from halcyon.observe.schema import Kind

IO = "all"
"""All I/O calls of the application, whatever their kind."""
_WRITING = (Kind.WRITE, Kind.COPY, Kind.SYNC)


@dataclass(frozen=True)
class Phase:
    """One phase and kind: write, read, all. `seconds[i]`: time of `ranks[i]` in the application's own calls.

    Ranks are sorted by it, the fastest first. For `write`, syncs count; for `all`, every I/O call does.
    """

    number: Annotated[int, Column("of the phase: the same burst has the same number in each kind")]
    kind: Annotated[str, Column("write (with syncs), read, or all calls")]
    start_s: Annotated[float, Column("when it began")]
    end_s: Annotated[float, Column("when it ended")]
    bytes: Annotated[int, Column("bytes moved in it")]
    ranks: Annotated[list[int], Column("its ranks, the fastest first")]
    seconds: Annotated[list[float], Column("time of each of `ranks` in the application's own calls")]
    bytes_each: Annotated[list[int], Column("bytes of each of `ranks`")]

    @property
    @derived(Column("`seconds` over the longest of them", unit=Unit.SHARE))
    def normalised(self) -> list[float]:
        """`seconds` over the longest of them: the lines of figure 2.3."""
        longest = max(self.seconds, default=0.0)
        return [value / longest if longest > 0 else 0.0 for value in self.seconds]

    @property
    @derived(Column("bytes over the time of the slowest rank", unit=Unit.BYTES_PER_S))
    def throughput(self) -> float | None:
        """Bytes per second by the slowest rank's time."""
        longest = max(self.seconds, default=0.0)
        return self.bytes / longest if self.bytes and longest > 0 else None

    @property
    @derived(Column("standard deviation of `seconds` over their mean; null: one rank", unit=Unit.SHARE))
    def variation(self) -> float | None:
        """Coefficient of variation of `seconds` (standard deviation of all ranks over the mean); None for one rank."""
        if len(self.seconds) < 2 or not (mean := float(np.mean(self.seconds))):
            return None
        return float(np.std(self.seconds)) / mean

    @property
    @derived(Column("time of the slowest rank over the median rank's; null: one rank", unit=Unit.RATIO))
    def max_over_median(self) -> float | None:
        """How long the ranks wait for the slowest, in units of the usual time; None for one rank."""
        if len(self.seconds) < 2 or not (middle := float(np.median(self.seconds))):
            return None
        return max(self.seconds) / middle


@dataclass(frozen=True)
class PhaseSplit:
    """Where phases begin and end, in nanoseconds, and how that was decided."""

    begin_ns: Times
    end_ns: Times
    gap_ns: int
    """Pauses longer than this separate phases."""
    minor_bursts: int
    """Bursts that were set aside."""

    @property
    def count(self) -> int:
        return len(self.begin_ns)


def split(survey: Survey) -> PhaseSplit:
    """Finds the phases; see the module."""
    settings = survey.settings
    least = max(survey.end_ns * settings.smallest_gap_share, settings.smallest_gap_s * 1e9)
    floor = max(round(least), survey.resolution_ns)
    rows = _outer_moments(survey.moments, survey.related).to_pyarrow()
    begin, end, spent = (rows.column(name).to_numpy() for name in ("begin_ns", "end_ns", "duration_ns"))
    first, last = merge(begin, end, floor)
    if not len(first):
        return PhaseSplit(first, last, floor, 0)
    moved = _moved(survey.moments).to_pyarrow()
    volumes = _per_island(first, moved.column("begin_ns").to_numpy(), moved.column("volume").to_numpy())
    keep = _weighty(_per_island(first, begin, spent), volumes, settings.minor_share)
    gap = _gap(first[keep], last[keep], settings, floor)
    begins, ends = merge(first[keep], last[keep], gap)
    return PhaseSplit(begins, ends, gap, int((~keep).sum()))


@question
def _outer_moments(moments: ibis.Table, related: bool) -> ibis.Table:
    return moments.filter(outer(related)).select("begin_ns", "end_ns", "duration_ns")


@question
def _moved(moments: ibis.Table) -> ibis.Table:
    return moments.filter(_.transfer).select("begin_ns", "volume")


def _per_island(first: Times, times: Times, values: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Sums of `values` per island in which their times lie (or before which none begins)."""
    at = np.clip(np.searchsorted(first, times, side="right") - 1, 0, None)
    return np.bincount(at, weights=values.astype(np.float64), minlength=len(first)).astype(np.float64)


def _weighty(spent: npt.NDArray[np.float64], volumes: npt.NDArray[np.float64], share: float) -> npt.NDArray[np.bool_]:
    """False for the smallest islands that together hold less than `share` of the time and of the bytes."""
    weight = np.maximum(spent / max(spent.sum(), 1.0), volumes / max(volumes.sum(), 1.0))
    order = np.argsort(weight, kind="stable")
    light = np.cumsum(weight[order]) < share
    keep = np.ones(len(weight), dtype=np.bool_)
    keep[order[light]] = False
    return keep


def _gap(first: Times, last: Times, settings: Settings, floor: int) -> int:
    """The pause above which phases are separated: the middle (of logarithms) of a jump to the next longer pause.

    All pauses up to `floor` count as one of that length. The lowest clear jump is taken, else the largest one; one long
    pause at the beginning must not hide the usual ones. Without a jump, nothing is separated.
    """
    pauses = np.sort(np.maximum(first[1:] - last[:-1], floor)).astype(np.float64)
    steps = np.concatenate([[float(floor)], pauses])
    if len(steps) < 2:
        return floor
    ratios = steps[1:] / steps[:-1]
    clear = np.flatnonzero(ratios >= settings.clear_jump)
    best = int(clear[0]) if len(clear) else int(np.argmax(ratios))
    if ratios[best] < settings.gap_jump:
        return int(steps[-1])
    return int(np.sqrt(steps[best] * steps[best + 1]))


class Phases:
    """The phases of a run and what each rank did in them."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.split = split(survey)

    @cached_property
    def shares(self) -> ibis.Table:
        """passes.phase_shares of the ranks, with columns `rank`, `direction` and `transfer`."""
        lookup, width = self._lookup()
        rows = passes.phase_shares(self.survey.rows, lookup, Given(width))
        kept = self.survey.keep("all_phase_shares", self.survey.directed(rows))
        return self.survey.keep("phase_shares", _of_ranks(kept, self.survey.processes))

    def _lookup(self) -> tuple[ibis.Table, int]:
        """Which steps of time belong to which phase.

        Steps as wide as the shortest pause between phases hit only one.
        """
        at = self.split
        pauses = at.begin_ns[1:] - at.end_ns[:-1]
        width = max(int(pauses.min()) if len(pauses) else self.survey.end_ns, 1)
        low, high = at.begin_ns // width, at.end_ns // width
        bins = [np.arange(a, b + 1) for a, b in zip(low, high, strict=True)]
        numbers = np.repeat(np.arange(at.count), [len(some) for some in bins])
        flat = np.concatenate(bins) if bins else np.zeros(0, np.int64)
        lookup = pa.table({"bin": flat.astype(np.int64), "phase": numbers.astype(np.int64)})
        return ibis.memtable(lookup), width

    def of(self, kind: str = Kind.WRITE) -> list[Phase]:
        """The phases in which something of this kind happened: write, read, or all."""
        if not self.split.count:
            return []
        sums = _volumes_of_phases(self.shares, kind).to_pyarrow().to_pylist()
        totals = {row["phase"]: row["volume"] for row in sums}
        rows = _of_phases_and_ranks(self.shares, kind, self.survey.related).to_pyarrow().to_pylist()
        groups: dict[int, list[dict[str, int]]] = {}
        for row in rows:
            groups.setdefault(row["phase"], []).append(row)
        return [self._phase(number, kind, own, totals.get(number, 0)) for number, own in groups.items()]

    def _phase(self, number: int, kind: str, rows: list[dict[str, int]], volume: int) -> Phase:
        return Phase(
            number=number,
            kind=kind,
            start_s=int(self.split.begin_ns[number]) / 1e9,
            end_s=int(self.split.end_ns[number]) / 1e9,
            bytes=int(volume),
            ranks=[row["rank"] for row in rows],
            seconds=[row["duration_ns"] / 1e9 for row in rows],
            bytes_each=[row["volume"] for row in rows],
        )


@question
def _of_ranks(shares: ibis.Table, processes: ibis.Table) -> ibis.Table:
    ranks = processes.filter(_.shown_rank >= 0).select("process", rank="shown_rank")
    return shares.join(ranks, "process")


def _volumes(shares: ibis.Table, kind: str) -> ibis.Table:
    moved = shares.filter(_.transfer if kind == IO else _.transfer & (_.direction == kind))
    return moved.aggregate(by=["phase", "rank"], volume=_.volume.sum().cast("int64"))


@question
def _volumes_of_phases(shares: ibis.Table, kind: str) -> ibis.Table:
    return _volumes(shares, kind).aggregate(by="phase", volume=_.volume.sum().cast("int64"))


@question
def _of_phases_and_ranks(shares: ibis.Table, kind: str, related: bool) -> ibis.Table:
    own = shares.filter(outer(related))
    if kind == Kind.WRITE:
        own = own.filter((_.direction == kind) | _.kind.isin(_WRITING))
    elif kind == Kind.READ:
        own = own.filter(_.direction == kind)
    times = own.aggregate(by=["phase", "rank"], duration_ns=_.duration_ns.sum().cast("int64"))
    joined = times.left_join(_volumes(shares, kind), ["phase", "rank"]).select(
        "phase", "rank", "duration_ns", volume=_.volume.fill_null(0)
    )
    return joined.order_by(["phase", "duration_ns", "rank"])


def weighty(phases: list[Phase], settings: Settings) -> list[Phase]:
    """Those with at least settings.phase_share of the largest one's bytes; all of them when none has any."""
    least = settings.phase_share * max((phase.bytes for phase in phases), default=0)
    return [phase for phase in phases if phase.bytes >= least]


@dataclass(frozen=True)
class Variability:
    """How evenly one kind of I/O went, over the phases that weigh something."""

    kind: Annotated[str, Column("write, read, or all calls")]
    phases: Annotated[int, Column("phases that are counted: those of 1 % of the largest one's bytes at least")]
    across_ranks: Annotated[
        float | None,
        Column(
            "median over the phases of the variation over ranks; null, as `max_over_median` and `waited_s`: "
            "processes without MPI",
            unit=Unit.SHARE,
        ),
    ]
    across_phases: Annotated[float | None, Column("variation over phases of the slowest rank's time", unit=Unit.SHARE)]
    max_over_median: Annotated[
        float | None,
        Column("median over the phases of the slowest rank's time over the median rank's", unit=Unit.RATIO),
    ]
    waited_s: Annotated[
        float | None, Column("time that ranks waited for the slowest of their phase, in sum over ranks and phases")
    ]


def variability(phases: list[Phase], *, ranked: bool = True) -> Variability | None:
    """Of phases of one kind; None without any. Not `ranked`: processes without MPI, which are not compared."""
    if not phases:
        return None
    slowest = [max(phase.seconds) for phase in phases]
    mean = float(np.mean(slowest))
    return Variability(
        kind=phases[0].kind,
        phases=len(phases),
        across_ranks=_median([phase.variation for phase in phases]) if ranked else None,
        across_phases=float(np.std(slowest)) / mean if len(slowest) > 1 and mean else None,
        max_over_median=_median([phase.max_over_median for phase in phases]) if ranked else None,
        waited_s=sum((max(phase.seconds) * len(phase.seconds) - sum(phase.seconds) for phase in phases), start=0.0)
        if ranked
        else None,
    )


def _median(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None


@dataclass(frozen=True)
class Distribution:
    """Cumulated: `share[i]` of the values are at most `seconds[i]`."""

    name: Annotated[str, Column("the function")]
    seconds: Annotated[list[float], Column("durations, ascending")]
    share: Annotated[list[float], Column("for each of `seconds`, the share of calls that took at most so long")]


def call_durations(survey: Survey) -> list[Distribution]:
    """Of the calls of each function, in classes 19 % wide (upper bounds); the most frequent function first."""
    groups: dict[tuple[str, str], dict[int, int]] = {}
    for row in _duration_classes(survey.endings).to_pyarrow().to_pylist():
        own = groups.setdefault((row["level"], row["call"]), {})
        own[row["duration_class"]] = own.get(row["duration_class"], 0) + row["calls"]
    found = []
    for (_level, call), own in sorted(groups.items(), key=lambda item: -sum(item[1].values())):
        counts = np.cumsum(list(own.values()))
        upper = [2 ** ((step + 1) / passes.DURATION_STEPS) / 1e9 for step in own]
        found.append(Distribution(call, upper, (counts / counts[-1]).tolist()))
    return found


@question
def _duration_classes(endings: ibis.Table) -> ibis.Table:
    rows = endings.aggregate(by=["level", "call", "duration_class"], calls=_.calls.sum().cast("int64"))
    return rows.order_by(["level", "call", "duration_class"])
