"""MPI-IO's own time where no source tells which call made which: Darshan, with its calls (DXT) or counters alone."""

from dataclasses import dataclass
from typing import Any

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.counted import WHOLE_SHARE, Counted
from halcyon.observe.analysis.covered import covered
from halcyon.observe.analysis.survey import Survey, any_row
from halcyon.observe.schema import Kind, Level


@dataclass(frozen=True)
class MpiIoOwn:
    """MPI-IO's reads or writes of one file; seconds in sum over processes."""

    file: int
    direction: str
    calls: int
    spent_s: float
    """In these calls."""
    below_s: float
    """In POSIX reads and writes of the file: within these calls, or (of counters) all that may be theirs."""
    own_s: float
    """At least so much is in none of them. Of a file with collective calls: of each rank, beyond the longest time that
    one rank spent in them, for ranks rightly wait while another one moves their data."""
    collective: bool
    """Ranks may wait for one another there."""
    counted: bool
    """By counters, not by calls."""


def mpiio_own(survey: Survey, counters: Counted | None) -> list[MpiIoOwn]:
    """Of files of which the source holds as many bytes below MPI-IO as MPI-IO was asked for: else there may be POSIX
    calls that it lacks. From calls, where none are known to be missing; else from counters."""
    if _calls_are_whole(survey):
        return _of_calls(survey, counters)
    return _of_counters(counters, survey.ranks) if counters is not None and counters.complete else []


def _calls_are_whole(survey: Survey) -> bool:
    if not {Level.MPIIO, Level.POSIX} <= survey.levels:
        return False
    if any_row(_gaps(survey.dataset.absences)):
        return False
    levels = _levels_of_transfers(survey.profile).to_pyarrow()["level"].to_pylist()
    return {Level.MPIIO, Level.POSIX} <= set(levels)


def _of_calls(survey: Survey, counters: Counted | None) -> list[MpiIoOwn]:
    below = _below(survey.profile).to_pyarrow().to_pylist()
    moved = {(row["file"], row["direction"]): row["volume"] for row in below}
    by_file: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for row in _own_times(survey.rows).to_pyarrow().to_pylist():
        by_file.setdefault((row["file"], row["direction"]), []).append(row)
    independent = _independent(counters)
    return [
        _of_ranks(file, direction, own, collective=(file, direction) not in independent)
        for (file, direction), own in by_file.items()
        if moved.get((file, direction), 0) >= WHOLE_SHARE * sum(row["asked"] for row in own)
    ]


@question
def _gaps(absences: ibis.Table) -> ibis.Table:
    counting = ["POSIX", "MPI-IO", "STDIO"]
    return absences.filter((_.what.isin(["partial", "lost"])) & ~_.subject.isin(counting))


@question
def _levels_of_transfers(profile: ibis.Table) -> ibis.Table:
    return profile.filter(_.direction.notnull()).select("level").distinct()


@question
def _below(profile: ibis.Table) -> ibis.Table:
    below = profile.filter((_.level == Level.POSIX) & _.direction.notnull() & _.file.notnull())
    return below.aggregate(by=["file", "direction"], volume=_.volume.sum())


@question
def _own_times(calls: ibis.Table) -> ibis.Table:
    moves = _.kind.isin([Kind.READ, Kind.WRITE]) & _.level.isin([Level.MPIIO, Level.POSIX])
    rows = calls.filter(moves & _.file.notnull() & _.duration_ns.notnull())
    rows = rows.mutate(begin=_.start_ns, end=_.start_ns + _.duration_ns, volume=ibis.coalesce(_.moved, _.bytes, 0))
    keys = ["process", "file", "direction"]
    upper = rows.filter(_.level == Level.MPIIO).mutate(direction=_.kind)
    pairs = upper.select(*keys).distinct()
    lower = rows.filter(_.level == Level.POSIX).join(pairs, ["process", "file"])
    either = ibis.union(upper.select(*keys, "begin", "end"), lower.select(*keys, "begin", "end"))
    sums = upper.aggregate(by=keys, calls=_.count(), asked=_.volume.sum())
    each = (
        sums.join(covered(upper, keys).rename(spent="covered"), keys)
        .join(covered(either, keys).rename(either="covered"), keys)
        .left_join(covered(lower, keys).rename(lower="covered"), keys)
        .drop("process_right", "file_right", "direction_right")
    )
    return each.mutate(own=_.either - _.lower.fill_null(0)).drop("either", "lower").order_by(keys)


