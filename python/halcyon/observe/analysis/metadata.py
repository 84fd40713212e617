"""How much is asked of the metadata servers: opens, stats, names, directories."""

from dataclasses import dataclass

import ibis
from ibis import _

from halcyon.observe.analysis.survey import Survey
from halcyon.observe.schema import Kind, Level

METADATA = (Kind.OPEN, Kind.CLOSE, Kind.STAT, Kind.NAMESPACE, Kind.DIRECTORY)
"""Kinds that a metadata server answers."""


@dataclass(frozen=True)
class MetadataLoad:
    """Calls of one kind at the file system's door (POSIX, or stdio where that opens by itself)."""

    kind: str
    calls: int
    errors: int
    seconds: float
    per_second: float
    """Over the whole run."""
    most_per_second: float
    """In the busiest second (or shorter run)."""


@dataclass(frozen=True)
class Metadata:
    """The load, and its relation to the data calls."""

    kinds: list[MetadataLoad]
    calls: int
    data_calls: int
    seconds: float

    @property
    def per_data_call(self) -> float | None:
        """Metadata calls per transfer; None without transfers."""
        return self.calls / self.data_calls if self.data_calls else None


def at_the_door(rows: ibis.Table) -> ibis.Table:
    """The metadata calls that reach the file system: none that another POSIX or stdio call made."""
    low = [Level.POSIX, Level.STDIO]
    return rows.filter(_.level.isin(low) & _.kind.isin(METADATA) & ~_.parent_level.isin(low).fill_null(False))


def metadata(survey: Survey) -> Metadata:
    """Per kind; the most frequent first."""
    sums = at_the_door(survey.profile).aggregate(
        by="kind",
        calls=_.calls.sum().cast("int64"),
        errors=_.errors.sum().cast("int64"),
        duration_ns=_.duration_ns.sum().cast("int64"),
    )
    window = min(survey.end_ns, 1_000_000_000)
    seconds = at_the_door(survey.moments).mutate(second=_.begin_ns // window)
    peaks = seconds.aggregate(by=["kind", "second"], calls=_.calls.sum()).aggregate(by="kind", most=_.calls.max())
    rows = sums.left_join(peaks, "kind").order_by([ibis.desc("calls"), "kind"]).to_pyarrow().to_pylist()
    data = survey.profile.filter(_.transfer).calls.sum().to_pyarrow().as_py()
    kinds = [
        MetadataLoad(
            kind=row["kind"],
            calls=row["calls"],
            errors=row["errors"],
            seconds=row["duration_ns"] / 1e9,
            per_second=row["calls"] / (survey.end_ns / 1e9),
            most_per_second=float(row["most"] or 0) / (window / 1e9),
        )
        for row in rows
    ]
    return Metadata(kinds, sum(one.calls for one in kinds), int(data or 0), sum(one.seconds for one in kinds))
