"""The client for simulations in Python: NumPy arrays go to the server of the node through shared memory.

    with Session("cloud.yaml", MPI.COMM_WORLD) as h:
        for step in range(steps):
            ...
            h.write("theta", theta)
            h.end_iteration()

Calls raise the errors of halcyon.errors: each lists its own. Any call on a session that is closed, or was opened by the
process that this one was forked off, raises UsageError. halcyon.h says how long each call blocks, and what becomes of
a session whose server is lost. A session is used by one thread at a time.
"""

import math
import os
import sys
import warnings
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType, TracebackType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halcyon.compiled import load_compiled
from halcyon.errors import UnavailableError, UsageError
from halcyon.mpi_match import refuse_other_mpi

Stage = Literal["accepted", "stored", "durable"]
_STAGES: dict[str, int] = {"accepted": 0, "stored": 1, "durable": 2}


@dataclass(frozen=True)
class Stats:
    """Counts of this client since the session was opened; halcyon.h describes each."""

    iteration: int
    blocks: int
    bytes: int
    signals: int
    visible_ns: int
    blocked_ns: int
    skipped_blocks: int
    skipped_bytes: int
    spilled_blocks: int
    spilled_bytes: int
    inlined_blocks: int
    inlined_bytes: int
    server_restarts: int
    arena_bytes: int
    arena_free_bytes: int


Operation = Literal["open", "close", "read", "write", "copy", "sync"]


@dataclass(frozen=True)
class ExpectedAccess:
    """An access to a file that this process is expected to make; halcyon.h describes each member."""

    operation: Operation
    path: str | None
    new_file: bool
    offset: int | None
    bytes: int | None
    begins_s: float
    deviation_s: float
    duration_s: float
    probability: float
    thread: int


@dataclass(frozen=True)
class Forecast:
    """What this process is about to do; halcyon.h describes each member. None: not known."""

    accesses: list[ExpectedAccess]
    complete: bool
    threads: int
    threads_left_out: int
    phase_calls_done: int
    phase_calls_left: int
    phase_bytes_left: int
    phase_time_left_s: float
    phase_confidence: float
    next_phase_s: float | None
    next_phase_deviation_s: float
    next_phase_confidence: float
    next_phase_earliest_s: float | None
    next_phase_latest_s: float | None
    rest_buffer_bytes: int
    phase_buffer_bytes: int
    flush_in_s: float | None
    flush_for_s: float | None


def next_accesses(count: int) -> Forecast:
    """The next `count` accesses of this process to files.

    Raises:
        UsageError: `count` is negative.
        HalcyonSystemError: there is no memory to look ahead in.
        UnavailableError: the program was not started by `halcyon run --predict`.
    """
    return _forecast(_load_client().next_accesses(count))


def accesses_within(seconds: float, most: int = 1024) -> Forecast:
    """Those that begin within the next `seconds`, `most` of them.

    Raises:
        UsageError: `seconds` is negative, or more than 1e9.
        HalcyonSystemError: there is no memory to look ahead in.
        UnavailableError: the program was not started by `halcyon run --predict`.
    """
    return _forecast(_load_client().accesses_within(seconds, most))