def _of_ranks(file: int, direction: str, rows: list[dict[str, Any]], *, collective: bool) -> MpiIoOwn:
    longest = max(row["spent"] - row["own"] for row in rows) if collective else 0
    return MpiIoOwn(
        file=file,
        direction=direction,
        calls=sum(row["calls"] for row in rows),
        spent_s=sum(row["spent"] for row in rows) / 1e9,
        below_s=sum(row["spent"] - row["own"] for row in rows) / 1e9,
        own_s=sum(max(row["spent"] - longest, 0) if collective else row["own"] for row in rows) / 1e9,
        collective=collective,
        counted=False,
    )


_COLUMNS = {
    Kind.READ.value: ("reads", "bytes_read", "read_s"),
    Kind.WRITE.value: ("writes", "bytes_written", "write_s"),
}


def _independent(counters: Counted | None) -> set[tuple[int, str]]:
    """Files and directions of which the counters show that no call was collective."""
    if counters is None:
        return set()
    rows = _collective(counters.records)
    return {(row["file"], kind) for row in rows.to_pyarrow().to_pylist() for kind in _COLUMNS if not row[kind]}


@question
def _collective(records: ibis.Table) -> ibis.Table:
    sums = {kind: _[f"collective_{names[0]}"].sum() for kind, names in _COLUMNS.items()}
    return records.filter(_.module == "MPI-IO").aggregate(by="file", **sums)


@question
def _in_order(records: ibis.Table) -> ibis.Table:
    return records.order_by(["file", "process"])


def _of_counters(counters: Counted, ranks: int) -> list[MpiIoOwn]:
    records: dict[int, dict[str, list[dict[str, Any]]]] = {}
    for row in _in_order(counters.records).to_pyarrow().to_pylist():
        records.setdefault(row["file"], {}).setdefault(row["module"], []).append(row)
    found = [
        _counted(file, direction, own["MPI-IO"], own["POSIX"], ranks)
        for file, own in records.items()
        if {"MPI-IO", "POSIX"} <= set(own)
        for direction in _COLUMNS
    ]
    return [one for one in found if one is not None]


def _counted(
    file: int, direction: str, upper: list[dict[str, Any]], lower: list[dict[str, Any]], ranks: int
) -> MpiIoOwn | None:
    """None: there are no such calls, or the file's POSIX records hold less than MPI-IO was asked for."""
    calls, volume, seconds = _COLUMNS[direction]
    if not _sum(upper, volume) or _sum(lower, volume) < WHOLE_SHARE * _sum(upper, volume):
        return None
    parts = (seconds,) if direction == Kind.READ or _reads_alone(upper, lower) else ("read_s", "write_s")
    spent, below = _sum(upper, seconds), sum(_sum(lower, part) for part in parts)
    own, collective = spent - below, _sum(upper, f"collective_{calls}") > 0
    if collective:
        longest = max(_longest(row, parts) for row in lower)
        shared = any(row["process"] is None for row in upper)
        beyond = spent - ranks * longest if shared else sum(max(row[seconds] - longest, 0.0) for row in upper)
        own = min(own, beyond)
    return MpiIoOwn(file, direction, _sum(upper, calls), spent, below, max(own, 0.0), collective, counted=True)


def _longest(record: dict[str, Any], parts: tuple[str, ...]) -> float:
    """The longest time that a rank spent in these calls; of a record that all ranks share, at most."""
    spent: float = sum(record[part] for part in parts)
    return min(record["slowest_s"] or spent, spent) if record["process"] is None else spent


def _reads_alone(upper: list[dict[str, Any]], lower: list[dict[str, Any]]) -> bool:
    """Whether MPI-IO's reads, each of which makes one at least, account for all POSIX reads: none is made by writes."""
    same = _sum(lower, "reads") <= _sum(upper, "reads") and _sum(lower, "bytes_read") <= _sum(upper, "bytes_read")
    return same and not _sum(upper, "collective_reads")


def _sum(rows: list[dict[str, Any]], name: str) -> Any:
    return sum(row[name] for row in rows)
