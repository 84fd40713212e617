"""Everything that is told of a run: for `halcyon analyze`, the report and the viewer."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from halcyon.observe.analysis.access import OrderTotal, Sharing, SizeBin
from halcyon.observe.analysis.activity import Activity
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.bandwidth import Bandwidth
from halcyon.observe.analysis.concurrency import Concurrency
from halcyon.observe.analysis.decomposition import CallExample, FunctionShares, Part
from halcyon.observe.analysis.files import File
from halcyon.observe.analysis.metadata import Metadata
from halcyon.observe.analysis.phases import Distribution, Phase, Variability
from halcyon.observe.analysis.revisits import ReadModifyWrite, Reread
from halcyon.observe.analysis.servers import Servers
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.analysis.stragglers import Straggler
from halcyon.observe.analysis.times import RankTotal, TimeSpent
from halcyon.observe.dataset import Dataset
from halcyon.observe.findings import Finding, findings
from halcyon.observe.result_columns import Column, Drawn, Printed, Result, results_of
from halcyon.observe.schema import RunInfo
from halcyon.quantities import number, plural, seconds

MOST_FILES = 10_000
"""Of a run: the first so many by bytes are told one by one."""
MOST_ROWS = 12
"""Of a table in the terminal."""


@dataclass(frozen=True)
class Absence:
    """Something that the data set does not hold; `processes`: how many it concerns, None: the run as a whole."""

    what: Annotated[str, Column("lost, partial (cut short by the source), or not-seen")]
    subject: Annotated[str, Column("the thing that is missing")]
    count: Annotated[int | None, Column("how many; null: not known")]
    processes: Annotated[int | None, Column("processes that it concerns; null: the run as a whole")]
    detail: Annotated[str | None, Column("a sentence that explains it")]


def _calls_of(answers: Answers) -> int | None:
    return None if answers.counters_only else answers.survey.calls


def _most_striking(stragglers: dict[str, list[Straggler]]) -> list[Straggler]:
    return [one for own in stragglers.values() for one in own[:MOST_ROWS]]


def _metadata_note(load: Metadata) -> str:
    note = f"{number(load.per_data_call)} per transfer" if load.per_data_call is not None else "no transfers"
    if load.buffered:
        note += f"; without {plural(load.buffered, 'call')} of readdir and the like, which the C library answers itself"
    if any(one.seconds is None for one in load.kinds):
        note += f"; {seconds(load.seconds)} in all metadata calls: the source does not tell which took how long"
    return note


@dataclass(frozen=True)
class ReportTables:
    """All that is told of a run, in the order in which it is shown. This is the place where a table is declared.

    A field says what it is of and how it is computed, `printed` how the terminal shows it, `page` its name in the page.
    docs/analysis.md explains the tables. Times are seconds since the run's start.
    """

    directory: Annotated[Path, Result("the data set", lambda a: a.survey.dataset.directory)]
    info: Annotated[RunInfo, Result("run.json of the [data set](dataset.md#runjson)", lambda a: a.survey.dataset.info)]
    processes: Annotated[int, Result("processes of the run", lambda a: len(a.shown_ranks))]
    hosts: Annotated[
        int | None, Result("nodes; null, as of other numbers: the source does not tell", lambda a: a.nodes)
    ]
    mpi: Annotated[
        bool,
        Result(
            "processes have ranks. Without MPI, a rank stands for a process's index, and processes are not compared: "
            "they need not do the same, nor wait for one another",
            lambda a: a.mpi,
        ),
    ]
    calls: Annotated[int | None, Result("calls without `setup_calls`", _calls_of)]
    counters_only: Annotated[
        bool,
        Result(
            "there are no calls; bandwidths, times, sizes, files, servers and findings are of what the source counted",
            lambda a: a.counters_only,
        ),
    ]
    setup_calls: Annotated[
        int | None,
        Result(
            "calls of MPI's start and end and what these make: left out of everything",
            lambda a: None if a.counters_only else a.survey.setup_calls,
        ),
    ]
    file_count: Annotated[
        int,
        Result(
            f"files that calls were made on, of which `files` holds the first {MOST_FILES:,}", lambda a: len(a.files)
        ),
    ]
    duration_s: Annotated[float, Result("length of the run", lambda a: a.survey.end_ns / 1e9)]
    io_s: Annotated[float, Result("time in the application's own I/O calls, in sum over processes", lambda a: a.io_s)]
    resolution_s: Annotated[
        float,
        Result(
            "step to which times were merged: a nanosecond, or more in a very large run",
            lambda a: a.survey.resolution_ns / 1e9,
        ),
    ]
    absences: Annotated[
        list[Absence],
        Result("Something that the data set does not hold.", lambda a: absences(a.survey.dataset), page="absences"),
    ]
    facts: Annotated[
        dict[str, str], Result("facts of the run, and those that are the same in all processes", lambda a: a.facts)
    ]
    findings: Annotated[
        list[Finding],
        Result("Problems, the most severe first.", findings, printed=Drawn.SPECIALLY, page="findings"),
    ]
    bandwidths: Annotated[
        list[Bandwidth],
        Result(
            "Bandwidth per file and of the whole run.",
            lambda a: a.bandwidths,
            printed=Drawn.SPECIALLY,
            page="bandwidths",
        ),
    ]
    times: Annotated[
        list[TimeSpent],
        Result(
            "Time per level and kind of call.",
            lambda a: a.times,
            printed=Printed("Where the time went, in sum over processes", words=2, most=2 * MOST_ROWS),
            page="times",
        ),
    ]
    ranks: Annotated[list[RankTotal], Result("Each process over the whole run.", lambda a: a.ranks)]
    functions: Annotated[
        list[FunctionShares],
        Result(
            "The time of each function of MPI-IO and HDF5 in the calls that it makes; the parts add up to `seconds`.",
            lambda a: a.functions,
            printed=Printed("Time inside calls of MPI-IO and HDF5", most=MOST_ROWS),
            page="functions",
        ),
    ]
    functions_per_rank: Annotated[
        list[FunctionShares], Result("The same for each rank.", lambda a: a.functions_per_rank)
    ]
    parts: Annotated[
        list[Part],
        Result(
            "The functions that each function of MPI-IO and HDF5 calls directly.",
            lambda a: a.parts,
            printed=Printed("Calls made by MPI-IO and HDF5", words=3, most=MOST_ROWS),
            page="parts",
        ),
    ]
    examples: Annotated[
        list[CallExample],
        Result("The longest call of the three most expensive functions, call by call.", lambda a: a.examples),
    ]
    concurrency: Annotated[
        Concurrency, Result("Calls in progress over time.", lambda a: a.concurrency, page="concurrency")
    ]
    phases: Annotated[
        dict[str, list[Phase]],
        Result(
            "Bursts of I/O between pauses, per kind: write, read, all.",
            lambda a: a.phases_of,
            printed=Drawn.SPECIALLY,
            page="phases",
        ),
    ]
    phase_gap_s: Annotated[
        float | None,
        Result(
            "pauses longer than this separate phases",
            lambda a: None if a.counters_only else a.phases.split.gap_ns / 1e9,
        ),
    ]
    variability: Annotated[
        list[Variability],
        Result("Variation of the time of I/O over ranks and phases.", lambda a: a.variability, printed=Drawn.SPECIALLY),
    ]
    stragglers: Annotated[
        dict[str, list[Straggler]],
        Result(
            "Ranks that are slow in many phases, per kind: write, read.",
            lambda a: a.stragglers,
            printed=Printed("Ranks that are slow again and again", words=3, rows=_most_striking),
            page="stragglers",
        ),
    ]
    call_durations: Annotated[
        list[Distribution],
        Result(
            "The cumulated distribution of each function's durations.", lambda a: a.call_durations, page="durations"
        ),
    ]
    sizes: Annotated[
        list[SizeBin],
        Result("Transfers by size.", lambda a: a.sizes, printed=Printed("Sizes", words=2), page="sizes"),
    ]
    orders: Annotated[
        list[OrderTotal],
        Result(
            "The order in which processes go through files.",
            lambda a: a.orders,
            printed=Printed("Order of each process in each file", words=2),
        ),
    ]
    sharing: Annotated[
        list[Sharing],
        Result("Files of one process, and of several.", lambda a: a.sharing, printed=Printed("Shared files", words=2)),
    ]
    files: Annotated[
        list[File],
        Result("Each file.", lambda a: a.files[:MOST_FILES], printed=Drawn.SPECIALLY, page="files"),
    ]
    rereads: Annotated[
        list[Reread],
        Result(
            "Reads of bytes that had been read before, with no write to the file in between.",
            lambda a: a.revisits.rereads,
            printed=Drawn.SPECIALLY,
        ),
    ]
    cycles: Annotated[
        list[ReadModifyWrite],
        Result(
            "Reads of a range that the same process overwrote with its next transfer.",
            lambda a: a.revisits.cycles,
            printed=Drawn.SPECIALLY,
        ),
    ]
    examined_calls: Annotated[
        int | None,
        Result(
            "calls that were examined for `rereads` and `cycles`",
            lambda a: None if a.counters_only else a.revisits.examined,
        ),
    ]
    candidate_calls: Annotated[
        int | None,
        Result("of so many", lambda a: None if a.counters_only else a.revisits.candidates),
    ]
    metadata: Annotated[
        Metadata,
        Result(
            "Requests to the metadata servers, and their relation to the transfers.",
            lambda a: a.counters.metadata() if a.counters else a.metadata,
            printed=Printed("Metadata", rows=lambda load: load.kinds, note=_metadata_note),
        ),
    ]
    activity: Annotated[
        Activity,
        Result("Bytes over time.", lambda a: a.activity, printed=Drawn.SPECIALLY, page="activity"),
    ]
    servers: Annotated[
        Servers,
        Result("The load of each server.", lambda a: a.servers, printed=Drawn.SPECIALLY, page="servers"),
    ]


Tables = TypeVar("Tables", bound=ReportTables)


def report_tables(dataset: Dataset, settings: Settings | None = None) -> ReportTables:
    """All tables and findings of one data set. A few passes over its calls: about a minute for 10^8 on two cores."""
    return computed(ReportTables, Answers(dataset, settings))


def computed(kind: type[Tables], answers: Answers) -> Tables:
    """The same of `kind`: ReportTables, or a class that adds tables to it."""
    return kind(**{name: result.compute(answers) for name, (_, result) in results_of(kind).items()})


def absences(dataset: Dataset) -> list[Absence]:
    """What was lost first, then what was cut short, then what could not be seen; and what processes lost unsaid."""
    rows = dataset.absences.to_pyarrow().to_pylist()
    groups: dict[tuple[str, str, str | None], list[dict[str, int | None]]] = {}
    for row in rows:
        groups.setdefault((row["what"], row["subject"], row["detail"]), []).append(row)
    told = [
        Absence(
            what=what,
            subject=subject,
            count=None if any(row["count"] is None for row in own) else sum(row["count"] or 0 for row in own),
            processes=None if any(row["process"] is None for row in own) else len({row["process"] for row in own}),
            detail=detail,
        )
        for (what, subject, detail), own in groups.items()
    ]
    if not any(one.what == "lost" for one in told):
        lost = dataset.processes.filter(dataset.processes.lost > 0).select("lost").to_pyarrow().column("lost")
        if len(lost):
            told.append(Absence("lost", "calls", sum(lost.to_pylist()), len(lost), "made and not recorded"))
    order = ["lost", "partial", "not-seen"]
    return sorted(told, key=lambda one: (order.index(one.what) if one.what in order else 3, one.subject))
