"""DFTracer's traces: JSON, one event a line, plain (.pfw) or compressed (.pfw.gz), one file or a folder of them."""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from halcyon.errors import ConfigError, HalcyonSystemError
from halcyon.observe.dataset_writer import DatasetWriter
from halcyon.observe.readers.file_index import FileIndex
from halcyon.observe.readers.functions import DEPTH, kind_of, level_of
from halcyon.observe.readers.nesting import number_calls
from halcyon.observe.schema import Kind, Level, RunInfo

BLOCK = 32 << 20
"""Bytes of text that are parsed at a time."""

IO_CATEGORIES = {"POSIX", "STDIO", "MPIIO", "MPI-IO", "MPI", "HDF5"}
OWN = "dftracer"
"""Category of what the tracer says of itself: names behind hashes, starts and ends of processes."""
UNITS_NS = {"SEC": 10**9, "S": 10**9, "MS": 10**6, "US": 10**3, "NS": 1}

_NUMBERS = ("ret", "count", "size", "offset", "flags", "whence")
_WORDS = ("hhash", "fhash", "fname")
_ARGS = pa.struct([*((name, pa.int64()) for name in _NUMBERS), *((name, pa.string()) for name in _WORDS)])
_EVENT = pa.schema(
    [
        ("name", pa.string()),
        ("cat", pa.string()),
        ("pid", pa.int64()),
        ("tid", pa.int64()),
        ("ts", pa.int64()),
        ("dur", pa.int64()),
        ("args", _ARGS),
    ]
)


@dataclass
class _Trace:
    """What was read so far."""

    events: list[pa.Table] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # of hashes: files, hosts, words
    unit_ns: int = UNITS_NS["US"]
    processes: dict[tuple[str | None, int], dict[str, Any]] = field(default_factory=dict)


def files_of(path: Path) -> list[Path]:
    """The trace's files: `path` itself, or those in the folder."""
    if not path.is_dir():
        return [path]
    return sorted(each for each in path.iterdir() if each.name.endswith((".pfw", ".pfw.gz")))


def read(path: Path, directory: Path) -> None:
    """Writes a data set of the trace `path`. ConfigError: it is damaged, with file, line and byte."""
    trace = _Trace()
    for file in files_of(path):
        _read_file(file, trace)
    events = pa.concat_tables(trace.events) if trace.events else _EVENT.empty_table()
    if not events.num_rows and not trace.processes:
        raise ConfigError(f"{path}: no event of DFTracer in it: the tracer had not begun, or the file is cut off")
    _write(trace, events, directory)


def _read_file(path: Path, trace: _Trace) -> None:
    line = 1
    offset = 0
    for block in _blocks(path):
        events = []
        for text in block.split(b"\n"):
            bare = text.strip().rstrip(b",")
            if bare in (b"", b"[", b"]"):
                pass
            elif b'"dftracer"' in bare and (own := _parse(path, line, offset, text, bare))["cat"] == OWN:
                _own_event(own, trace)
            else:
                events.append((line, offset, text, bare))
            line += 1
            offset += len(text) + 1
        line -= 1
        offset -= 1
        if events:
            trace.events.append(_table(path, events))


def _blocks(path: Path) -> Iterator[bytes]:
    """Pieces of whole lines; the last may lack its end of line."""
    rest = b""
    try:
        with _open(path) as file:
            while piece := file.read(BLOCK):
                piece = rest + piece
                cut = piece.rfind(b"\n") + 1
                if cut:
                    yield piece[:cut]
                rest = piece[cut:]
            if rest:
                yield rest
    except (EOFError, zlib.error, gzip.BadGzipFile) as why:
        raise ConfigError(f"{path}: its compression is damaged or cut off: {why}") from why
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if compressed else path.open("rb")  # type: ignore[return-value]


