"""Where the time went: by level and kind, and by rank."""

from dataclasses import dataclass

import ibis
from ibis import _

from halcyon.observe.analysis.survey import Survey


@dataclass(frozen=True)
class TimeSpent:
    """Time of all processes in calls of one level and kind; `self_s` leaves out the calls that these made."""

    level: str
    kind: str
    calls: int
    errors: int | None
    """None: calls were only counted, whether they failed or not."""
    bytes: int
    seconds: float
    self_s: float | None
    """None: the source does not tell which call made which."""
    waited_s: float | None
    """Before the calls, for Halcyon to let them pass (a turn that was waited for); None: calls were only counted."""


def times(survey: Survey) -> list[TimeSpent]:
    """By the time spent, the most first."""
    rows = survey.profile.aggregate(
        by=["level", "kind"],
        calls=_.calls.sum().cast("int64"),
        errors=_.errors.sum().cast("int64"),
        bytes=ibis.ifelse(_.direction.notnull(), _.volume, 0).sum().cast("int64"),
        **{name: _[name].sum().cast("int64") for name in ("duration_ns", "self_ns", "wait_ns")},
    )
    rows = rows.order_by([ibis.desc("duration_ns"), "level", "kind"])
    return [
        TimeSpent(
            level=row["level"],
            kind=row["kind"],
            calls=row["calls"],
            errors=row["errors"],
            bytes=row["bytes"],
            seconds=row["duration_ns"] / 1e9,
            self_s=None if row["self_ns"] is None else row["self_ns"] / 1e9,
            waited_s=row["wait_ns"] / 1e9,
        )
        for row in rows.to_pyarrow().to_pylist()
    ]


@dataclass(frozen=True)
class RankTotal:
    """One process over the whole run; times in the calls that the application itself made."""

    rank: int
    """Below 0: a process beside those of MPI, such as the launcher."""
    process: int
    host: str | None
    program: str | None
    calls: int
    bytes_read: int
    bytes_written: int
    seconds: float
    read_s: float
    write_s: float
    metadata_s: float | None
    """In all other calls: opens, stats, locks, syncs, …; None: the source counts them, for all ranks together."""


def rank_totals(survey: Survey) -> list[RankTotal]:
    """By rank."""

    def moved(direction: str) -> ibis.Value:
        return ibis.ifelse(_.transfer & (_.direction == direction), _.volume, 0).sum().cast("int64")

    def spent(condition: ibis.Deferred) -> ibis.Value:
        return ibis.ifelse(survey.outer & condition, _.duration_ns, 0).sum().cast("int64")

    sums = survey.profile.aggregate(
        by="process",
        calls=_.calls.sum().cast("int64"),
        bytes_read=moved("read"),
        bytes_written=moved("write"),
        all_ns=spent(_.calls > 0),
        read_ns=spent((_.direction == "read").fill_null(False)),
        write_ns=spent((_.direction == "write").fill_null(False)),
    )
    named = sums.join(survey.processes.select("process", "host", "program", rank="shown_rank"), "process")
    return [
        RankTotal(
            rank=row["rank"],
            process=row["process"],
            host=row["host"],
            program=row["program"],
            calls=row["calls"],
            bytes_read=row["bytes_read"],
            bytes_written=row["bytes_written"],
            seconds=row["all_ns"] / 1e9,
            read_s=row["read_ns"] / 1e9,
            write_s=row["write_ns"] / 1e9,
            metadata_s=(row["all_ns"] - row["read_ns"] - row["write_ns"]) / 1e9,
        )
        for row in named.order_by(["rank", "process"]).to_pyarrow().to_pylist()
    ]
