"""What the viewer is told: small tables as JSON. web/src/data.ts and predictability.ts declare the
same: a test compares names and types.

The tables of a run are those that report_tables.py declares with a name on the page. Classes here are those of which a
page holds less, or which a page alone needs.

Times are seconds since the run's start, rates are bytes per second, both as floats; sizes and counts are whole numbers.
None means that the source does not tell. `file` and `process` are the data set's indices; `rank` is of MPI_COMM_WORLD,
or the process's index where there was no MPI.
"""

from dataclasses import dataclass, field
from typing import Any

from halcyon.observe.analysis.files import FileUse
from halcyon.observe.analysis.find_runs import Unread
from halcyon.observe.analysis.phase_sketch import PhaseSketch
from halcyon.predict.page import Predictability

VERSION = 6
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
    log_paths: dict[str, str]
    """By index, of files that calls of level log alone name: they are not among Document.files."""
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
    results: dict[str, Any] = field(default_factory=dict)
    """The tables of the run by their names on the page (report_tables.py), where they stand beside the other fields."""
    predictability: Predictability | None = None
    timeline: Timeline | None = None
    experiment: Experiment | None = None
    version: int = VERSION
