"""Finds the compiled part of the package when a verb needs it, so that the rest works without it."""

from importlib import import_module
from os import PathLike
from types import ModuleType
from typing import Any, Protocol, cast

from halcyon.errors import UnavailableError


class RebuiltView(Protocol):
    """What became of a view."""

    iterations: int
    remarks: list[str]
    """What it cannot show as the configuration means it."""


class ConfigurationCheck(Protocol):
    """What is known of a configuration before anything runs."""

    summary: str
    refusals: list[str]
    """Why `open` would fail."""
    warnings: list[str]
    """What `open` accepts, but is hardly meant."""
    verdict: str
    """`OK: ` and what was looked at; empty with refusals."""


class TraceReader(Protocol):
    """What one process left of its recording; times are nanoseconds of its node's monotonic clock."""

    pid: int
    parent_pid: int
    host: bytes
    program: bytes
    command: bytes
    clock: bytes
    """Processes with the same share a clock."""
    start_ns: int
    start_realtime_ns: int
    end_ns: int | None
    ended: str | None
    """exit, exec or abort; None: it was killed."""
    lost: int
    functions: dict[int, tuple[str, str, str]]
    """By number: name, level, kind."""
    files: list[tuple[int, bytes, int, int]]
    """Id, path, block size (-1: not known), type of the file system (0: not known)."""
    facts: list[tuple[int, int, bytes, bytes]]
    """File, time, key, value."""
    absences: list[tuple[str, int]]
    damages: list[str]
    chunk_count: int

    def chunk(self, index: int) -> dict[str, Any]:
        """Columns of call_record by name, as numpy arrays; -1 where there is no offset, bytes or moved."""
        ...


class Replay(Protocol):
    """A model that learns one recorded thread, and scores each of its forecasts."""

    def score(self, columns: dict[str, Any]) -> dict[str, Any]:
        """The thread's next calls in the order of their ends, as numpy arrays; their scores, likewise.

        Given: context, function, file (uint32), operation, truncates (uint8), offset, bytes, moved,
        start_ns, wait_ns, duration_ns (int64). Scores are from 0 to 1, NaN where there is nothing to score: of the
        forecasts weighed by their probabilities and (`…_even`) all alike; of a naive predictor `<its name>.…`.
        UsageError: a column is missing, or they differ in length.
        """
        ...

    def save(self, path: str, functions: dict[int, str], contexts: dict[int, str]) -> None:
        """Writes the model into a file, whole, with names of functions and call stacks by their numbers."""
        ...

    def state(self) -> dict[str, Any]:
        """What the model has become: counts, memory in bytes, phases, and when it expects the next one."""
        ...


class SavedModels(Protocol):
    """A file of the models of a process' threads, or of one grammar."""

    kind: str
    """model or grammar"""
    threads: int

    def length(self, index: int) -> int:
        """Calls that the grammar of a thread stands for."""
        ...

    def thread(self, index: int) -> dict[str, Any]:
        """What halcyon.predict.learnt makes a Learnt of."""
        ...


class CoordinatorWords(Protocol):
    """In which a coordinator tells operators of its state, and limits of the jobs that ask it."""

    STATES: tuple[str, ...]
    """Of applications, in the order in which they are listed."""
    FAULTS: tuple[str, ...]
    """Names of counts of things that should not happen."""
    MOST_PATHS: int
    """Coordinated paths of a job."""
    LONGEST_PATH: int
    """Bytes of one of them."""
    MOST_PROCESSES: int
    """Of a job on a node, that can take turns."""
    LONGEST_ACCOUNT: int
    """Bytes."""

    def node_name(self) -> str:
        """By which agents of this node name their files."""
        ...


class Core(Protocol):
    """What the command line uses of halcyon._core. Its functions raise halcyon.errors."""

    def rebuild_view(self, directory: str, store_type: str = "hdf5") -> RebuiltView:
        """Replaces the view by rename; says how many iterations it shows."""
        ...

    def TraceReader(self, path: bytes, salvage: bool = False) -> TraceReader:  # noqa: N802
        """Opens a trace. ConfigError: it is damaged; the message names file and offset."""
        ...

    def Replay(  # noqa: N802
        self, paths: list[str], *, memory_bytes: int = ..., distinct_values: int = ..., least_pause_ns: int = ...
    ) -> Replay:
        """A new model. `paths`: of the files, by their numbers."""
        ...

    def SavedModels(self, path: str | bytes | PathLike[str]) -> SavedModels:  # noqa: N802
        """Reads a file of models. ConfigError: it is damaged; the message names file and byte."""
        ...

    def rules_of(self, sequence: list[int]) -> list[dict[str, Any]]:
        """The rules of the grammar of a sequence, as in SavedModels.thread."""
        ...

    def call_table(self) -> list[tuple[str, str, str, str, bool, tuple[str, ...]]]:
        """Every recorded function: name, level, kind, meaning of `argument`, whether it is collective, its symbols."""
        ...

    coordinator: CoordinatorWords

    def check_listener(self, socket: int, address: str, named: int | None = None) -> None:
        """Of a socket that is connected to a Unix address. UsageError: who listens there is neither root, nor this
        user, the owner of the folder of the socket's file, or the user `named`."""
        ...

    CALL_LEVELS: tuple[str, ...]
    """Words for levels, in the order of the recorder's numbers."""
    CALL_KINDS: tuple[str, ...]

    def call_name_number(self, name: str) -> int:
        """The number that models have for a function."""
        ...

    def check(
        self, config: str, ranks: int = 0, ranks_per_node: int = 0, parameters: dict[str, float] = ...
    ) -> ConfigurationCheck:
        """Reads a configuration, for that many ranks where > 0 (0 per node: all on one); ConfigError: it is wrong."""
        ...


def load_compiled(name: str) -> ModuleType:
    """The compiled module `name` of the package. UnavailableError: there is none, or a library of it is missing."""
    try:
        return import_module(f"halcyon.{name}")
    except ModuleNotFoundError as why:
        message = f"this installation lacks the compiled module halcyon.{name}; install Halcyon with `pip install .`"
        raise UnavailableError(message) from why
    except ImportError as why:
        raise UnavailableError(
            f"the compiled module halcyon.{name} cannot be loaded: {why}. Install the library that it names, of the "
            "version that this build of Halcyon was linked with, or build Halcyon here: `pip install .`"
        ) from why


def core() -> Core:
    """The module halcyon._core."""
    return cast(Core, load_compiled("_core"))
