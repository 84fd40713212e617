"""DFTracer's traces (dftracer_files.py) as data sets."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from halcyon.observe.dataset_writer import DatasetWriter
from halcyon.observe.readers.dftracer_files import EVENTS, EventFiles, read_events
from halcyon.observe.readers.file_index import FileIndex
from halcyon.observe.readers.functions import DEPTH, kind_of, level_of
from halcyon.observe.readers.nesting import number_calls
from halcyon.observe.schema import Kind, Level, RunInfo

IO_CATEGORIES = {"POSIX", "STDIO", "MPIIO", "MPI-IO", "MPI", "HDF5"}
ROWS = 1 << 20
"""Calls that are written at a time."""

Array = np.ndarray[Any, Any]


def read(path: Path, directory: Path) -> None:
    """Writes a data set of the trace `path`. ConfigError: it is damaged, with file, line and byte."""
    trace = read_events(path)
    events = pa.concat_tables(trace.events) if trace.events else EVENTS.empty_table()
    trace.events.clear()
    events, skipped = _io_events(events.unify_dictionaries().combine_chunks())
    ticks = events["ts"].to_numpy()
    begins = [row["start"] for row in trace.processes.values() if "start" in row]
    origin = min([*begins, *([int(ticks.min())] if len(ticks) else [])], default=0)
    with DatasetWriter(
        directory, RunInfo("dftracer", origin * trace.unit_ns / 1e9, None, None), synced=False
    ) as writer:
        processes = _Processes(trace, origin)
        files = FileIndex(trace.names)
        end = _write_calls(writer, trace, events, processes, files, origin)
        writer.write("files", files.table())
        rows = processes.rows()
        writer.write("processes", pa.Table.from_pylist(rows))
        writer.describe(duration_ns=max([end, *(row["end_ns"] for row in rows if row["end_ns"] is not None)]))
        for row in rows:
            if row["end_ns"] is None:
                _absent(writer, row["process"], "partial", "end of the trace", "its process did not end in the trace")
        for category, count in sorted(skipped.items()):
            writer.write("facts", pa.table({"key": [f"dftracer.events.{category}"], "value": [str(count)]}))


def _io_events(events: pa.Table) -> tuple[pa.Table, Counter[str]]:
    """The calls among the events, and how many others there are of each category."""
    names, categories = _dictionary(events["name"]), _dictionary(events["cat"])
    is_io = np.array(
        [[cat.upper() in IO_CATEGORIES and level_of(name) is not None for cat in categories] for name in names], bool
    ).reshape(len(names), len(categories))
    of_category = _codes(events["cat"])
    chosen = is_io[_codes(events["name"]), of_category]
    counts = np.bincount(of_category[~chosen], minlength=len(categories))
    skipped = Counter({name: int(count) for name, count in zip(categories, counts, strict=True) if count})
    return events.filter(pa.array(chosen)), skipped


def _write_calls(
    writer: DatasetWriter, trace: EventFiles, events: pa.Table, processes: "_Processes", files: FileIndex, origin: int
) -> int:
    """Writes `calls`; returns when the last one ended, in nanoseconds."""
    names = _dictionary(events["name"])
    levels = [level_of(name) for name in names]
    code = _codes(events["name"])
    start = (events["ts"].to_numpy() - origin) * trace.unit_ns
    duration = events["dur"].to_numpy() * trace.unit_ns
    process = processes.of_events(events)
    depth = np.array([-1 if level is None else DEPTH[level] for level in levels], np.int64)[code]
    threads = events["tid"].to_numpy()
    numbering = number_calls(process, threads, start, start + duration, depth, slack=trace.unit_ns)
    columns = {
        "process": pa.array(process.astype(np.int32)),
        **numbering.columns(),
        "start_ns": pa.array(start),
        "duration_ns": pa.array(duration),
        "file": _files(events, files),
    }
    of_name = pa.table({"level": pa.array(levels, pa.string()), "kind": [str(kind_of(name)) for name in names]})
    for begin in range(0, len(code), ROWS):
        part = events.slice(begin, ROWS)
        words = of_name.take(pa.array(code[begin : begin + ROWS]))
        own = {name: column.slice(begin, ROWS) for name, column in columns.items()}
        writer.write("calls", pa.table(own | _arguments(part, words)))
    if Level.STDIO in {levels[one] for one in np.unique(code).tolist()}:
        _absent(writer, None, "not-seen", "transfers of stdio", "what moved between its buffers and files")
    return int((start + duration).max()) if len(start) else 0


def _files(events: pa.Table, files: FileIndex) -> pa.Array:
    """Index of each event's file: by the hash of its path, or by the path where older versions have it so."""
    result = np.full(len(events), -1, np.int32)
    for name in ("fname", "fhash"):
        column = events[name].combine_chunks()
        codes = _codes(column)
        known = codes >= 0
        indices = np.array([files.of(key) for key in _dictionary(column)], np.int32)
        result[known] = indices[codes[known]]
    return pa.array(result, mask=result < 0)


