"""What logs.py measures: who writes what, on which test bed, by which way; and what it keeps of a run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from study_bed import study_bed

from halcyon.delta.row_file import Row
from halcyon.testbed.plan import Plan

RANKS = 4
PLAN: Plan = study_bed(RANKS, 1, storage_link=400, storage=4)
REPEAT = 7
"""Runs of each key."""
HALF_WIDTH = 0.15
"""Of the 95 % confidence interval of the mean of a key's bandwidths, over the mean: wider, and it is not met."""
WAYS = ("plain", "log", "fuse")
"""A plain file; a container through the library; a container through `halcyon mount`."""
POINTS = 60
"""Of a curve over time."""


@dataclass(frozen=True)
class Pattern:
    """`what`: for people. `writes`: the setting that says how much; `smaller` divides it. `files`: names of the plain
    files, put onto the storage hosts one by one; empty: GlusterFS chooses by the name."""

    what: str
    app: str
    settings: Mapping[str, object]
    writes: str
    files: Sequence[str] = ()

    def sized(self, smaller: float) -> dict[str, object]:
        least = int(str(self.settings.get("blocks_per_call", 1))) if self.app == "writers" else 1
        amount = int(str(self.settings[self.writes]))
        return {**self.settings, self.writes: max(least, round(amount / smaller / least) * least)}


def _writers(what: str, files: int, **settings: object) -> Pattern:
    names = [f"writers.{i:04d}" for i in range(files)]
    given = {"block": 47 << 10, "blocks": 320, "blocks_per_call": 16, "files": files, "do": "write", "keep": 1}
    return Pattern(what, "writers", {**given, **settings}, "blocks", names)


PATTERNS: Mapping[str, Pattern] = {
    "nn": _writers("N-N: a file for each rank", RANKS, way="posix"),
    "nm": _writers("N-M: two files, blocks of 47 KiB in turn", 2, way="posix"),
    "n1": _writers("N-1: one file, blocks of 47 KiB in turn", 1, way="posix"),
    "n1_views": _writers("N-1 by MPI-IO, each rank through a view", 1, way="view"),
    "n1_views_unsieved": _writers("the same without data sieving", 1, way="view", sieve="disable"),
    "n1_collective": _writers("the same, all ranks together", 1, way="collective"),
    "bt_full": Pattern(
        "BT-IO-like, class A: collective", "bt-io", {"class": "A", "way": "full", "writes": 6}, "writes"
    ),
    "bt_simple": Pattern(
        "BT-IO-like, class A: a call for each row", "bt-io", {"class": "A", "way": "simple", "writes": 3}, "writes"
    ),
    "flash": Pattern(
        "FLASH-IO-like: collective", "flash-io", {"blocks": 20, "side": 16, "way": "collective"}, "blocks"
    ),
    "flash_independent": Pattern(
        "FLASH-IO-like: each rank for itself", "flash-io", {"blocks": 20, "side": 16, "way": "independent"}, "blocks"
    ),
}
MOUNTED = ("n1", "n1_views_unsieved")
"""Patterns that are also written through `halcyon mount`, by calls of POSIX and of MPI-IO (Wright 2014, figure 5.3)."""
READ_BACK = "n1"
"""The pattern of the files that are read back."""
READERS_ON = (4, 2, 1)
"""Hosts on which as many ranks as wrote it read a file."""


@dataclass(frozen=True)
class Key:
    """Which run. `durable`: each rank syncs, within the time; else *cached*. `hosts`: of the ranks. `reads`: it reads
    back what was written before."""

    pattern: str
    way: str = "plain"
    durable: bool = True
    hosts: int = RANKS
    reads: bool = False

    @property
    def text(self) -> str:
        if self.reads:
            return f"{self.pattern}_read_on_{self.hosts}_{self.way}"
        return f"{self.pattern}_{'durable' if self.durable else 'cached'}_{self.way}"


def keys() -> Iterator[Key]:
    """All that are measured."""
    for pattern in PATTERNS:
        for durable in (True, False):
            for way in ("plain", "log"):
                yield Key(pattern, way, durable)
    for pattern in MOUNTED:
        yield Key(pattern, "fuse")
    for hosts in READERS_ON:
        for way in WAYS:
            yield Key(READ_BACK, way, hosts=hosts, reads=True)


@dataclass(frozen=True)
class Setup:
    """All runs of one file have it in common."""

    patterns: Mapping[str, Mapping[str, object]]
    ranks: int = RANKS

    @classmethod
    def of(cls, smaller: float) -> "Setup":
        return cls({name: {"app": one.app, **one.sized(smaller)} for name, one in PATTERNS.items()})


@dataclass(frozen=True)
class Run:
    """`wall_s`, `slowest_s`, `sum_s`: as the writers print them (logged_writers.py). `rates`: of the run's trace, in
    bytes/s, by their names in the table *bandwidth* of `halcyon analyze`. `in_progress`: calls of POSIX that transfer
    at a time, on average, in as many equal parts of `transfers_s`, the time from the first to the last. `problem`: why
    it does not count."""

    key: Key
    bytes: int
    files: int
    wall_s: float
    slowest_s: Mapping[str, float]
    sum_s: Mapping[str, float]
    rates: Mapping[str, float | None]
    in_progress: Sequence[float]
    transfers_s: float
    at_s: float
    programs: str
    boot: str
    problem: str | None = None

    @property
    def bandwidth(self) -> float:
        """Of all ranks together (Wright 2014: perceived), from before the open to behind the close."""
        return self.bytes / self.wall_s

    @property
    def per_process(self) -> float:
        """As if the calls that transfer or sync had been made one after the other (Wright 2014: effective)."""
        return self.bytes / sum(self.sum_s.get(step, 0.0) for step in ("write", "read", "sync"))


def run_of(row: Row) -> Run:
    return Run(**(row | {"key": Key(**row["key"])}))


@dataclass
class Counted:
    """The runs of a key that count."""

    key: Key
    runs: list[Run] = field(default_factory=list)


def counted(runs: Sequence[Run]) -> dict[Key, Counted]:
    """Of each key that is measured."""
    found = {key: Counted(key) for key in keys()}
    for run in runs:
        if run.problem is None and run.key in found:
            found[run.key].runs.append(run)
    return found
