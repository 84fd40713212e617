"""What the viewer is told: small tables as JSON. web/src/data.ts declares the same, a test compares the two.

Times are seconds since the run's start, rates are bytes per second, both as floats; sizes and counts are whole numbers.
None means that the source does not tell. `file` and `process` are the data set's indices; `rank` is of MPI_COMM_WORLD,
or the process's index where there was no MPI.
"""

from dataclasses import dataclass, field

VERSION = 1
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
    calls: int
    filesystems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Fact:
    """A fact of the run: an MPI hint, a version, an environment variable."""

    key: str
    value: str


@dataclass(frozen=True)
class Absence:
    """Something the data set does not hold: `what` is not-seen, lost or partial."""

    what: str
    subject: str
    count: int | None
    processes: int | None
    """How many processes it concerns; None: the run."""
    detail: str | None


@dataclass(frozen=True)
class Bandwidth:
    """Bandwidths of one kind (read, write or all), in one file or (`file` None) in the whole run.

    Wright 2014, 4.1. `perceived_posix` is measured, `perceived_posix_low` and `…_high` bound it from MPI-IO's side.
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


@dataclass(frozen=True)
class TimeSpent:
    """Time of all processes in calls of one level and kind; `self_s` leaves out the calls that these made."""

    level: str
    kind: str
    calls: int
    errors: int
    bytes: int
    seconds: float
    self_s: float | None
    waited_s: float | None
    """Before the calls, for Halcyon to let them pass."""


@dataclass(frozen=True)
class FunctionShares:
    """Where the time of one MPI-IO or HDF5 function went; the parts add up to `seconds`.

    `communicate_s` is the function's own time: what is left without the calls below it.
    """

    level: str
    function: str
    calls: int
    seconds: float
    lock_s: float
    read_s: float
    write_s: float
    unlock_s: float
    other_s: float
    communicate_s: float


@dataclass(frozen=True)
class Part:
    """One lower function that `function` called, over all its calls."""

    level: str
    function: str
    part_level: str
    part: str
    kind: str
    calls: int
    bytes: int
    seconds: float


@dataclass(frozen=True)
class ConcurrencySeries:
    """Calls of one level and kind in progress at once: the mean of each bin."""

    level: str
    kind: str
    mean: list[float]


@dataclass(frozen=True)
class Concurrency:
    """Calls in progress over time, from second 0 in bins of `bin_s`."""

    bin_s: float
    series: list[ConcurrencySeries]


@dataclass(frozen=True)
class ActivitySeries:
    """`bytes[i]`: moved in bin i."""

    kind: str
    bytes: list[float]


@dataclass(frozen=True)
class Activity:
    """Bytes moved over time by all processes, from second 0 in bins of `bin_s`.

    `counted`: by the source, whose `module` it is; else from the calls.
    """

    bin_s: float
    counted: bool
    module: str | None
    series: list[ActivitySeries]


@dataclass(frozen=True)
class Phase:
    """A burst of I/O between two pauses. `seconds[i]` is the I/O time of `ranks[i]` within it.

    `kind`: of writes, of reads, or of all calls; the same burst has the same number in each.
    """

    number: int
    kind: str
    start_s: float
    end_s: float
    bytes: int
    throughput: float | None
    """Bytes over the time of the slowest rank."""
    rank_count: int
    """Of many ranks, `ranks` and `seconds` hold only some: spread evenly over their order by time, and the slowest."""
    ranks: list[int]
    seconds: list[float]
    median_s: float
    """Of all ranks, as the following."""
    variation: float | None
    """Coefficient of variation of `seconds`."""
    max_over_median: float | None


@dataclass(frozen=True)
class Straggler:
    """A rank that is among the slowest again and again, in phases of one kind."""

    kind: str
    rank: int
    host: str | None
    phases: int
    slow_phases: int
    factor: float
    """Median over its slow phases of its time over the median rank's."""
    bytes_factor: float | None
    """The same of its bytes: as large when it has more to do than the others."""
    seconds_lost: float


@dataclass(frozen=True)
class SizeBin:
    """Reads or writes of one level that ask for `lower` <= bytes < `upper`."""

    level: str
    kind: str
    lower: int
    upper: int
    calls: int
    bytes: int


@dataclass(frozen=True)
class File:
    """One file. The counts of patterns are of reads and writes at the POSIX level."""

    file: int
    path: str
    filesystem: str | None
    block_bytes: int | None
    stripe_bytes: int | None
    servers: list[str]
    opens: int
    stats: int
    syncs: int
    reads: int
    writes: int
    bytes_read: int
    bytes_written: int
    seconds: float
    consecutive: int
    strided: int
    random: int
    small: int
    unaligned: int | None
    crossing: int | None
    """Accesses that would fit one stripe and touch two."""
    rank_count: int
    ranks: str
    """As text: 0–63, 70."""


@dataclass(frozen=True)
class Server:
    """One server: bytes per bin of `Servers.bin_s`, from second 0."""

    name: str
    files: int
    bytes_read: int
    bytes_written: int
    read: list[float]
    written: list[float]


@dataclass(frozen=True)
class Servers:
    """What each server or storage target was asked for, as far as the files' layouts are known."""

    bin_s: float
    imbalance: float | None
    """Load of the busiest over the mean load; 1 is even."""
    servers: list[Server]
    unknown_bytes: int
    """Moved to or from files whose layout is not known."""


@dataclass(frozen=True)
class Distribution:
    """Cumulated: `share[i]` of the values are at most `seconds[i]`."""

    name: str
    seconds: list[float]
    share: list[float]


@dataclass(frozen=True)
class Evidence:
    """One measured figure behind a finding, ready to be read: ("bytes read before they were overwritten", "1.2 GB")."""

    what: str
    value: str


@dataclass(frozen=True)
class Finding:
    """What is wrong, how it is known, what to change. `severity` is high, medium or low."""

    key: str
    title: str
    severity: str
    explanation: str
    change: str
    seconds_lost: float | None
    estimate: str | None
    """How seconds_lost was estimated."""
    calls: int | None
    bytes: int | None
    evidence: list[Evidence]
    files: list[int]
    ranks: list[int]
    start_s: float | None
    end_s: float | None


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
class Document:
    """All of it."""

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
    phases: list[Phase] = field(default_factory=list)
    stragglers: list[Straggler] = field(default_factory=list)
    sizes: list[SizeBin] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    servers: Servers | None = None
    findings: list[Finding] = field(default_factory=list)
    timeline: Timeline | None = None
    version: int = VERSION
