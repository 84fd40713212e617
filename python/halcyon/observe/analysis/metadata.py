"""How much is asked of the metadata servers: opens, stats, names, directories."""

from dataclasses import dataclass
from typing import Annotated, Any

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.survey import Survey
from halcyon.observe.result_columns import Column, Unit, derived
from halcyon.observe.schema import Kind, Level

METADATA = (Kind.OPEN, Kind.CLOSE, Kind.STAT, Kind.NAMESPACE, Kind.DIRECTORY)
"""Kinds that a metadata server answers."""

BUFFERED = ("readdir", "fdopendir", "rewinddir", "seekdir", "telldir")
"""Of directories, answered in the process: most calls of readdir by the C library's buffer of a block of entries, and
which of them fetched the next block is not known. A directory counts when it is opened."""


@dataclass(frozen=True)
class MetadataLoad:
    """Calls of one kind at the file system's door (POSIX, or stdio where that opens by itself)."""

    kind: Annotated[str, Column("the kind of request: open, close, stat, namespace, directory", head="kind")]
    calls: Annotated[
        int, Column("calls at the file system's door: of POSIX, or of stdio where it opens files itself", head="calls")
    ]
    errors: Annotated[
        int | None, Column("calls that failed; null, as of `seconds`: the source does not tell", head="failed")
    ]
    seconds: Annotated[float | None, Column("time in them, in sum over processes", head="time")]
    per_second: Annotated[
        float,
        Column(
            "calls for each second of the run; of a run shorter than a second, all calls",
            unit=Unit.PER_S,
            head="per second",
        ),
    ]
    most_per_second: Annotated[
        float | None,
        Column(
            "calls in the busiest second; null: times of calls that were left out (`buffered`) are not told from "
            "those of this kind, or the source has none",
            unit=Unit.PER_S,
            head="in the busiest second",
        ),
    ]


@dataclass(frozen=True)
class Metadata:
    """The load, and its relation to the data calls."""

    kinds: Annotated[list[MetadataLoad], Column("one row for each kind, the most frequent first")]
    calls: Annotated[int, Column("all of them")]
    data_calls: Annotated[int, Column("transfers of the run")]
    seconds: Annotated[float, Column("time in all metadata calls")]
    buffered: Annotated[
        int | None,
        Column(
            "calls on directories that are left out, because the C library answers them from its buffer; null: the "
            "source does not count them"
        ),
    ]

    @property
    @derived(Column("metadata calls per transfer; null: no transfers", unit=Unit.RATIO))
    def per_data_call(self) -> float | None:
        """Metadata calls per transfer; None without transfers."""
        return self.calls / self.data_calls if self.data_calls else None


def at_the_door(rows: ibis.Table) -> ibis.Table:
    """The metadata calls that reach the file system: none that another POSIX or stdio call made."""
    return _outermost(rows).filter(~_buffered())


def _outermost(rows: ibis.Table) -> ibis.Table:
    low = [Level.POSIX, Level.STDIO]
    return rows.filter(_.level.isin(low) & _.kind.isin(METADATA) & ~_.parent_level.isin(low).fill_null(False))


def _buffered() -> ibis.Deferred:
    return (_.kind == Kind.DIRECTORY) & _.call.re_search(f"^({'|'.join(BUFFERED)})")


def metadata(survey: Survey) -> Metadata:
    """Per kind; the most frequent first."""
    left_out = int(_left_out(survey.profile).to_pyarrow()["calls"][0].as_py() or 0)
    short = survey.end_ns < 1_000_000_000
    rows = _kinds(survey.profile, survey.moments).to_pyarrow().to_pylist()
    data = _transfers(survey.profile).to_pyarrow()["calls"][0].as_py()
    kinds = [
        MetadataLoad(
            kind=row["kind"],
            calls=row["calls"],
            errors=row["errors"],
            seconds=row["duration_ns"] / 1e9,
            per_second=row["calls"] / max(survey.end_ns / 1e9, 1.0),
            most_per_second=_most(row, short, left_out),
        )
        for row in rows
    ]
    seconds = sum(one.seconds or 0.0 for one in kinds)
    return Metadata(kinds, sum(one.calls for one in kinds), int(data or 0), seconds, left_out)


@question
def _left_out(profile: ibis.Table) -> ibis.Table:
    return _outermost(profile).filter(_buffered()).aggregate(calls=_.calls.sum())


@question
def _transfers(profile: ibis.Table) -> ibis.Table:
    return profile.filter(_.transfer).aggregate(calls=_.calls.sum())


@question
def _kinds(profile: ibis.Table, moments: ibis.Table) -> ibis.Table:
    sums = at_the_door(profile).aggregate(
        by="kind",
        calls=_.calls.sum().cast("int64"),
        errors=_.errors.sum().cast("int64"),
        duration_ns=_.duration_ns.sum().cast("int64"),
    )
    timed = _outermost(moments).mutate(second=_.begin_ns // 1_000_000_000)
    peaks = timed.aggregate(by=["kind", "second"], calls=_.calls.sum()).aggregate(by="kind", most=_.calls.max())
    return sums.left_join(peaks, "kind").order_by([ibis.desc("calls"), "kind"])


def _most(row: dict[str, Any], short: bool, left_out: int) -> float | None:
    if short:
        return float(row["calls"])
    return None if left_out and row["kind"] == Kind.DIRECTORY else float(row["most"] or 0)
