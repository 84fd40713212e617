"""Halcyon's own traces, one per process, as tables of a data set."""

import os
import platform
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from halcyon import __version__
from halcyon.compiled import TraceReader, core
from halcyon.errors import ConfigError
from halcyon.observe.dataset_writer import DatasetWriter
from halcyon.observe.file_layout import layout_of
from halcyon.observe.file_systems import name_of_file_system
from halcyon.observe.readers.clocks import Clock, clocks_of
from halcyon.observe.recording.folder import Recording, not_recorded, unrecorded_processes
from halcyon.observe.schema import ABSENCES, CALLS, FACTS, FILES, PROCESSES, RunInfo

_NONE = -1
"""In traces: a call has no offset, no bytes, nothing that moved."""
_OTHER_FILE = frozenset({"copy_file_range", "sendfile", "splice", "rename", "renameat", "renameat2", "link", "linkat"})
"""Functions whose argument is the id of a second file."""

_NOT_SEEN = {
    "io_uring": "its reads and writes are made by the kernel, past every function",
    "requests of io_submit": "given to the kernel with libaio, which makes them past every function",
    "stores into mapped files": "writable shared mappings; what was stored through them is no call",
    "writes past a log container": "of programs that are not seen, to descriptors of files below `--log`, of which "
    "reads fail since",
    "calls made with syscall(2)": "system calls on files that pass the C library's functions by",
    "call stacks beyond the first 65536 of a process, but for their call sites": "calls that were made from these have "
    "the call site alone as their context",
    "programs started with syscall(2)": "in an environment in which nothing says that they are to be recorded",
    "calls that a jump left": "a signal's handler jumped out of them; what they had moved by then is not known",
    "calls of signal handlers, or between vfork and exec": "made while a call was being written down or the "
    "recording was being started, or by a child in its parent's memory",
    "streams that were in use at the end": "another thread held them; what waited in them was written unseen",
}
_NOR_WHAT_STARTS = {
    "a program that cannot write to the run's folder": "nor is what it starts recorded",
    "processes that could not write to the run's folder": "nor is what they start recorded",
}
"""Subjects whose count is of those that were told alone: nobody tells what these start."""


def read(path: Path, directory: Path, salvage: bool = False) -> None:
    """Writes the data set `directory` of the recorded run `path`, without columns that follow from others.

    ConfigError: a trace is damaged: file and offset. With `salvage`, what stands before the damage is taken.
    """
    traces = TraceFolder(path, salvage)
    with DatasetWriter(directory, traces.info(), synced=False) as writer:
        for piece in traces.calls():
            writer.write("calls", piece)
        for name, table in traces.tables().items():
            writer.write(name, table)


@dataclass
class _Files:
    """Paths of all processes, each once."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    _index: dict[bytes, int] = field(default_factory=dict)

    def of(self, path: bytes, block_bytes: int, file_system: int) -> int:
        if path not in self._index:
            self._index[path] = len(self.rows)
            self.rows.append({"file": len(self.rows), "path": _text(path)})
        row = self.rows[self._index[path]]
        if block_bytes > 0 and row.get("block_bytes") is None:
            row["block_bytes"] = block_bytes
            row["filesystem"] = name_of_file_system(file_system)
            if layout := layout_of(Path(os.fsdecode(path)), row["filesystem"]):
                row["servers"] = list(layout.servers)
                row["stripe_bytes"] = layout.stripe_bytes
        return self._index[path]


@dataclass(frozen=True)
class _Process:
    index: int
    reader: TraceReader
    path: Path
    clock: Clock
    run_start_ns: int
    """Of the epoch."""
    files: np.ndarray[Any, np.dtype[np.int64]]
    """Index in the data set by the trace's id; _NONE where there is none."""

    def run_time(self, time_ns: int) -> int:
        """From its node's clock to nanoseconds since the run's start."""
        return self.clock.of_one(time_ns) - self.run_start_ns


