"""All analyses of one data set, each made once, when something first asks for it."""

from dataclasses import replace
from functools import cached_property

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.access import OrderTotal, Pattern, Sharing, SizeBin, orders, patterns, sharing, sizes
from halcyon.observe.analysis.activity import Activity, activity
from halcyon.observe.analysis.bandwidth import Bandwidth, bandwidths
from halcyon.observe.analysis.collectives import Collectives
from halcyon.observe.analysis.concurrency import Concurrency, concurrency
from halcyon.observe.analysis.counted import Counted, counted
from halcyon.observe.analysis.counted_files import with_counters
from halcyon.observe.analysis.counted_servers import counted_servers
from halcyon.observe.analysis.decomposition import (
    CallExample,
    FunctionShares,
    Part,
    examples,
    function_shares,
    parts,
    shown_ranks,
)
from halcyon.observe.analysis.files import File, files
from halcyon.observe.analysis.metadata import Metadata, metadata
from halcyon.observe.analysis.mpiio_own import MpiIoOwn, mpiio_own
from halcyon.observe.analysis.mpiio_used import MpiIoUsed, mpiio_used
from halcyon.observe.analysis.open_modes import open_modes
from halcyon.observe.analysis.phases import (
    IO,
    Distribution,
    Phase,
    Phases,
    Variability,
    call_durations,
    variability,
    weighty,
)
from halcyon.observe.analysis.private_files import private_files
from halcyon.observe.analysis.rank_work import RankWork, rank_work
from halcyon.observe.analysis.revisits import Revisits
from halcyon.observe.analysis.servers import Servers, servers
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.analysis.stragglers import Straggler, stragglers
from halcyon.observe.analysis.survey import Survey, any_row
from halcyon.observe.analysis.times import RankTotal, TimeSpent, rank_totals, times
from halcyon.observe.dataset import Dataset
from halcyon.observe.schema import Kind, Level


