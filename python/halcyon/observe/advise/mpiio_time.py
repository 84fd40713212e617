"""What a recorded run spent in MPI-IO, straight from its traces: trials are many, and need only this."""

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from halcyon.compiled import TraceReader
from halcyon.observe.findings.views import VIEW, view_in
from halcyon.observe.readers.halcyon import TraceFolder
from halcyon.observe.schema import Kind, Level

_TRANSFERS = (Kind.READ, Kind.WRITE, Kind.WAIT)
_HINT = "mpi.hint."
_Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Part:
    """Calls of one kind that MPI-IO's transfers made below; seconds in sum over processes."""

    calls: int
    bytes: int
    seconds: float


@dataclass(frozen=True)
class MpiIo:
    """One run's transfers through MPI-IO.

    `perceived_s`: the time during which at least one process was in one (Wright 2014, section 4.1), on the clock of the
    node; nodes' clocks are compared as far as they agree.
    """

    perceived_s: float
    transfers: int
    bytes: int
    """That the application asked to read and write."""
    parts: dict[str, Part]
    """By kind: lock, read, write, unlock."""
    hints: dict[str, frozenset[str]] = field(default_factory=dict)
    """That were in effect, over all files."""
    views: frozenset[str] = frozenset()
    """Pieces that views of files showed, as View.text says them."""
    library: str | None = None
    killed: int = 0
    """Processes that were recorded and did not end by themselves."""
    lost: int = 0
    """Calls that were made and not recorded."""

    @property
    def bandwidth(self) -> float | None:
        """Perceived, in bytes per second."""
        return self.bytes / self.perceived_s if self.bytes and self.perceived_s > 0 else None


def read_mpiio(folder: Path) -> MpiIo:
    """Of the recorded run `folder`. ConfigError: nothing was recorded, or a trace is damaged."""
    traces = TraceFolder(folder, salvage=True)
    intervals: list[_Numbers] = []
    parts: dict[str, list[float]] = defaultdict(lambda: [0, 0, 0.0])
    hints: dict[str, set[str]] = defaultdict(set)
    views: set[str] = set()
    library: str | None = None
    asked = transfers = 0
    for process in traces.processes:
        own = _Process(process.reader)
        intervals.append(process.clock.of(own.intervals) - process.run_start_ns)
        asked += own.bytes
        transfers += own.transfers
        for kind, (calls, volume, seconds) in own.parts.items():
            sums = parts[kind]
            parts[kind] = [sums[0] + calls, sums[1] + volume, sums[2] + seconds]
        for _, _, key, value in process.reader.facts:
            name = key.decode("utf-8", "replace")
            if name.startswith(_HINT):
                hints[name.removeprefix(_HINT)].add(value.decode("utf-8", "replace"))
            elif name == VIEW and (seen := view_in(value.decode("utf-8", "replace"))):
                views.add(seen.text)
            elif name == "mpi.library":
                library = value.decode("utf-8", "replace")
    readers = [process.reader for process in traces.processes]
    return MpiIo(
        perceived_s=union_ns(np.concatenate(intervals)) / 1e9,
        transfers=transfers,
        bytes=asked,
        parts={kind: Part(int(calls), int(volume), s) for kind, (calls, volume, s) in sorted(parts.items())},
        hints={name: frozenset(values) for name, values in hints.items()},
        views=frozenset(views),
        library=library,
        killed=sum(reader.ended is None for reader in readers),
        lost=sum(reader.lost for reader in readers),
    )


def union_ns(intervals: _Numbers) -> int:
    """Length of what rows of (start, end) cover together."""
    if not len(intervals):
        return 0
    ordered = intervals[np.argsort(intervals[:, 0])]
    reached = np.maximum.accumulate(ordered[:, 1])
    before = np.concatenate([ordered[:1, 0], reached[:-1]])
    return int(np.clip(reached - np.maximum(ordered[:, 0], before), 0, None).sum())


class _Process:
    """Sums over one process's calls."""

    def __init__(self, reader: TraceReader) -> None:
        chunks = [reader.chunk(index) for index in range(reader.chunk_count)]
        columns = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in _COLUMNS} if chunks else {}
        self.intervals: _Numbers = np.zeros((0, 2), dtype=np.int64)
        self.bytes = self.transfers = 0
        self.parts: dict[str, tuple[int, int, float]] = {}
        if columns:
            self._sum(reader, columns)

    def _sum(self, reader: TraceReader, calls: dict[str, Any]) -> None:
        def with_function(level: Level, kinds: tuple[str, ...]) -> Any:
            wanted = [i for i, (_, own, kind) in reader.functions.items() if own == level and kind in kinds]
            return np.isin(calls["function"], wanted)

        key = calls["thread"].astype(np.int64) << 32
        number, parent = key | calls["number"], key | calls["parent"]
        transfer = with_function(Level.MPIIO, _TRANSFERS)
        outer = transfer & ~np.isin(parent, number[transfer])
        start = calls["start"][outer]
        self.intervals = np.stack([start, start + calls["duration"][outer] + calls["wait"][outer]], axis=1)
        self.transfers = int(outer.sum())
        self.bytes = int(np.clip(calls["bytes"][outer], 0, None).sum())
        inside = np.isin(parent, number[transfer])
        for kind in (Kind.LOCK, Kind.READ, Kind.WRITE, Kind.UNLOCK):
            own = inside & with_function(Level.POSIX, (kind,))
            moved = np.clip(calls["moved"][own], 0, None).sum() if kind in _TRANSFERS else 0
            if own.any():
                self.parts[kind] = (int(own.sum()), int(moved), float(calls["duration"][own].sum()) / 1e9)


_COLUMNS = ("thread", "number", "parent", "function", "start", "duration", "wait", "bytes", "moved")
