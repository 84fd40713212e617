"""What MPI-IO and HDF5 calls are made of (Wright 2014, figures 4.8 to 4.10)."""

from dataclasses import dataclass
from typing import Annotated

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.survey import Survey
from halcyon.observe.dataset import Dataset
from halcyon.observe.result_columns import Column, Unit
from halcyon.observe.schema import Kind, Level
from halcyon.quantities import size

UPPER = (Level.HDF5, Level.MPIIO)
"""Levels whose calls are made of other recorded calls."""


@dataclass(frozen=True)
class FunctionShares:
    """Where the time of one function went, in seconds; the parts add up to `seconds`.

    `communicate_s` is the function's own time: communication with other ranks, copies, all that made no recorded call.
    `other_s`: its other calls, and waiting for a turn before calls. `rank` is None for all ranks together.
    """

    level: Annotated[str, Column("the interface: hdf5, mpiio, stdio, posix, log")]
    function: Annotated[str, Column("the function", head="function")]
    rank: Annotated[int | None, Column("the rank; null: all ranks together")]
    calls: Annotated[int, Column("its calls", head="calls")]
    seconds: Annotated[float, Column("their time", head="time")]
    communicate_s: Annotated[
        float,
        Column(
            "the function's own time: communication with other ranks, copies, all that made no recorded call",
            head="communicate",
            share_of="seconds",
        ),
    ]
    lock_s: Annotated[float, Column("time in lock calls that it made", head="lock", share_of="seconds")]
    read_s: Annotated[float, Column("time in reads that it made", head="read", share_of="seconds")]
    write_s: Annotated[float, Column("time in writes and copies that it made", head="write", share_of="seconds")]
    unlock_s: Annotated[float, Column("time in unlock calls that it made", head="unlock", share_of="seconds")]
    other_s: Annotated[
        float,
        Column(
            "time in other calls that it made, and waiting for a turn before calls",
            head="other",
            share_of="seconds",
        ),
    ]


@dataclass(frozen=True)
class Part:
    """One function that `function` called directly, over all its calls."""

    level: Annotated[str, Column("the interface of the function that calls")]
    function: Annotated[str, Column("the function that calls", head="function")]
    part_level: Annotated[str, Column("the interface of the function that is called")]
    part: Annotated[str, Column("the function that is called", head="makes")]
    kind: Annotated[str, Column("the kind of the called function", head="kind")]
    calls: Annotated[int, Column("calls of it", head="calls")]
    per_call: Annotated[float, Column("calls of it for each call of `function`, on average", head="per call")]
    bytes: Annotated[int, Column("bytes that it moved", head="bytes", shown=lambda moved: size(moved) if moved else "")]
    seconds: Annotated[float, Column("time in it", head="time")]


@dataclass(frozen=True)
class CallPart:
    """One call below another, at any depth; `start_s` counts from the start of the call that is taken apart."""

    depth: Annotated[int, Column("how many calls are under way above it")]
    level: Annotated[str, Column("the interface: hdf5, mpiio, stdio, posix, log")]
    call: Annotated[str, Column("the function")]
    kind: Annotated[str, Column("its kind")]
    offset: Annotated[int | None, Column("place in the file", unit=Unit.BYTES)]
    bytes: Annotated[int | None, Column("bytes that it moved")]
    start_s: Annotated[float, Column("its begin, from the begin of the call that is taken apart")]
    seconds: Annotated[float, Column("how long it took")]


@dataclass(frozen=True)
class CallExample:
    """One call and all calls that it was made of, in their order."""

    rank: Annotated[int, Column("the rank that made the call")]
    process: Annotated[int, Column("its process")]
    thread: Annotated[int | None, Column("its thread")]
    number: Annotated[int, Column("number of the call in its thread")]
    function: Annotated[str, Column("the function")]
    file: Annotated[int | None, Column("the file")]
    start_s: Annotated[float, Column("when it began")]
    seconds: Annotated[float, Column("how long it took")]
    parts: Annotated[list[CallPart], Column("all calls that it was made of, in their order")]


def function_shares(survey: Survey, *, per_rank: bool = False) -> list[FunctionShares]:
    """Figure 4.8: the shares of each function (with `per_rank`: of each function and rank), the longest first.

    None of sources that do not tell which call made which.
    """
    if not survey.levels & set(UPPER):
        return []
    rows = _function_shares(survey.profile_with_log, per_rank).to_pyarrow().to_pylist()
    ranks = shown_ranks(survey) if per_rank else {}
    return [_shares(row, ranks.get(row.get("process", -1))) for row in rows]


@question
def _function_shares(profile: ibis.Table, per_rank: bool) -> ibis.Table:
    by = ["level", "function", *(["process"] if per_rank else [])]
    own = profile.filter(_.level.isin(UPPER) & _.self_ns.notnull()).rename(function="call")
    own = own.aggregate(by=by, calls=_.calls.sum().cast("int64"), total=_sum(_.duration_ns), own=_sum(_.self_ns))
    below = profile.filter(_.parent_level.isin(UPPER)).select(
        "kind", "duration_ns", "wait_ns", "process", level="parent_level", function="parent_call"
    )
    below = below.aggregate(
        by=by,
        **{kind: _sum(ibis.ifelse(_.kind == kind, _.duration_ns, 0)) for kind in (*_COLUMNS, Kind.COPY)},
        parts=_sum(_.duration_ns + _.wait_ns.fill_null(0)),
    )
    return own.left_join(below, by).order_by([ibis.desc("total"), *by])


_COLUMNS = (Kind.LOCK, Kind.READ, Kind.WRITE, Kind.UNLOCK)


def _sum(value: ibis.Value | ibis.Deferred) -> ibis.Value:
    return value.sum().cast("int64")


