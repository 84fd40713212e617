"""How much is asked of the metadata servers: opens, stats, names, directories."""

from dataclasses import dataclass
from typing import Any

import ibis
from ibis import _

from halcyon.observe.analysis.survey import Survey
from halcyon.observe.schema import Kind, Level

METADATA = (Kind.OPEN, Kind.CLOSE, Kind.STAT, Kind.NAMESPACE, Kind.DIRECTORY)
"""Kinds that a metadata server answers."""

BUFFERED = ("readdir", "fdopendir", "rewinddir", "seekdir", "telldir")
"""Of directories, answered in the process: most calls of readdir by the C library's buffer of a block of entries, and
which of them fetched the next block is not known. A directory counts when it is opened."""


@dataclass(frozen=True)
class MetadataLoad:
    """Calls of one kind at the file system's door (POSIX, or stdio where that opens by itself)."""

    kind: str
    calls: int
    errors: int | None
    """None, as of `seconds`: the source does not tell."""
    seconds: float | None
    per_second: float
    """Over the whole run; of one shorter than a second, `calls`: rates are not extrapolated."""
    most_per_second: float | None
    """In the busiest second; of a run shorter than that, `calls`. None: the times of calls that were left out
    (Metadata.buffered) are not told from those of this kind, or the source has none."""


@dataclass(frozen=True)
class Metadata:
    """The load, and its relation to the data calls."""

    kinds: list[MetadataLoad]
    calls: int
    data_calls: int
    seconds: float
    buffered: int | None
    """Calls on directories that are left out of all this: the C library answers them from its buffer. None: the source
    does not count such calls."""

    @property
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
    sums = at_the_door(survey.profile).aggregate(
        by="kind",
        calls=_.calls.sum().cast("int64"),
        errors=_.errors.sum().cast("int64"),
        duration_ns=_.duration_ns.sum().cast("int64"),
    )
    left_out = int(_outermost(survey.profile).filter(_buffered()).calls.sum().to_pyarrow().as_py() or 0)
    short = survey.end_ns < 1_000_000_000
    timed = _outermost(survey.moments).mutate(second=_.begin_ns // 1_000_000_000)
    peaks = timed.aggregate(by=["kind", "second"], calls=_.calls.sum()).aggregate(by="kind", most=_.calls.max())
    rows = sums.left_join(peaks, "kind").order_by([ibis.desc("calls"), "kind"]).to_pyarrow().to_pylist()
    data = survey.profile.filter(_.transfer).calls.sum().to_pyarrow().as_py()
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


def _most(row: dict[str, Any], short: bool, left_out: int) -> float | None:
    if short:
        return float(row["calls"])
    return None if left_out and row["kind"] == Kind.DIRECTORY else float(row["most"] or 0)