def _parse(path: Path, line: int, offset: int, text: bytes, bare: bytes) -> dict[str, Any]:
    try:
        event = json.loads(bare)
    except (ValueError, RecursionError) as why:
        position = offset + text.find(bare) + getattr(why, "pos", getattr(why, "start", 0))
        reason = getattr(why, "msg", getattr(why, "reason", "nested too deeply"))
        raise ConfigError(
            f"{path}:{line}: byte {position}: no event of DFTracer: {reason}: damaged or cut off"
        ) from why
    if not isinstance(event, dict) or not isinstance(event.get("name"), str) or not isinstance(event.get("cat"), str):
        raise ConfigError(f"{path}:{line}: byte {offset}: no event of DFTracer: neither name nor category")
    return event


def _table(path: Path, events: list[tuple[int, int, bytes, bytes]]) -> pa.Table:
    """Events of one block. Arrow reads them at once; where it refuses, they are looked at one by one."""
    options = pyarrow.json.ParseOptions(explicit_schema=_EVENT, unexpected_field_behavior="ignore")
    try:
        found = pyarrow.json.read_json(pa.BufferReader(b"\n".join(bare for *_, bare in events)), parse_options=options)
        if found.num_rows == len(events) and not any(found[name].null_count for name in _EVENT.names[:-1]):
            return found.combine_chunks()
    except pa.ArrowInvalid:
        pass
    return pa.Table.from_pylist([_row(path, *event) for event in events], schema=_EVENT)


def _row(path: Path, line: int, offset: int, text: bytes, bare: bytes) -> dict[str, Any]:
    event = _parse(path, line, offset, text, bare)
    arguments = event.get("args")
    if not isinstance(arguments, dict):
        arguments = {}
    try:
        return {
            "name": event["name"],
            "cat": event["cat"],
            **{name: _int64(event[name]) for name in ("pid", "tid", "ts", "dur")},
            "args": {
                **{name: _int64(arguments[name]) for name in _NUMBERS if arguments.get(name) is not None},
                **{name: str(arguments[name]) for name in _WORDS if arguments.get(name) is not None},
            },
        }
    except (KeyError, ValueError, TypeError) as why:
        raise ConfigError(f"{path}:{line}: byte {offset}: {event['name']}: no number in {why}: damaged") from why


def _int64(value: object) -> int:
    if not isinstance(value, int | str):
        raise TypeError(repr(value))
    number = int(value)
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError(repr(value))
    return number


def _own_event(event: dict[str, Any], trace: _Trace) -> None:
    arguments = event.get("args") if isinstance(event.get("args"), dict) else {}
    assert isinstance(arguments, dict)
    key, value = arguments.get("name"), arguments.get("value")
    match event["name"]:
        case "FH" | "HH" | "SH":
            trace.names[str(value)] = str(key)
        case "CM" if key == "time_metric":
            trace.unit_ns = UNITS_NS.get(str(value).upper(), trace.unit_ns)
        case "start" | "end" as which:
            if isinstance(event.get("pid"), int) and isinstance(event.get("ts"), int):
                host = arguments.get("hhash")
                # Without metadata, an end has no host: it is that of the process's start.
                row = trace.processes.setdefault((host if isinstance(host, str) else None, event["pid"]), {})
                row[which] = event["ts"]
                row |= {name: arguments[name] for name in ("ppid", "cmd_hash", "exec_hash") if name in arguments}