def _shares(row: dict[str, int | str | None], rank: int | None) -> FunctionShares:
    spent = {name: int(row[name] or 0) for name in (*_COLUMNS, Kind.COPY, "parts", "total")}
    write = spent[Kind.WRITE] + spent[Kind.COPY]
    named = spent[Kind.LOCK] + spent[Kind.READ] + spent[Kind.UNLOCK] + write
    return FunctionShares(
        level=str(row["level"]),
        function=str(row["function"]),
        rank=rank,
        calls=int(row["calls"] or 0),
        seconds=spent["total"] / 1e9,
        lock_s=spent[Kind.LOCK] / 1e9,
        read_s=spent[Kind.READ] / 1e9,
        write_s=write / 1e9,
        unlock_s=spent[Kind.UNLOCK] / 1e9,
        other_s=(spent["parts"] - named) / 1e9,
        communicate_s=(spent["total"] - spent["parts"]) / 1e9,
    )


def shown_ranks(survey: Survey) -> dict[int, int]:
    """Of each process: its rank, or its index where there is none."""
    rows = _shown_ranks(survey.processes).to_pyarrow().to_pylist()
    return {row["process"]: row["shown_rank"] for row in rows}


@question
def _shown_ranks(processes: ibis.Table) -> ibis.Table:
    return processes.select("process", "shown_rank")


def parts(survey: Survey) -> list[Part]:
    """Which functions each MPI-IO and HDF5 function called directly, the most expensive first."""
    if not survey.levels & set(UPPER):
        return []
    return [
        Part(
            level=row["upper"],
            function=row["function"],
            part_level=row["level"],
            part=row["call"],
            kind=row["kind"],
            calls=row["calls"],
            bytes=row["volume"],
            seconds=row["duration_ns"] / 1e9,
            per_call=row["calls"] / row["made"] if row["made"] else 0.0,
        )
        for row in _parts(survey.profile_with_log).to_pyarrow().to_pylist()
    ]


@question
def _parts(profile: ibis.Table) -> ibis.Table:
    callers = profile.filter(_.level.isin(UPPER)).aggregate(
        by=[_.level.name("upper"), _.call.name("function")], made=_sum(_.calls)
    )
    below = profile.filter(_.parent_level.isin(UPPER)).aggregate(
        by=[_.parent_level.name("upper"), _.parent_call.name("function"), _.level, _.call, _.kind],
        calls=_sum(_.calls),
        volume=_sum(ibis.ifelse(_.direction.notnull(), _.volume, 0)),
        duration_ns=_sum(_.duration_ns),
    )
    return below.left_join(callers, ["upper", "function"]).order_by(
        [ibis.desc("duration_ns"), "function", "call", "kind"]
    )


def call_parts(dataset: Dataset, process: int, thread: int | None, number: int) -> ibis.Table:
    """The calls that one call made directly, in their order: an Ibis table of the columns of `calls`."""
    same = dataset.calls.thread.isnull() if thread is None else dataset.calls.thread == thread
    rows = dataset.calls.filter((dataset.calls.process == process) & same & (dataset.calls.parent == number))
    return rows.order_by(["start_ns", "number"])


def examples(survey: Survey, most: int = 3, parts_each: int = 200) -> list[CallExample]:
    """Figures 4.9 and 4.10: the longest call of the (up to `most`) most expensive functions that are made of others.

    Of each, at most `parts_each` parts.
    """
    made_of = {(part.level, part.function) for part in parts(survey)}
    chosen = [one for one in function_shares(survey) if (one.level, one.function) in made_of][:most]
    found = [_longest(survey, one.level, one.function) for one in chosen]
    ranks = shown_ranks(survey)
    return [_example(survey.dataset, row, ranks, parts_each) for row in found if row is not None]


def _longest(survey: Survey, level: str, function: str) -> dict[str, int] | None:
    """Reads the calls of one process only: which one, the profile tells."""
    rows = (
        survey.profile.filter((_.level == level) & (_.call == function))
        .order_by([ibis.desc("longest_ns"), "process"])
        .limit(1)
    )
    best = rows.select("process", "longest_ns").to_pyarrow().to_pylist()
    if not best or best[0]["longest_ns"] is None:
        return None
    calls = survey.dataset.calls
    same = calls.filter(
        (calls.process == best[0]["process"])
        & (calls.call == function)
        & (calls.duration_ns == best[0]["longest_ns"])
        & calls.number.notnull()
    )
    first = same.order_by(["start_ns", "number"]).limit(1).to_pyarrow().to_pylist()
    return first[0] if first else None


def _example(dataset: Dataset, row: dict[str, int], ranks: dict[int, int], most: int) -> CallExample:
    found: list[CallPart] = []

    def descend(number: int, depth: int) -> None:
        below = call_parts(dataset, row["process"], row["thread"], number).limit(most - len(found))
        for part in below.to_pyarrow().to_pylist():
            if len(found) >= most:
                return
            found.append(
                CallPart(
                    depth=depth,
                    level=part["level"],
                    call=part["call"],
                    kind=part["kind"],
                    offset=part["offset"],
                    bytes=part["bytes"],
                    start_s=(part["start_ns"] - row["start_ns"]) / 1e9,
                    seconds=part["duration_ns"] / 1e9,
                )
            )
            if part["level"] in UPPER and part["number"] is not None and part["self_ns"] != part["duration_ns"]:
                descend(part["number"], depth + 1)

    descend(row["number"], 1)
    return CallExample(
        rank=ranks.get(row["process"], row["process"]),
        process=row["process"],
        thread=row["thread"],
        number=row["number"],
        function=str(row["call"]),
        file=row["file"],
        start_s=row["start_ns"] / 1e9,
        seconds=row["duration_ns"] / 1e9,
        parts=found,
    )