def _arguments(events: pa.Table, words: pa.Table) -> dict[str, pa.ChunkedArray]:
    """Columns of `calls` that say what was asked for and what came of it."""
    stdio = pc.equal(words["level"], Level.STDIO)
    transfer = pc.is_in(words["kind"], pa.array([Kind.READ, Kind.WRITE]))
    asked = pc.if_else(stdio, pc.multiply(events["count"], events["size"]), events["count"])
    # What fread and fwrite return says nothing about what moved between buffer and file.
    moved = pc.and_(pc.and_(transfer, pc.invert(stdio)), pc.greater_equal(events["ret"], 0))
    return {
        "level": words["level"],
        "call": events["name"],
        "kind": words["kind"],
        "offset": pc.if_else(transfer, events["offset"], None),
        "bytes": asked,
        "moved": pc.if_else(moved, events["ret"], None),
        "result": events["ret"],
        "argument": pc.coalesce(events["flags"], events["whence"]),
    }


def _dictionary(column: pa.ChunkedArray | pa.Array) -> list[str]:
    """The different values of a column of names, by code."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    values: list[str] = whole.dictionary.to_pylist()
    return values


def _codes(column: pa.ChunkedArray | pa.Array) -> Array:
    """Code of each value; -1 is null."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    codes: Array = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return codes


class _Processes:
    """Numbers processes, by host and process id."""

    def __init__(self, trace: EventFiles, origin: int) -> None:
        self.trace = trace
        self.origin = origin
        self.known = {key: number for number, key in enumerate(sorted(trace.processes, key=str))}

    def of_events(self, events: pa.Table) -> Array:
        """Index of each event's process, a new one where the tracer did not say that it started."""
        hosts = [*_dictionary(events["hhash"]), None]  # the code of null is -1: the last
        of_pid = events["pid"].combine_chunks().dictionary_encode()
        pids = of_pid.dictionary.to_pylist()
        both = (_codes(events["hhash"]).astype(np.int64) + 1) * (len(pids) + 1) + _codes(of_pid)
        pairs, inverse = np.unique(both, return_inverse=True)
        keys = [(hosts[pair // (len(pids) + 1) - 1], pids[pair % (len(pids) + 1)]) for pair in pairs.tolist()]
        return np.array([self.known.setdefault(key, len(self.known)) for key in keys], np.int64)[inverse]

    def rows(self) -> list[dict[str, Any]]:
        return [self._row(number, *key) for key, number in self.known.items()]

    def _row(self, number: int, host: str | None, pid: int) -> dict[str, Any]:
        said = self.trace.processes.get((host, pid), {})
        names = self.trace.names

        def time(which: str) -> int | None:
            return (said[which] - self.origin) * self.trace.unit_ns if which in said else None

        return {
            "process": number,
            "host": None if host is None else names.get(host, host),
            "pid": pid,
            "parent_pid": said.get("ppid"),
            "command": names.get(str(said.get("cmd_hash"))),
            "start_ns": time("start"),
            "end_ns": time("end"),
            "ended": "exit" if "end" in said else None,
        }


def _absent(writer: DatasetWriter, process: int | None, what: str, subject: str, detail: str) -> None:
    row = {"process": pa.array([process], pa.int32()), "what": [what], "subject": [subject], "detail": [detail]}
    writer.write("absences", pa.table(row))
