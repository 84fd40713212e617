"""How long a command was in I/O, by the traces of its processes."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from halcyon.compiled import TraceReader, core
from halcyon.errors import HalcyonSystemError
from halcyon.intervals import merge
from halcyon.observe.call_words import Kind, Level
from halcyon.quantities import plural

PAUSE_S = 1.0
"""Longer times in which no process of a command is in I/O, or waits for its turn, separate its phases."""
_TRANSFERS = (Kind.READ, Kind.WRITE, Kind.COPY, Kind.SYNC)
_CHANGES = (Kind.WRITE, Kind.COPY, Kind.SYNC, Kind.RESIZE, Kind.NAMESPACE)
"""What counts where no path is named: reads of libraries and settings do not."""

Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Phase:
    """A time in I/O of a command, without longer pauses in it. `begin_ns`: CLOCK_MONOTONIC."""

    begin_ns: int
    seconds: float
    bytes: int


@dataclass(frozen=True)
class IoTime:
    """Of one command. `begin_ns`, `end_ns`: CLOCK_MONOTONIC."""

    begin_ns: int
    end_ns: int
    seconds: float
    """The sum of its phases, each from its first call to the end of its last one; waits for turns count."""
    phases: list["Phase"]
    transfer_s: float
    """In which at least one process read, wrote or synced, waits not counted: the rest is communication, computation
    between calls, and waiting."""
    waited_s: float
    """For turns, the longest of all threads."""
    bytes: int
    processes: int
    """That did I/O."""
    missing: str | None
    """Why calls may be missing, so that the time may be too short; None: all were recorded."""


def io_time(traces: Path, below: str, opened_ns: int, pause_s: float = PAUSE_S) -> IoTime:
    """By the traces in a folder, of calls on files below a path (""; all files, without reads) that began after the
    gate was opened. HalcyonSystemError: there are none, or they are of several clocks."""
    readers = [core().TraceReader(os.fsencode(path), True) for path in sorted(traces.glob("*.trace"))]
    if len(clocks := {reader.clock for reader in readers}) > 1:
        raise HalcyonSystemError(
            f"{traces}: processes of {len(clocks)} machines; a Δ-graph is measured with commands on one machine"
        )
    told = [one for reader in readers for one in _calls_of(reader, below, opened_ns)]
    if not told:
        raise HalcyonSystemError(f"{traces}: no I/O {_where(below)} was recorded after the gate had opened")
    begin, end = (np.concatenate([getattr(one, name) for one in told]) for name in ("begin", "end"))
    first, last = merge(begin, end, round(pause_s * 1e9))
    moved_begin, moved_end = (np.concatenate([getattr(one, name) for one in told]) for name in ("moving", "moved"))
    transfers = merge(moved_begin, moved_end, 0) if len(moved_begin) else (moved_begin, moved_end)
    waits: dict[tuple[int, int], int] = {}
    for one in told:
        for thread, wait_ns in zip(one.threads, one.waits, strict=True):
            waits[one.pid, int(thread)] = waits.get((one.pid, int(thread)), 0) + int(wait_ns)
    return IoTime(
        int(first[0]), int(last[-1]), _sum_s(first, last), _phases(first, last, told), _sum_s(*transfers),
        max(waits.values()) / 1e9, sum(int(one.volumes.sum()) for one in told), len({one.pid for one in told}),
        missing_calls(readers, below),
    )  # fmt: skip


def missing_calls(readers: Sequence[TraceReader], below: str) -> str | None:
    """Why the traces may not hold all calls on files below a path; None: they do."""
    if lost := sum(reader.lost for reader in readers):
        return f"{plural(lost, 'call was', 'calls were')} lost"
    for reader in readers:
        who = f"{os.fsdecode(reader.program)} ({reader.pid})"
        if reader.damages:
            return f"the trace of {who} is damaged: {reader.damages[0]}"
        if reader.ended is None and any(_is_below(os.fsdecode(path), below) for _, path, _, _ in reader.files):
            return f"{who} was killed, or had not ended: calls of it may be missing"
    return None


@dataclass(frozen=True)
class _Calls:
    pid: int
    begin: Times
    """Before any wait for a turn."""
    end: Times
    moving: Times
    """Begins of transfers, after such waits; and their ends."""
    moved: Times
    threads: Times
    waits: Times
    volumes: Times
    """Bytes of each transfer."""


def _calls_of(reader: TraceReader, below: str, opened_ns: int) -> Iterator[_Calls]:
    wanted = [number for number, path, _, _ in reader.files if _is_below(os.fsdecode(path), below)]
    kinds = {number: (level, kind) for number, (_, level, kind) in reader.functions.items()}
    counted = [number for number, (_, kind) in kinds.items() if below or kind in _CHANGES]
    moving = [number for number, (level, kind) in kinds.items() if level == Level.POSIX and kind in _TRANSFERS]
    for index in range(reader.chunk_count):
        chunk: dict[str, Any] = reader.chunk(index)
        begin = chunk["start"] - chunk["wait"]
        kept = np.isin(chunk["file"], wanted) & np.isin(chunk["function"], counted) & (begin >= opened_ns)
        if not kept.any():
            continue
        start, end = chunk["start"][kept], (chunk["start"] + chunk["duration"])[kept]
        transfers = np.isin(chunk["function"][kept], moving)
        moved = chunk["moved"][kept][transfers]
        yield _Calls(
            reader.pid, begin[kept], end, start[transfers], end[transfers], chunk["thread"][kept],
            chunk["wait"][kept], np.maximum(moved, 0),
        )  # fmt: skip


def _phases(first: Times, last: Times, told: list[_Calls]) -> list[Phase]:
    """Each with the bytes of the transfers that ended in it."""
    ends = np.concatenate([one.moved for one in told])
    volumes = np.concatenate([one.volumes for one in told])
    at = np.searchsorted(first, ends, side="right") - 1
    sums = np.bincount(at, weights=volumes.astype(np.float64), minlength=len(first))
    return [
        Phase(int(begin), int(end - begin) / 1e9, int(moved))
        for begin, end, moved in zip(first, last, sums, strict=True)
    ]


def _is_below(path: str, below: str) -> bool:
    return not below or path == below or path.startswith(below.rstrip("/") + "/")


def _where(below: str) -> str:
    return f"below {below}" if below else "that changes files"


def _sum_s(first: Times, last: Times) -> float:
    return float((last - first).sum()) / 1e9