class TraceFolder:
    """The traces of one run. ConfigError names the file and the offset where one is damaged.

    With `salvage`, what stands before the damage is taken, and the damage is told in `absences`.
    """

    def __init__(self, folder: Path, salvage: bool = False) -> None:
        self.recording = Recording.read(folder)
        self._elsewhere: list[str] = []
        self._killed_at_start = len(list((folder / "trace").glob("*.begun")))
        self._unrecorded = unrecorded_processes(folder / "trace")
        paths = sorted([*(folder / "trace").glob("*.trace"), *self._left_on_this_node(folder / "trace")])
        if not paths:
            if self._unrecorded:
                raise ConfigError(f"{folder}: nothing was recorded: {not_recorded(self._unrecorded)}")
            raise ConfigError(f"{folder}: {self.recording.why_no_traces()}")
        readers = [(path, core().TraceReader(os.fsencode(path), salvage)) for path in paths]
        self._clocks = clocks_of([reader for _, reader in readers])
        begun = {id(r): self._clocks[r.clock].of_one(r.start_ns) for _, r in readers}
        self._start_ns = min(begun.values())
        readers.sort(key=lambda pair: (_rank(pair[1]) is None, _rank(pair[1]) or 0, begun[id(pair[1])]))
        self._files = _Files()
        self.processes = [self._process(i, path, reader) for i, (path, reader) in enumerate(readers)]

    def _left_on_this_node(self, traces: Path) -> Iterator[Path]:
        """Traces of killed processes that still lie on their node's own disk; those of other nodes are told."""
        for address in sorted(traces.glob("*.local")):
            host = address.name.split(".")[0]
            place = Path(os.fsdecode(address.read_bytes())) / f"{address.stem}.trace"
            here = host == platform.node().split(".")[0]
            if (traces / place.name).exists():
                continue  # killed when it had moved its trace here
            if here and place.exists():
                yield place
            elif here and place.with_suffix(".begun").exists():
                self._killed_at_start += 1
            else:
                self._elsewhere.append(
                    f"{host}: {place}: the process was killed, and its trace lies on its node's own disk; "
                    f"copy it, and the .ring beside it, to {traces}"
                )

    def _process(self, index: int, path: Path, reader: TraceReader) -> _Process:
        most = max((file[0] for file in reader.files), default=0)
        ids = np.full(most + 1, _NONE, dtype=np.int64)
        for number, name, block_bytes, file_system in reader.files:
            ids[number] = self._files.of(name, block_bytes, file_system)
        return _Process(index, reader, path, self._clocks[reader.clock], self._start_ns, ids)

    def info(self) -> RunInfo:
        """What `run.json` says."""
        ends = [p.run_time(p.reader.end_ns) for p in self.processes if p.reader.end_ns is not None]
        sizes = [int(value) for p in self.processes for key, value in _facts(p.reader) if key == "mpi.size"]
        return RunInfo(
            source=f"halcyon {__version__}",
            start=self._start_ns / 1e9,
            duration_ns=max(ends, default=None),
            ranks=max(sizes, default=None),
            command=_plain(" ".join(self.recording.command)),
            user=_plain(self.recording.user),
            job=self.recording.job,
            exit_status=self.recording.exit_code,
            exit_signal=self.recording.exit_signal,
        )

    def calls(self) -> Iterator[pa.Table]:
        """The calls of all processes in pieces, without the columns that follow from others."""
        for process in self.processes:
            for index in range(process.reader.chunk_count):
                chunk = process.reader.chunk(index)
                if len(chunk["start"]):  # a killed process may leave one without a call
                    yield _calls(process, chunk)

    def tables(self) -> dict[str, pa.Table]:
        """All other tables."""
        return {
            "processes": pa.Table.from_pylist([self._row(p) for p in self.processes], schema=PROCESSES),
            "files": pa.Table.from_pylist(self._files.rows, schema=FILES),
            "facts": pa.Table.from_pylist(list(self._fact_rows()), schema=FACTS),
            "absences": pa.Table.from_pylist(list(self._absence_rows()), schema=ABSENCES),
        }

    def _row(self, process: _Process) -> dict[str, Any]:
        reader = process.reader
        return {
            "process": process.index,
            "rank": _rank(reader),
            "host": _text(reader.host),
            "pid": reader.pid,
            "parent_pid": reader.parent_pid,
            "program": _text(reader.program),
            "command": _text(reader.command),
            "start_ns": process.run_time(reader.start_ns),
            "end_ns": None if reader.end_ns is None else process.run_time(reader.end_ns),
            "ended": reader.ended or "killed",
            "lost": reader.lost,
            "clock_error_ns": process.clock.error_ns,
        }

    def _fact_rows(self) -> Iterator[dict[str, Any]]:
        for name, setting in self.recording.environment.items():
            yield {"key": f"environment.{name}", "value": _plain(setting)}
        for process in self.processes:
            for file, time_ns, key, value in process.reader.facts:
                index = process.files[file] if file < len(process.files) else _NONE
                yield {
                    "process": process.index,
                    "file": None if index == _NONE else int(index),
                    "time_ns": process.run_time(time_ns),
                    "key": _text(key),
                    "value": _text(value),
                }

    def _absence_rows(self) -> Iterator[dict[str, Any]]:
        for where in self._elsewhere:
            yield _lost(None, "trace on another node", 1, where)
        if self._unrecorded:
            yield {
                "what": "not-seen",
                "subject": "processes that could not be recorded",
                "count": self._unrecorded,
                "detail": "their traces could not be made: a full disk, a quota, no descriptor or no memory left; "
                "each said why on its standard error",
            }
        if self._killed_at_start:
            yield {
                "what": "not-seen",
                "subject": "processes killed as they began",
                "count": self._killed_at_start,
                "detail": "before any call of theirs could be recorded",
            }
        for process in self.processes:
            counts: Counter[str] = Counter()
            for subject, count in process.reader.absences:
                counts[subject] += count
            for told, count in counts.items():
                # A program is told with its path: "a static program: /bin/x".
                subject, _, path = told.partition(": ")
                yield {
                    "process": process.index,
                    "what": "not-seen",
                    "subject": subject,
                    "count": count,
                    "detail": "; ".join(filter(None, (path, _NOR_WHAT_STARTS.get(subject)))) or _NOT_SEEN.get(subject),
                }
            if process.reader.ended is None:
                yield {
                    "process": process.index,
                    "what": "not-seen",
                    "subject": "what was under way when a process was killed",
                    "detail": "at most one call of each thread; a write may have moved its bytes",
                }
            if process.reader.lost:
                yield _lost(
                    process.index,
                    "calls",
                    process.reader.lost,
                    "the trace could not be written: a full disk, a quota, or a thread that was stopped for long",
                )
            for damage in process.reader.damages:
                yield _lost(process.index, "damaged trace", None, damage)


