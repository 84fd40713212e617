"""Where the time went: by level and kind, and by rank."""

from dataclasses import dataclass
from typing import Annotated

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.survey import Survey, outer
from halcyon.observe.result_columns import Column
from halcyon.quantities import seconds, size


@dataclass(frozen=True)
class TimeSpent:
    """Time of all processes in calls of one level and kind; `self_s` leaves out the calls that these made."""

    level: Annotated[str, Column("the interface: hdf5, mpiio, stdio, posix, log", head="level")]
    kind: Annotated[str, Column("the kind of calls: open, read, write, …", head="kind")]
    calls: Annotated[int, Column("calls", head="calls")]
    errors: Annotated[int | None, Column("calls that failed; null: the source counted calls alone", head="failed")]
    bytes: Annotated[
        int, Column("bytes that they moved", head="bytes", shown=lambda moved: size(moved) if moved else "")
    ]
    seconds: Annotated[float, Column("their time, in sum over processes", head="time")]
    self_s: Annotated[
        float | None,
        Column(
            "their time without the calls that they made; null: the source does not tell which call made which",
            head="own time",
        ),
    ]
    waited_s: Annotated[
        float | None,
        Column(
            "time for which Halcyon held these calls back; null: the source counted calls alone",
            head="waited",
            shown=lambda waited: "" if waited == 0 else seconds(waited),
        ),
    ]


def times(survey: Survey) -> list[TimeSpent]:
    """By the time spent, the most first. Level log, what logs ask of the file system, is a part of those above it."""
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
        for row in _times(survey.profile_with_log).to_pyarrow().to_pylist()
    ]


@question
def _times(profile: ibis.Table) -> ibis.Table:
    rows = profile.aggregate(
        by=["level", "kind"],
        calls=_.calls.sum().cast("int64"),
        errors=_.errors.sum().cast("int64"),
        bytes=ibis.ifelse(_.direction.notnull(), _.volume, 0).sum().cast("int64"),
        **{name: _[name].sum().cast("int64") for name in ("duration_ns", "self_ns", "wait_ns")},
    )
    return rows.order_by([ibis.desc("duration_ns"), "level", "kind"])


@dataclass(frozen=True)
class RankTotal:
    """One process over the whole run; times in the calls that the application itself made."""

    rank: Annotated[int, Column("the rank; below 0: a process beside those of MPI, such as the launcher")]
    process: Annotated[int, Column("the process")]
    host: Annotated[str | None, Column("its node")]
    program: Annotated[str | None, Column("its executable")]
    calls: Annotated[int, Column("calls that the application itself made")]
    bytes_read: Annotated[int, Column("bytes that it read")]
    bytes_written: Annotated[int, Column("bytes that it wrote")]
    seconds: Annotated[float, Column("time in these calls")]
    read_s: Annotated[float, Column("time in reads")]
    write_s: Annotated[float, Column("time in writes")]
    metadata_s: Annotated[
        float | None,
        Column(
            "time in all other calls: opens, stats, locks, syncs; null: the source counts them for all ranks together"
        ),
    ]


def rank_totals(survey: Survey) -> list[RankTotal]:
    """By rank."""
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
        for row in _rank_totals(survey.profile, survey.processes, survey.related).to_pyarrow().to_pylist()
    ]


@question
def _rank_totals(profile: ibis.Table, processes: ibis.Table, related: bool) -> ibis.Table:
    def moved(direction: str) -> ibis.Value:
        return ibis.ifelse(_.transfer & (_.direction == direction), _.volume, 0).sum().cast("int64")

    def spent(condition: ibis.Deferred) -> ibis.Value:
        return ibis.ifelse(outer(related) & condition, _.duration_ns, 0).sum().cast("int64")

    sums = profile.aggregate(
        by="process",
        calls=_.calls.sum().cast("int64"),
        bytes_read=moved("read"),
        bytes_written=moved("write"),
        all_ns=spent(_.calls > 0),
        read_ns=spent((_.direction == "read").fill_null(False)),
        write_ns=spent((_.direction == "write").fill_null(False)),
    )
    named = sums.join(processes.select("process", "host", "program", rank="shown_rank"), "process")
    return named.order_by(["rank", "process"])