class Session:
    """One process's connection to the server of its node; opening and closing are collective over `comm`.

    `comm` is a communicator of mpi4py, by default COMM_WORLD; `parameters` are set before the configuration is read.
    As a context manager it closes at the end of the block. When an exception leaves the block on one of several ranks,
    the session is not closed, because the others are not there to do it with: the server stores what it has accepted
    when the process ends.

    Raises:
        ConfigError: the configuration is wrong (file, line and key path are in the message), cannot be read, or asks
            for a larger buffer.
        UsageError: MPI does not run; a session with this configuration is open; an output directory holds a run that
            must not be replaced; a parameter does not exist, or is out of its bounds.
        HalcyonSystemError: the machine's memory cannot hold the buffer; a directory cannot be made or written; MPI
            failed.
        UnavailableError: no server could be started or found; mpi4py is missing, or uses another MPI.
    """

    def __init__(
        self, config: str | os.PathLike[str], comm: Any = None, *, parameters: Mapping[str, float] | None = None
    ) -> None:
        client, mpi = _load()
        comm = mpi.COMM_WORLD if comm is None else comm
        self._alone = comm.Get_size() == 1
        self._allocated: dict[tuple[str, int], weakref.ref[NDArray[Any]]] = {}
        self._unmapped_at_close: list[tuple[str, weakref.ref[NDArray[Any]]]] = []
        for name, value in (parameters or {}).items():
            client.set_parameter(name, value)
        self._session = client.Session(os.fspath(config), comm.py2f())

    def write(self, variable: str, array: ArrayLike, block: int = 0) -> None:
        """Copies a block into shared memory; `array` may be changed on return.

        Its dtype must be the variable's. Its shape must be the block's, where axes of length 1 do not count, or flat.
        It is handed over as it lies when it is C-contiguous, and brought into that order first otherwise. Where the
        buffer is full, the variable's policy decides: `block` waits until the server has freed room.

        Raises:
            ConfigError: an extent of the layout or place cannot be evaluated with the parameters' present values.
            UsageError: unknown variable or block; another dtype or shape; already written in this iteration, or
                allocated; no room can ever come.
            HalcyonSystemError: the spill file or this client's own file cannot be written.
            UnavailableError: the server took this client for dead, and stores no more of it.
        """
        data = np.asarray(array)
        dtype, shape = self._session.describe(variable, block)
        if data.dtype != np.dtype(dtype):
            raise UsageError(
                f"variable '{variable}' is {dtype} in the configuration, the array is {data.dtype}: "
                f"convert it with array.astype('{dtype}')"
            )
        if not (_without_ones(data.shape) == _without_ones(shape) or data.shape == (math.prod(shape),)):
            raise UsageError(f"variable '{variable}': a block has shape {shape}, the array has {data.shape}")
        self._session.write(variable, np.ascontiguousarray(data), block)

    def alloc(self, variable: str, block: int = 0) -> NDArray[Any]:
        """Zero copy: the block itself, as an uninitialised array in shared memory.

        The array turns read-only with commit(). After clear() the memory is the server's and may hold anything, after
        close() it is gone: drop the array and all views of it before. NumPy can neither take an array back nor make
        views read-only that were taken earlier, so neither is checked, but close() warns of arrays still alive.

        Raises:
            ConfigError: an extent of the layout or place cannot be evaluated with the parameters' present values.
            UsageError: unknown variable or block; already allocated, or written in this iteration; no room can ever
                come.
            HalcyonSystemError: the process has no memory for the block.
            UnavailableError: the server took this client for dead, and stores no more of it.
        """
        array: NDArray[Any] = self._session.alloc(variable, block)
        self._allocated[variable, block] = weakref.ref(array)
        return array

    def commit(self, variable: str, block: int = 0) -> None:
        """The block is final: simulation and server both only read it from now on.

        Raises:
            UsageError: unknown variable or block; not allocated, or already committed.
            HalcyonSystemError: the spill file or this client's own file cannot be written.
            UnavailableError: the server took this client for dead, and stores no more of it.
        """
        self._session.commit(variable, block)
        array = self._array(variable, block)
        if array is not None:
            array.flags.writeable = False

    def clear(self, variable: str, block: int = 0) -> None:
        """The block is the server's: its array must not be used any more.

        Raises:
            UsageError: unknown variable or block; not allocated, or not committed.
            UnavailableError: the server took this client for dead, and stores no more of it.
        """
        self._session.clear(variable, block)
        array = self._array(variable, block)
        self._allocated.pop((variable, block), None)
        if array is not None:
            self._unmapped_at_close = [(v, a) for v, a in self._unmapped_at_close if a() is not None]
            self._unmapped_at_close.append((variable, weakref.ref(array)))

    def signal(self, event: str) -> None:
        """Raises an event of the configuration; its actions run on the server.

        Raises:
            UsageError: no such event.
            HalcyonSystemError: without a server: an action of type `store` cannot write its file.
            UnavailableError: the server took this client for dead.
        """
        self._session.signal(event)

    def end_iteration(self) -> None:
        """Nothing more will come for the open iteration. Collective where parameters are `steerable`.

        Raises:
            HalcyonSystemError: without a server: the iteration's file cannot be written, and its blocks are lost. With
                steerable parameters: MPI failed.
            UnavailableError: the server took this client for dead, and stores no more of it. The iteration stays
                open.
        """
        self._session.end_iteration()

    def wait(self, iteration: int, stage: Stage) -> None:
        """Waits until the node's iterations up to `iteration` have reached `stage`.

        When no server is left, "accepted" means the memory of this process, "stored" holds for the blocks of this
        client and for iterations that the servers had stored, and "durable" also syncs these files, and those of the
        node's other clients.

        Raises:
            UsageError: this client has not ended the iteration; no such stage.
            HalcyonSystemError: files of this iteration or of one before it could not be written or synced, or were
                lost.
            UnavailableError: the server took this client for dead, and stores no more of it. That no server is left
                is no error.
        """
        if stage not in _STAGES:
            raise UsageError(f"no stage '{stage}'; stages: {', '.join(_STAGES)}")
        self._session.wait(iteration, _STAGES[stage])

    def set_parameter(self, name: str, value: float) -> None:
        """For a parameter that the configuration declares `mutable`; others are given to Session().

        Raises:
            UsageError: no such parameter, or not mutable; the value is not finite, or out of its bounds.
        """
        self._session.set_parameter(name, value)

    def get_parameter(self, name: str) -> float:
        """The value that a parameter of the configuration has now.

        Raises:
            UsageError: no such parameter.
        """
        value: float = self._session.get_parameter(name)
        return value

    def stats(self) -> Stats:
        """Counts of this client until now.

        Raises:
            UsageError: the session is closed.
        """
        return Stats(**self._session.stats())

    def close(self) -> None:
        """Collective; returns when all is stored (`close: detach`: accepted). The session is over, even if it fails.

        Raises:
            UsageError: MPI was finalised before: what this process wrote is handed over, and nobody waits until it is
                stored.
            HalcyonSystemError: files could not be written, and with them their blocks.
            UnavailableError: the server took this client for dead.
        """
        allocated = [(variable, array) for (variable, _), array in self._allocated.items()]
        alive = sorted({variable for variable, array in allocated + self._unmapped_at_close if array() is not None})
        if alive:
            warnings.warn(
                f"arrays of alloc() are still referenced at close: {', '.join(alive)}; using them now may crash",
                RuntimeWarning,
                stacklevel=2,
            )
        self._allocated.clear()
        self._unmapped_at_close.clear()
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None or self._alone:
            self.close()

    def _array(self, variable: str, block: int) -> NDArray[Any] | None:
        reference = self._allocated.get((variable, block))
        return None if reference is None else reference()


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for n in shape if n != 1)