def _lost(process: int | None, subject: str, count: int | None, detail: str) -> dict[str, Any]:
    return {"process": process, "what": "lost", "subject": subject, "count": count, "detail": detail}


def _calls(process: _Process, chunk: dict[str, Any]) -> pa.Table:
    count = len(chunk["start"])
    names, levels, kinds = _functions(process, chunk["function"])
    files = _files_of(process, chunk["file"])
    argument = chunk["argument"].copy()
    with_other = np.isin(chunk["function"], [i for i, f in process.reader.functions.items() if f[0] in _OTHER_FILE])
    argument[with_other] = _files_of(process, argument[with_other])
    columns = {
        "process": pa.array(np.full(count, process.index, dtype=np.int32)),
        "thread": pa.array(chunk["thread"].astype(np.int32)),
        "number": pa.array(chunk["number"].astype(np.int64)),
        "parent": _nullable(chunk["parent"].astype(np.int64), 0),
        "level": levels,
        "call": names,
        "kind": kinds,
        "file": _nullable(files.astype(np.int32), _NONE),
        "offset": _nullable(chunk["offset"], _NONE),
        "bytes": _nullable(chunk["bytes"], _NONE),
        "moved": _nullable(chunk["moved"], _NONE),
        "result": pa.array(chunk["result"]),
        "error": _nullable(chunk["error"].astype(np.int32), 0),
        "start_ns": pa.array(process.clock.of(chunk["start"]) - process.run_start_ns),
        "duration_ns": pa.array(chunk["duration"]),
        "wait_ns": pa.array(chunk["wait"]),
        "argument": pa.array(argument),
        "context": _nullable(chunk["context"].astype(np.int64), 0),
    }
    return pa.table(columns, schema=pa.schema([CALLS.field(name) for name in columns]))


def _functions(process: _Process, ids: np.ndarray[Any, Any]) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Names, levels and kinds of functions as dictionary columns."""
    known = process.reader.functions
    place = np.zeros(max(known) + 1, dtype=np.int32)
    place[list(known)] = np.arange(len(known), dtype=np.int32)
    indices = pa.array(place[ids])
    texts = list(known.values())
    return tuple(pa.DictionaryArray.from_arrays(indices, pa.array([text[part] for text in texts])) for part in range(3))


def _files_of(process: _Process, ids: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    known = (ids >= 0) & (ids < len(process.files))
    return np.where(known, process.files[np.where(known, ids, 0)], _NONE)


def _nullable(values: np.ndarray[Any, Any], null: int) -> pa.Array:
    return pa.array(values, mask=values == null)


def _facts(reader: TraceReader) -> Iterator[tuple[str, str]]:
    for _, _, key, value in reader.facts:
        yield _text(key), _text(value)


def _rank(reader: TraceReader) -> int | None:
    return next((int(value) for key, value in _facts(reader) if key == "mpi.rank"), None)


def _text(text: bytes) -> str:
    """Paths are bytes: what is not UTF-8 stays readable, and apart from other paths."""
    return text.decode("utf-8", "backslashreplace")


def _plain(text: str) -> str:
    """Words of a command line are bytes, too, which Python holds in a form that no file can."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