def _write(trace: _Trace, events: pa.Table, directory: Path) -> None:
    arguments = events["args"].combine_chunks()
    columns = {name: arguments.field(name) for name in _ARGS.names} if events.num_rows else {}
    categories = events["cat"].to_pylist()
    names = events["name"].to_pylist()
    levels = [
        level_of(name) if cat.upper() in IO_CATEGORIES else None for name, cat in zip(names, categories, strict=True)
    ]
    chosen = np.array([row for row, level in enumerate(levels) if level is not None], np.int64)
    skipped = Counter(categories[row] for row, level in enumerate(levels) if level is None)

    ticks = events["ts"].to_numpy()
    begins = [int(ticks.min())] if len(ticks) else []
    origin = min([*begins, *(row["start"] for row in trace.processes.values() if "start" in row)])
    with DatasetWriter(directory, RunInfo("dftracer", origin * trace.unit_ns / 1e9, None, None)) as writer:
        hosts = columns["hhash"].to_pylist() if columns else []
        pids = events["pid"].to_pylist()
        processes = _Processes(trace, origin)
        of_event = np.array([processes.index(hosts[row], pids[row]) for row in chosen.tolist()], np.int64)
        end = 0
        if len(chosen):
            calls, files = _calls(trace, events, columns, levels, chosen, of_event, origin)
            writer.write("calls", calls)
            writer.write("files", files)
            end = int((calls["start_ns"].to_numpy() + calls["duration_ns"].to_numpy()).max())
        rows = processes.rows()
        writer.write("processes", pa.Table.from_pylist(rows))
        writer.describe(duration_ns=max([end, *(row["end_ns"] for row in rows if row["end_ns"] is not None)]))
        for row in rows:
            if row["end_ns"] is None:
                _absent(writer, row["process"], "partial", "end of the trace", "its process did not end in the trace")
        facts = [(f"dftracer.events.{category}", str(count)) for category, count in sorted(skipped.items())]
        writer.write(
            "facts", pa.table({"key": [k for k, _ in facts], "value": [v for _, v in facts]}) if facts else pa.table({})
        )
        if any(level == Level.STDIO for level in levels):
            _absent(writer, None, "not-seen", "transfers of stdio", "what moved between its buffers and files")


def _calls(
    trace: _Trace,
    events: pa.Table,
    columns: dict[str, pa.Array],
    levels: list[Level | None],
    chosen: np.ndarray[Any, Any],
    process: np.ndarray[Any, Any],
    origin: int,
) -> tuple[pa.Table, pa.Table]:
    taken = {name: column.take(pa.array(chosen)) for name, column in columns.items()}
    names = events["name"].take(chosen).to_pylist()
    own_levels = [levels[row] for row in chosen.tolist()]
    kinds = [kind_of(name) for name in names]
    start = (events["ts"].to_numpy()[chosen] - origin) * trace.unit_ns
    duration = events["dur"].to_numpy()[chosen] * trace.unit_ns
    depth = np.array([DEPTH[level] for level in own_levels if level is not None], np.int64)
    threads = events["tid"].to_numpy()[chosen]
    numbering = number_calls(process, threads, start, start + duration, depth, slack=trace.unit_ns)
    files = FileIndex(trace.names)
    keys = pc.coalesce(taken["fhash"], taken["fname"]).to_pylist()
    stdio = pa.array([level == Level.STDIO for level in own_levels])
    transfer = pa.array([kind in (Kind.READ, Kind.WRITE) for kind in kinds])
    asked = pc.if_else(stdio, pc.multiply(taken["count"], taken["size"]), taken["count"])
    succeeded = pc.and_(transfer, pc.greater_equal(taken["ret"], 0))
    calls = pa.table(
        {
            "process": pa.array(process.astype(np.int32)),
            **numbering.columns(),
            "level": pa.array(own_levels, pa.string()),
            "call": pa.array(names, pa.string()),
            "kind": pa.array(kinds, pa.string()),
            "file": pa.array([None if key is None else files.of(key) for key in keys], pa.int32()),
            "offset": pc.if_else(transfer, taken["offset"], None),
            "bytes": asked,
            "moved": pc.if_else(pc.and_(succeeded, pc.invert(stdio)), taken["ret"], None),
            "result": taken["ret"],
            "start_ns": pa.array(start),
            "duration_ns": pa.array(duration),
            "argument": pc.coalesce(taken["flags"], taken["whence"]),
        }
    )
    return calls, files.table()


class _Processes:
    """Numbers processes, by host and process id."""

    def __init__(self, trace: _Trace, origin: int) -> None:
        self.trace = trace
        self.origin = origin
        self.known = {key: number for number, key in enumerate(sorted(trace.processes, key=str))}

    def index(self, host: str | None, pid: int) -> int:
        """Index of the process, a new one where the tracer did not say that it started."""
        return self.known.setdefault((host, pid), len(self.known))

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
