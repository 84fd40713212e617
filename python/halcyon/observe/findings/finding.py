"""What a finding is: something wrong, how it is known, what it costs, and what to change."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Self

import ibis
from ibis import _

from halcyon.database import Rows, question
from halcyon.errors import InternalError
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.result_columns import Column, derived
from halcyon.quantities import number, percent, plural, rate, seconds, size


class Unit(StrEnum):
    """Units of evidence: each is the end of the keys that have it. `_count` and `_factor` are pure numbers."""

    CALLS = "_calls"
    BYTES = "_bytes"
    BYTES_PER_S = "_bytes_per_s"
    CALLS_PER_S = "_calls_per_s"
    SECONDS = "_s"
    SHARE = "_share"
    FACTOR = "_factor"
    COUNT = "_count"

    @classmethod
    def of(cls, key: str) -> Self:
        """ValueError: the key ends with no unit."""
        longest = max((unit for unit in cls if key.endswith(unit)), key=len, default=None)
        if longest is None:
            raise ValueError(f"evidence '{key}'; expected one of these at its end: {', '.join(cls)}")
        return longest

    def text(self, value: float) -> str:
        """A value in this unit, for people."""
        return _TEXTS[self](value)


_TEXTS: dict[Unit, Callable[[float], str]] = {
    Unit.CALLS: lambda value: plural(int(value), "call"),
    Unit.BYTES: size,
    Unit.BYTES_PER_S: rate,
    Unit.CALLS_PER_S: lambda value: f"{number(value)} calls/s",
    Unit.SECONDS: seconds,
    Unit.SHARE: percent,
    Unit.FACTOR: lambda value: f"{number(value)} times",
    Unit.COUNT: lambda value: f"{value:,.0f}",
}


class Severity(StrEnum):
    """By the shares of the I/O time and of the run that it costs, and by the time (settings.grave_…)."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True)
class Evidence:
    """One measured figure."""

    key: Annotated[str, Column("its name for machines, whose end says the unit")]
    what: Annotated[str, Column("its name for people")]
    value: Annotated[float, Column("the value, in that unit")]

    @property
    @derived(Column("the value for people"))
    def text(self) -> str:
        """The value as people read it."""
        return Unit.of(self.key).text(self.value)


