"""OTF2 archives with I/O records (Score-P, or Halcyon's own export): file I/O regions and I/O operations as calls.

Runs in a process of its own (isolation.py): the library trusts what it reads.
"""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import _otf2
import otf2
import pyarrow as pa
from otf2 import events
from otf2.enums import GroupType, IoOperationMode, Paradigm, RegionRole
from otf2.error import TraceReaderError

from halcyon.errors import ConfigError
from halcyon.observe.dataset_writer import DatasetWriter
from halcyon.observe.readers.file_index import FileIndex
from halcyon.observe.readers.functions import kind_of, level_of
from halcyon.observe.schema import CALLS, Kind, Level, RunInfo

LEVELS = {
    "POSIX": Level.POSIX,
    "ISOC": Level.STDIO,
    "MPI-IO": Level.MPIIO,
    "HDF5": Level.HDF5,
    "HALCYON-LOG": Level.LOG,  # of Halcyon's export
}
"""Of OTF2's names of I/O paradigms; other libraries (netCDF) call these."""
_LEFT = ("offset", "bytes", "result", "error", "wait_ns", "argument", "context")
"""Attributes of the end of a call in Halcyon's export."""
ROWS = 1 << 17
"""Calls that wait in memory before they are written."""


@dataclass
class _Call:
    """A call that has begun and not ended."""

    row: dict[str, Any]
    is_io: bool
    region: bool
    """Whether a region began it; else an operation outside any I/O region did."""
    operations: set[int] = field(default_factory=set)
    had_operation: bool = False


class _Location:
    """One thread's calls: a stack of those that are open."""

    def __init__(self, process: int, thread: int) -> None:
        self.process = process
        self.thread = thread
        self.number = 0
        self.stack: list[_Call] = []

    def begin(self, time: int, name: str, is_io: bool, region: bool = True) -> _Call:
        row: dict[str, Any] = {"start_ns": time}
        if is_io:
            self.number += 1
            # Operations that are under way do not call one another.
            outer = next((call.row for call in reversed(self.stack) if call.is_io and call.region), None)
            row |= {
                "process": self.process,
                "thread": self.thread,
                "number": self.number,
                "parent": outer["number"] if outer else None,
                "level": level_of(name) or Level.POSIX,
                "call": name,
                "kind": kind_of(name),
            }
        self.stack.append(_Call(row, is_io, region))
        return self.stack[-1]


class _Reader:
    """Turns events into rows."""

    def __init__(self, trace: Any, path: Path, writer: DatasetWriter) -> None:
        clock = trace.definitions.clock_properties
        self.path = path
        self.writer = writer
        self.files = FileIndex()
        self.scale = 10**9 / clock.timer_resolution
        self.origin = clock.global_offset
        self.rows: list[dict[str, Any]] = []
        self.skipped: Counter[str] = Counter()
        self.last = 0
        self.processes = {group: number for number, group in enumerate(trace.definitions.location_groups)}
        self.locations: dict[Any, _Location] = {}
        threads: Counter[int] = Counter()
        for location in trace.definitions.locations:
            process = self.processes[location.group]
            self.locations[location] = _Location(process, threads[process])
            threads[process] += 1

    def time(self, ticks: int) -> int:
        nanoseconds: int = round((ticks - self.origin) * self.scale)
        return nanoseconds

    def event(self, location: Any, event: Any) -> None:
        at = self.locations[location]
        time = self.time(event.time)
        self.last = max(self.last, time)
        match event:
            case events.Enter():
                role = event.region.region_role
                at.begin(time, event.region.name, role in (RegionRole.FILE_IO, RegionRole.FILE_IO_METADATA))
            case events.Leave():
                self.leave(at, time, event)
            case events.IoOperationBegin():
                self.operation(at, time, event)
            case events.IoOperationComplete():
                self.complete(at, time, event)
            case events.IoCreateHandle() | events.IoDestroyHandle() | events.IoSeek():
                self.touch(at, event.handle)
            case events.IoDeleteFile():
                if at.stack and at.stack[-1].is_io:
                    at.stack[-1].row["file"] = self.files.of(event.file.name)
            case _:
                self.skipped[type(event).__name__] += 1

    def touch(self, at: _Location, handle: Any) -> None:
        """The I/O region that is open concerns this file."""
        if at.stack and at.stack[-1].is_io:
            row = at.stack[-1].row
            row["file"] = None if handle.file is None else self.files.of(handle.file.name)
            row["level"] = LEVELS.get(handle.io_paradigm.identification, row["level"])

    def operation(self, at: _Location, time: int, event: Any) -> None:
        if not at.stack or not at.stack[-1].is_io or at.stack[-1].had_operation:
            name = {IoOperationMode.READ: "read", IoOperationMode.WRITE: "write"}.get(event.mode, "fsync")
            at.begin(time, name, is_io=True, region=False)
        call = at.stack[-1]
        call.operations.add(event.matching_id)
        call.had_operation = True
        self.touch(at, event.handle)
        row = call.row
        if event.mode in (IoOperationMode.READ, IoOperationMode.WRITE):
            row["kind"] = Kind.READ if event.mode == IoOperationMode.READ else Kind.WRITE
            row["bytes"] = _known(event.bytes_request)
        row["offset"] = _attributes(event).get("offset")

    def complete(self, at: _Location, time: int, event: Any) -> None:
        for call in reversed(at.stack):
            if event.matching_id in call.operations:
                call.operations.discard(event.matching_id)
                if call.row["kind"] in (Kind.READ, Kind.WRITE):
                    assumed = _attributes(event).get("assumed")
                    call.row["moved"] = None if assumed else _known(event.bytes_result)
                if not call.region:
                    self.end(call, time)
                    at.stack.remove(call)
                return
        self.skipped["IoOperationComplete outside its call"] += 1

    def leave(self, at: _Location, time: int, event: Any) -> None:
        while at.stack and not at.stack[-1].region:  # operations that never completed
            self.end(at.stack.pop(), time)
        if not at.stack:
            raise ConfigError(f"{self.path}: location {at.process}: a region ends that never began: damaged")
        call = at.stack.pop()
        if call.is_io:
            said = _attributes(event)
            if "file" in said:
                call.row["file"] = self.files.of(said["file"])
            call.row |= {name: said[name] for name in _LEFT if name in said}
            self.end(call, time)

    def end(self, call: _Call, time: int) -> None:
        call.row["duration_ns"] = time - call.row["start_ns"]
        self.rows.append(call.row)
        if len(self.rows) >= ROWS:
            self.flush()

    def flush(self) -> None:
        self.writer.write("calls", pa.Table.from_pylist(self.rows, schema=CALLS))
        self.rows.clear()

    def finish(self) -> None:
        for at in self.locations.values():
            cut = [call for call in at.stack if call.is_io]
            for call in at.stack:
                if call.is_io:
                    self.end(call, self.last)
            if cut:
                self.absent(at.process, "partial", f"{len(cut)} calls that did not end within the trace")
        self.flush()
        if self.skipped:
            facts = [(f"otf2.events.{name}", str(count)) for name, count in sorted(self.skipped.items())]
            self.writer.write("facts", pa.table({"key": [k for k, _ in facts], "value": [v for _, v in facts]}))
        self.writer.write("files", self.files.table())
        self.writer.describe(duration_ns=self.last)

    def absent(self, process: int, what: str, subject: str) -> None:
        row = {"process": pa.array([process], pa.int32()), "what": [what], "subject": [subject]}
        self.writer.write("absences", pa.table(row))