class Answers:
    """What the findings, the report and the viewer read: each attribute is one module's answer (docs/analysis.md)."""

    def __init__(self, dataset: Dataset, settings: Settings | None = None) -> None:
        self.survey = Survey(dataset, settings)
        self.settings = self.survey.settings

    @cached_property
    def counters(self) -> Counted | None:
        """What the source's counters say, beside its calls or instead of them."""
        return counted(self.survey)

    @cached_property
    def counters_only(self) -> bool:
        """Whether the source kept no calls, but counted something."""
        dataset = self.survey.dataset
        return not self.survey.calls and any(any_row(table) for table in (dataset.counters, dataset.activity))

    @property
    def counted(self) -> Counted | None:
        """The same, of sources that kept no calls."""
        return None if self.survey.calls else self.counters

    @cached_property
    def calls_cut(self) -> bool:
        """Whether the source had no room for all calls (Darshan's DXT), which its counters count."""
        return self.counters is not None and any_row(_cut(self.survey.dataset.absences))

    @cached_property
    def bandwidths(self) -> list[Bandwidth]:
        known = self.counters if self.calls_cut else self.counted
        return known.bandwidths() if known else bandwidths(self.survey)

    @cached_property
    def times(self) -> list[TimeSpent]:
        return self.counters.times() if self.counters else times(self.survey)

    @cached_property
    def ranks(self) -> list[RankTotal]:
        found = rank_totals(self.survey)
        return [replace(one, metadata_s=None) for one in found] if self.counters else found

    @cached_property
    def functions(self) -> list[FunctionShares]:
        return function_shares(self.survey)

    @cached_property
    def functions_per_rank(self) -> list[FunctionShares]:
        return function_shares(self.survey, per_rank=True)

    @cached_property
    def mpiio_own(self) -> list[MpiIoOwn]:
        """MPI-IO's own time in each file, where `functions` cannot tell; none where they can."""
        if any(one.level == Level.MPIIO for one in self.functions):
            return []
        return mpiio_own(self.survey, self.counters)

    @cached_property
    def parts(self) -> list[Part]:
        return parts(self.survey)

    @cached_property
    def examples(self) -> list[CallExample]:
        return examples(self.survey)

    @cached_property
    def concurrency(self) -> Concurrency:
        return concurrency(self.survey)

    @cached_property
    def phases(self) -> Phases:
        return Phases(self.survey)

    @cached_property
    def phases_of(self) -> dict[str, list[Phase]]:
        """The phases of each kind: write, read, all."""
        return {kind: self.phases.of(kind) for kind in (Kind.WRITE, Kind.READ, IO)}

    @cached_property
    def mpi(self) -> bool:
        """Whether the run has ranks of MPI: only these are compared, and wait for one another."""
        return self.survey.mpi

    @cached_property
    def variability(self) -> list[Variability]:
        found = (variability(weighty(own, self.settings), ranked=self.mpi) for own in self.phases_of.values())
        return [one for one in found if one is not None]

    @cached_property
    def stragglers(self) -> dict[str, list[Straggler]]:
        """Per kind: write, read; without MPI, nobody."""
        if not self.mpi:
            return {Kind.WRITE: [], Kind.READ: []}
        return {
            kind: stragglers(weighty(self.phases_of[kind], self.settings), self.hosts, self.settings)
            for kind in (Kind.WRITE, Kind.READ)
        }

    @cached_property
    def open_modes(self) -> ibis.Table:
        return open_modes(self.survey)

    @cached_property
    def rank_work(self) -> dict[str, dict[int, RankWork]]:
        """Per kind: write, read."""
        return {kind: rank_work(self.survey, self.open_modes, kind) for kind in (Kind.WRITE, Kind.READ)}

    @cached_property
    def call_durations(self) -> list[Distribution]:
        return call_durations(self.survey)

    @cached_property
    def sizes(self) -> list[SizeBin]:
        return self.counted.sizes() if self.counted else sizes(self.survey)

    @cached_property
    def patterns(self) -> list[Pattern]:
        return patterns(self.survey)

    @cached_property
    def orders(self) -> list[OrderTotal]:
        return orders(self.survey)

    @cached_property
    def sharing(self) -> list[Sharing]:
        return sharing(self.survey)

    @cached_property
    def files(self) -> list[File]:
        if self.counted:
            return self.counted.files
        found = files(self.survey)
        return with_counters(found, self.counters.files) if self.counters else found

    @cached_property
    def metadata(self) -> Metadata:
        """Of calls; counters have their own."""
        return metadata(self.survey)

    @cached_property
    def activity(self) -> Activity:
        return activity(self.survey)

    @cached_property
    def servers(self) -> Servers:
        return counted_servers(self.counted) if self.counted else servers(self.survey)

    @cached_property
    def revisits(self) -> Revisits:
        return Revisits(self.survey)

    @cached_property
    def collectives(self) -> Collectives:
        return Collectives(self.survey)

    @cached_property
    def mpiio_used(self) -> MpiIoUsed:
        return mpiio_used(self.survey)

    @cached_property
    def private_files(self) -> set[int]:
        """Files that the MPI library keeps for itself."""
        return private_files(self.survey)

    @cached_property
    def hosts(self) -> dict[int, str | None]:
        """Of each rank."""
        rows = _hosts(self.survey.processes).to_pyarrow().to_pylist()
        return {row["shown_rank"]: row["host"] for row in rows}

    @property
    def nodes(self) -> int | None:
        """How many; None: the source does not tell."""
        return len({host for host in self.hosts.values() if host is not None}) or None

    @cached_property
    def shown_ranks(self) -> dict[int, int]:
        """Of each process: its rank, or its index."""
        return shown_ranks(self.survey)

    @cached_property
    def io_s(self) -> float:
        """Time in the application's own I/O calls, in sum over processes."""
        return self.counters.io_s if self.counters else self.survey.io_ns / 1e9

    @cached_property
    def bytes_moved(self) -> tuple[int, int]:
        """Read and written, between processes and files."""
        if self.counters:
            return self.counters.bytes_moved
        return sum(rank.bytes_read for rank in self.ranks), sum(rank.bytes_written for rank in self.ranks)

    @cached_property
    def facts(self) -> dict[str, str]:
        """Facts of the run, and those that are the same in all processes."""
        rows = _facts(self.survey.dataset.facts).to_pyarrow().to_pylist()
        seen: dict[str, set[str]] = {}
        for row in rows:
            seen.setdefault(row["key"], set()).add(row["value"])
        return {key: values.pop() for key, values in sorted(seen.items()) if len(values) == 1}


@question
def _cut(absences: ibis.Table) -> ibis.Table:
    return absences.filter((_.what == "partial") & _.subject.startswith("DXT_"))


@question
def _hosts(processes: ibis.Table) -> ibis.Table:
    return processes.select("shown_rank", "host")


@question
def _facts(facts: ibis.Table) -> ibis.Table:
    return facts.filter(_.file.isnull()).select("key", "value").distinct()