@dataclass(frozen=True)
class Span:
    """A stretch of the run in which a finding shows, from the begin of a first call to the end of a last one."""

    start_s: Annotated[float, Column("begin of the first call")]
    end_s: Annotated[float, Column("end of the last call")]
    file: Annotated[int | None, Column("the file of these calls; null: several, or none")]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    `seconds_lost` is an estimate, in sum over processes; `estimate` says how it was made.
    """

    key: Annotated[str, Column("its name for machines")]
    title: Annotated[str, Column("the problem, in a few words")]
    severity: Annotated[str, Column("high, medium or low")]
    explanation: Annotated[str, Column("the reason why it costs time")]
    change: Annotated[str, Column("the change to make")]
    seconds_lost: Annotated[float | None, Column("the cost, in sum over processes; null: not estimated")]
    estimate: Annotated[str, Column("how the cost was estimated")]
    calls: Annotated[int | None, Column("calls that it concerns")]
    bytes: Annotated[int | None, Column("bytes of these calls")]
    evidence: Annotated[list[Evidence], Column("the measured figures that show it")] = field(default_factory=list)
    files: Annotated[list[int], Column("files that it concerns")] = field(default_factory=list)
    ranks: Annotated[list[int], Column("ranks that it concerns")] = field(default_factory=list)
    when: Annotated[
        Span | None, Column("from the first to the last call that it concerns; null: the source has no times")
    ] = None
    worst: Annotated[Span | None, Column("where to look first: the file, phase or call in which it took longest")] = (
        None
    )


def when(rows: Rows) -> Span | None:
    """From the first to the last call of rows of Survey.profile."""
    ends = _ends(rows).to_pyarrow().to_pylist()[0]
    return _span(ends["first"], ends["last"])


@question
def _ends(rows: ibis.Table) -> ibis.Table:
    return rows.aggregate(first=_.first_ns.min(), last=_.last_ns.max())


def worst(rows: Rows) -> Span | None:
    """The calls of rows of Survey.profile on the file in which they took longest."""
    longest = _longest(rows).to_pyarrow().to_pylist()
    return _span(longest[0]["first"], longest[0]["last"], longest[0]["file"]) if longest else None


@question
def _longest(rows: ibis.Table) -> ibis.Table:
    each = rows.filter(_.file.notnull()).aggregate(
        by="file", first=_.first_ns.min(), last=_.last_ns.max(), spent=_.duration_ns.sum()
    )
    return each.filter(_.first.notnull()).order_by([ibis.desc("spent"), "file"]).limit(1)


def _span(first_ns: int | None, last_ns: int | None, file: int | None = None) -> Span | None:
    return None if first_ns is None or last_ns is None else Span(first_ns / 1e9, last_ns / 1e9, file)


def severity(answers: Answers, seconds_lost: float | None) -> str | None:
    """None: it is not worth a line. Costs that cannot be estimated are of low severity."""
    if seconds_lost is None:
        return Severity.LOW
    settings = answers.settings
    of_io = seconds_lost / answers.io_s if answers.io_s else 0.0
    of_run = seconds_lost / (answers.survey.end_ns / 1e9 * max(len(answers.ranks) or answers.survey.ranks, 1))
    if seconds_lost < settings.worth_seconds or of_io < settings.worth_share or of_run < settings.worth_run_share:
        return None
    if seconds_lost < settings.grave_seconds:
        return Severity.LOW
    grade = min(of_io / settings.grave_share, of_run / settings.grave_run_share)
    if grade >= 1:
        return Severity.HIGH
    return Severity.MEDIUM if grade >= 1 / 4 else Severity.LOW


_ROUNDING = 1e-9
"""Of sums that are made in another order."""
_CLOCK_S = 1e-9
"""Of times, which are whole nanoseconds."""


def time_spent(rows: Rows) -> float:
    """Seconds in calls of rows of Survey.profile or Survey.durations, in sum over processes."""
    return float(_spent(rows).to_pyarrow()["ns"][0].as_py() or 0) / 1e9


@question
def _spent(rows: ibis.Table) -> ibis.Table:
    return rows.aggregate(ns=_.duration_ns.sum())


def found(
    answers: Answers,
    *,
    key: str,
    seconds_lost: float | None,
    spent_s: float,
    ranks: Iterable[int] = (),
    files: Sequence[int] = (),
    concerned: Rows | None = None,
    **values: object,
) -> list[Finding]:
    """One finding, or none when it is not worth a line. `ranks` below 0 (processes beside MPI's) are left out.

    `spent_s`: the time in which the loss lies, in sum over processes: of the calls that it is about, or of the ranks
    that wait. InternalError: the estimate is above it.

    Of `files`, those that the MPI library keeps for itself are left out, unless there are no others.

    `concerned`: the rows of Survey.profile that it is about, which tell `when` and `worst`.
    """
    if seconds_lost is not None and seconds_lost > spent_s * (1 + _ROUNDING) + _CLOCK_S:
        raise InternalError(f"finding '{key}' loses {seconds_lost:.6g} s of {spent_s:.6g} s: an estimate is wrong")
    grade = severity(answers, seconds_lost)
    if grade is None:
        return []
    own = sorted(rank for rank in ranks if rank >= 0)
    named = [file for file in files if file not in answers.private_files] or list(files)
    if concerned is not None:
        values |= {"when": when(concerned), "worst": worst(concerned)}
    return [Finding(key=key, severity=grade, seconds_lost=seconds_lost, files=named, ranks=own, **values)]  # type: ignore[arg-type]


def examined(answers: Answers) -> list[Evidence]:
    """How many of the calls were looked at, for findings that need their order (analysis.revisits)."""
    return [
        Evidence("examined_calls", "calls examined", answers.revisits.examined),
        Evidence("candidate_calls", "of so many", answers.revisits.candidates),
    ]
