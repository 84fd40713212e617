"""The files of DFTracer: JSON, one event a line, plain (.pfw) or compressed (.pfw.gz), one file or a folder of them."""

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from halcyon.errors import ConfigError, HalcyonSystemError

BLOCK = 32 << 20
"""Bytes of text that are parsed at a time."""

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
class EventFiles:
    """What was read so far. `events`: one table a block, columns as EVENTS has them."""

    events: list[pa.Table] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # of hashes: files, hosts, words
    unit_ns: int = UNITS_NS["US"]
    processes: dict[tuple[str | None, int], dict[str, Any]] = field(default_factory=dict)


NAMES = pa.dictionary(pa.int32(), pa.string())
EVENTS = pa.schema(
    [
        *((name, NAMES) for name in ("name", "cat", *_WORDS)),
        *((name, pa.int64()) for name in ("pid", "tid", "ts", "dur", *_NUMBERS)),
    ]
)
"""Columns of events; those of `args` beside the others."""


def read_events(path: Path) -> EventFiles:
    """Reads all events of a trace, about 150 bytes of memory each. ConfigError: damage, with file, line and byte."""
    trace = EventFiles()
    for file in files_of(path):
        _read_file(file, trace)
    if not trace.events and not trace.processes:
        raise ConfigError(f"{path}: no event of DFTracer in it: the tracer had not begun, or the file is cut off")
    return trace


def files_of(path: Path) -> list[Path]:
    """The trace's files: `path` itself, or those in the folder."""
    if not path.is_dir():
        return [path]
    return sorted(each for each in path.iterdir() if each.name.endswith((".pfw", ".pfw.gz")))


def _read_file(path: Path, trace: EventFiles) -> None:
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
            trace.events.append(_compact(_table(path, events)))


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
    text = b"\n".join(bare for *_, bare in events)
    try:
        text.decode()  # Arrow would let other bytes pass
        found = pyarrow.json.read_json(pa.BufferReader(text), parse_options=options)
        if found.num_rows == len(events) and not any(found[name].null_count for name in _EVENT.names[:-1]):
            return found.combine_chunks()
    except (pa.ArrowInvalid, UnicodeDecodeError):
        pass
    return pa.Table.from_pylist([_row(path, *event) for event in events], schema=_EVENT)


def _compact(events: pa.Table) -> pa.Table:
    """With the arguments as columns, and names stored once."""
    for at, field_ in enumerate(_ARGS):
        events = events.append_column(field_.name, pc.struct_field(events["args"], [at]))
    columns = [events[one.name].dictionary_encode() if one.type == NAMES else events[one.name] for one in EVENTS]
    return pa.table(columns, schema=EVENTS)


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


def _own_event(event: dict[str, Any], trace: EventFiles) -> None:
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