_PERHAPS_UNKNOWN = ("next_phase_s", "next_phase_earliest_s", "next_phase_latest_s", "flush_in_s", "flush_for_s")


def _forecast(found: dict[str, Any]) -> Forecast:
    accesses = [
        ExpectedAccess(
            **access
            | {
                "path": os.fsdecode(access["path"]) or None,
                "offset": _known(access["offset"]),
                "bytes": _known(access["bytes"]),
            }
        )
        for access in found["accesses"]
    ]
    times = {name: _known(value) for name, value in found.items() if name in _PERHAPS_UNKNOWN}
    return Forecast(**found | times | {"accesses": accesses})


def _known(value: Any) -> Any:
    return None if value < 0 else value


def _load_client() -> ModuleType:
    """halcyon._client for calls that need no MPI; programs may well use it, in which case it has to be the same."""
    return _load()[0] if "mpi4py.MPI" in sys.modules else load_compiled("_client")


def _load() -> tuple[ModuleType, ModuleType]:
    """halcyon._client and mpi4py.MPI, once they are known to use the same MPI."""
    try:
        mpi = import_module("mpi4py.MPI")
    except ImportError as why:
        raise UnavailableError(f"halcyon.client needs mpi4py ({why}); install it with `pip install mpi4py`") from why
    client = load_compiled("_client")
    refuse_other_mpi(client, mpi)
    return client, mpi
