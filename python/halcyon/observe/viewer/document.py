"""What the viewer is told: small tables as JSON. web/src/data.ts and predictability.ts declare the
same: a test compares them.

Most of them are the tables of the analyses as they are, with what follows from their fields; classes here are of what a
page holds less of, or what it alone needs.

Times are seconds since the run's start, rates are bytes per second, both as floats; sizes and counts are whole numbers.
None means that the source does not tell. `file` and `process` are the data set's indices; `rank` is of MPI_COMM_WORLD,
or the process's index where there was no MPI.
"""

from dataclasses import dataclass, field

from halcyon.observe.analysis.access import SizeBin
from halcyon.observe.analysis.activity import Activity, ActivitySeries
from halcyon.observe.analysis.concurrency import Concurrency, ConcurrencySeries
from halcyon.observe.analysis.decomposition import FunctionShares, Part
from halcyon.observe.analysis.files import FileUse
from halcyon.observe.analysis.find_runs import Unread
from halcyon.observe.analysis.phase_sketch import PhaseSketch
from halcyon.observe.analysis.phases import Distribution
from halcyon.observe.analysis.servers import Server, Servers
from halcyon.observe.analysis.stragglers import Straggler
from halcyon.observe.analysis.times import TimeSpent
from halcyon.observe.findings import Evidence, Finding, Span
from halcyon.observe.report_tables import Absence
from halcyon.predict.accuracy import Accuracy
from halcyon.predict.bounds import Bound
from halcyon.predict.curves import Curve
from halcyon.predict.figures import Arrivals, Figures
from halcyon.predict.page import Predictability
from halcyon.predict.scores import Model, Stretch

TABLES = (
    Absence,
    Accuracy,
    Activity,
    ActivitySeries,
    Arrivals,
    Bound,
    Concurrency,
    ConcurrencySeries,
    Curve,
    Distribution,
    Evidence,
    Figures,
    Finding,
    FunctionShares,
    Model,
    Part,
    PhaseSketch,
    Predictability,
    Server,
    Servers,
    SizeBin,
    Span,
    Straggler,
    Stretch,
    TimeSpent,
    Unread,
)
"""Tables of the analyses that the page takes as they are."""

VERSION = 5
"""Of this contract. A viewer says so when it is given another one."""


@dataclass(frozen=True)
class Run:
    """What is known of the run as a whole."""

    title: str
    source: str
    command: str | None
    user: str | None
    job: str | None
    start_epoch_s: float | None
    duration_s: float | None
    ranks: int | None
    processes: int
    hosts: int | None
    files: int
    calls: int | None
    """Without `setup_calls`."""
    filesystems: list[str] = field(default_factory=list)
    setup_calls: int | None = 0
    """Of MPI's start and end: only the timeline has them."""
    ended_badly: str | None = None
    """How the command ended, in a sentence; None when it ended well, or nobody knows."""
    counters_only: bool = False
    """The source kept no calls: all tables are of what it counted itself."""


@dataclass(frozen=True)
class Fact:
    """A fact of the run: an MPI hint, a version, an environment variable."""

    key: str
    value: str


@dataclass(frozen=True)
class Bandwidth:
    """Bandwidths of one kind (read, write or all), in one file or (`file` None) in the whole run.

    Wright 2014, 4.1. `perceived_posix` is measured; `perceived_posix_low` and `…_high` bound it from what `bounds_from`
    says.
    """

    file: int | None
    kind: str
    bytes: int
    perceived_mpi: float | None
    effective_mpi: float | None
    effective_posix: float | None
    perceived_posix: float | None
    perceived_posix_low: float | None
    perceived_posix_high: float | None
    bounds_from: str | None
    posix_cut: bool


@dataclass(frozen=True)
class File(FileUse):
    """One file, and who used it."""

    rank_count: int
    ranks: str
    """As text: 0–63, 70."""


@dataclass(frozen=True)
class TimelineProcess:
    """One row of the timeline."""

    process: int
    rank: int | None
    host: str | None


@dataclass(frozen=True)
class TimelineFunction:
    """What a call's number in the column `function` stands for."""

    call: str
    level: str
    kind: str
    setup: bool = False
    """MPI's start or end."""


@dataclass(frozen=True)
class Column:
    """One binary column, in the order in which they lie in the page. See columns.py."""

    name: str
    type: str
    delta: bool
    length: int


@dataclass(frozen=True)
class Timeline:
    """The calls of all processes; the columns themselves are binary.

    A *lane* holds the calls of one process at one level, by their start: lane = row of `processes` x number of
    `levels` + index in `levels`. Columns `call_*` hold single calls; lane l has those from call_lane[l] to
    call_lane[l + 1]. When there are too many calls, those shorter than `shorter_than_s` are summed up: columns `cell_*`
    have one entry per lane and time bin of `bin_s` that is not empty, `cell_kind` is an index into `kinds`.
    """

    duration_s: float
    processes: list[TimelineProcess]
    levels: list[str]
    kinds: list[str]
    functions: list[TimelineFunction]
    calls: int
    summed_calls: int
    without_times: int
    """Calls that cannot be shown, because the source has no times for them."""
    shorter_than_s: float | None
    bin_s: float | None
    columns: list[Column]


@dataclass(frozen=True)
class ExperimentRun:
    """One of several runs that are compared: what it was given, and its write phases."""

    name: str
    user: str | None
    program: str | None
    start_epoch_s: float | None
    duration_s: float
    ranks: int
    bytes_written: int
    bytes_read: int
    io_share: float | None
    """Of its ranks' time, in I/O calls."""
    write_throughput: float | None
    parameters: dict[str, str]
    """Those of Experiment.parameters."""
    phases: list[PhaseSketch]


@dataclass(frozen=True)
class Experiment:
    """Several runs, and the parameters in which they differ: those with the fewest values first.

    `row` and `column`: the parameters that the grid begins with; None: there are not so many.
    """

    parameters: list[str]
    row: str | None
    column: str | None
    runs: list[ExperimentRun]
    unread: list[Unread]


@dataclass(frozen=True)
class Document:
    """All of it: of one run, or (`experiment`) of several that are compared."""

    run: Run
    facts: list[Fact] = field(default_factory=list)
    absences: list[Absence] = field(default_factory=list)
    bandwidths: list[Bandwidth] = field(default_factory=list)
    times: list[TimeSpent] = field(default_factory=list)
    functions: list[FunctionShares] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    durations: list[Distribution] = field(default_factory=list)
    """How long calls took, a distribution per function."""
    concurrency: Concurrency | None = None
    activity: Activity | None = None
    phases: list[PhaseSketch] = field(default_factory=list)
    stragglers: list[Straggler] = field(default_factory=list)
    sizes: list[SizeBin] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    servers: Servers | None = None
    findings: list[Finding] = field(default_factory=list)
    predictability: Predictability | None = None
    timeline: Timeline | None = None
    experiment: Experiment | None = None
    version: int = VERSION