def anchor_of(path: Path) -> Path:
    """The archive's anchor file: `path` itself, or the one in the folder."""
    if not path.is_dir():
        return path
    found = sorted(path.glob("*.otf2"))
    if len(found) != 1:
        raise ConfigError(f"{path}: {len(found)} files *.otf2; expected the anchor file of one archive")
    return found[0]


def read(path: Path, directory: Path) -> None:
    """Writes a data set of the archive `path` (its anchor file or folder). ConfigError: it is damaged."""
    anchor = anchor_of(path)
    try:
        with otf2.reader.open(str(anchor)) as trace:
            _read(trace, anchor, directory)
    except (_otf2.Error, TraceReaderError, KeyError, IndexError, TypeError, AttributeError, OverflowError) as why:
        raise ConfigError(f"{anchor}: {type(why).__name__}: {why}: the archive is damaged or cut off") from why


def _read(trace: Any, anchor: Path, directory: Path) -> None:
    clock = trace.definitions.clock_properties
    if clock.timer_resolution < 1:
        raise ConfigError(f"{anchor}: a clock of {clock.timer_resolution} ticks a second: damaged")
    known = 0 < clock.realtime_timestamp < 1 << 62
    ranks = _ranks(trace)
    start = clock.realtime_timestamp / 1e9 if known else None
    with DatasetWriter(directory, RunInfo("otf2", start, None, len(ranks) or None), synced=False) as writer:
        reader = _Reader(trace, anchor, writer)
        expected = sum(location.number_of_events for location in trace.definitions.locations)
        count = 0
        for location, event in trace.events:
            reader.event(location, event)
            count += 1
        if count != expected:
            raise ConfigError(f"{anchor}: {count} events; its definitions say {expected}: damaged or cut off")
        reader.finish()
        rows = [
            {"process": number, "rank": ranks.get(group), "host": _host(group)}
            for group, number in reader.processes.items()
        ]
        names = pa.schema([("process", pa.int32()), ("rank", pa.int32()), ("host", pa.string())])
        writer.write("processes", pa.Table.from_pylist(rows, schema=names))


def _ranks(trace: Any) -> dict[Any, int]:
    """Rank of each process, from the group that numbers MPI's locations."""
    ranks: dict[Any, int] = {}
    for group in trace.definitions.groups:
        if group.group_type == GroupType.COMM_LOCATIONS and group.paradigm == Paradigm.MPI:
            ranks |= {location.group: rank for rank, location in enumerate(group.members)}
    return ranks


def _host(group: Any) -> str | None:
    node = group.system_tree_parent
    return str(node.name) if node is not None and node.class_name == "node" else None


def _attributes(event: Any) -> dict[str, Any]:
    """What Halcyon's export adds to OTF2's own fields."""
    kinds = dict.fromkeys((*_LEFT, "assumed"), int) | {"file": str}
    found = {attribute.name: value for attribute, value in (event.attributes or {}).items()}
    return {name: value for name, value in found.items() if name in kinds and isinstance(value, kinds[name])}


def _known(count: int) -> int | None:
    """Bytes; the largest number is OTF2's word for unknown."""
    return count if count < 1 << 63 else None
