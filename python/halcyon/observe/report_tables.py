"""Everything that is told of a run: for `halcyon analyze`, the report and the viewer."""

from dataclasses import dataclass
from pathlib import Path

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
from halcyon.observe.schema import RunInfo

MOST_FILES = 10_000
"""Of a run: the first so many by bytes are told one by one."""


@dataclass(frozen=True)
class Absence:
    """Something that the data set does not hold; `processes`: how many it concerns, None: the run as a whole."""

    what: str
    subject: str
    count: int | None
    processes: int | None
    detail: str | None


@dataclass(frozen=True)
class ReportTables:
    """Plain rows; docs/analysis.md says what each table tells. Times are seconds since the run's start."""

    directory: Path
    info: RunInfo
    processes: int
    hosts: int | None
    mpi: bool
    """Processes have ranks; without MPI, what is called a rank here is a process's index, and processes are not
    compared: they need not do the same, nor wait for one another."""
    calls: int | None
    """Without `setup_calls`. None, as of other numbers: the source does not tell."""
    counters_only: bool
    """There are no calls; bandwidths, times, sizes, files, servers and findings are of what the source counted."""
    setup_calls: int | None
    """MPI's start and end and what these make: left out of everything."""
    file_count: int
    """Files that calls were made on, of which `files` holds the first MOST_FILES."""
    duration_s: float
    io_s: float
    resolution_s: float
    """To which times were merged: a nanosecond, or a step of a very large run."""
    absences: list[Absence]
    facts: dict[str, str]
    findings: list[Finding]
    bandwidths: list[Bandwidth]
    times: list[TimeSpent]
    ranks: list[RankTotal]
    functions: list[FunctionShares]
    functions_per_rank: list[FunctionShares]
    parts: list[Part]
    examples: list[CallExample]
    concurrency: Concurrency
    phases: dict[str, list[Phase]]
    """Per kind: write, read, all."""
    phase_gap_s: float | None
    """Pauses longer than this separate phases."""
    variability: list[Variability]
    stragglers: dict[str, list[Straggler]]
    call_durations: list[Distribution]
    sizes: list[SizeBin]
    orders: list[OrderTotal]
    sharing: list[Sharing]
    files: list[File]
    metadata: Metadata
    activity: Activity
    servers: Servers
    rereads: list[Reread]
    cycles: list[ReadModifyWrite]
    examined_calls: int | None
    """For `rereads` and `cycles`, of `candidate_calls`."""
    candidate_calls: int | None


def report_tables(dataset: Dataset, settings: Settings | None = None) -> ReportTables:
    """All tables and findings of one data set. A few passes over its calls: about a minute for 10^8 on two cores."""
    answers = Answers(dataset, settings)
    survey, unseen = answers.survey, answers.counters_only
    hosts = {host for host in answers.hosts.values() if host is not None}
    return ReportTables(
        directory=dataset.directory,
        info=dataset.info,
        processes=len(answers.shown_ranks),
        hosts=len(hosts) or None,
        mpi=answers.mpi,
        calls=None if unseen else survey.calls,
        counters_only=unseen,
        setup_calls=None if unseen else survey.setup_calls,
        file_count=len(answers.files),
        duration_s=survey.end_ns / 1e9,
        io_s=answers.io_s,
        resolution_s=survey.resolution_ns / 1e9,
        absences=absences(dataset),
        facts=answers.facts,
        findings=findings(answers),
        bandwidths=answers.bandwidths,
        times=answers.times,
        ranks=answers.ranks,
        functions=answers.functions,
        functions_per_rank=answers.functions_per_rank,
        parts=answers.parts,
        examples=answers.examples,
        concurrency=answers.concurrency,
        phases=answers.phases_of,
        phase_gap_s=None if unseen else answers.phases.split.gap_ns / 1e9,
        variability=answers.variability,
        stragglers=answers.stragglers,
        call_durations=answers.call_durations,
        sizes=answers.sizes,
        orders=answers.orders,
        sharing=answers.sharing,
        files=answers.files[:MOST_FILES],
        metadata=answers.counters.metadata() if answers.counters else answers.metadata,
        activity=answers.activity,
        servers=answers.servers,
        rereads=answers.revisits.rereads,
        cycles=answers.revisits.cycles,
        examined_calls=None if unseen else answers.revisits.examined,
        candidate_calls=None if unseen else answers.revisits.candidates,
    )


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
