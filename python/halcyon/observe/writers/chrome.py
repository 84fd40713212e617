"""Data sets in the trace event format of Chrome, which Perfetto opens too: one complete event a call."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from halcyon.observe.dataset import Dataset
from halcyon.observe.writers.target import new_file

ARGUMENTS = ("offset", "bytes", "moved", "result", "error", "wait_ns", "self_ns", "step", "argument", "context")

Row = dict[str, Any]


def write_chrome(dataset: Dataset, path: Path) -> None:
    """Writes the file `path`, compressed when its name ends in .gz. Times are microseconds with nanoseconds behind."""
    with new_file(path) as hidden, _open(hidden) as out:
        out.write('{"displayTimeUnit":"ns","otherData":')
        out.write(_json({"source": dataset.info.source, "start": dataset.info.start, "command": dataset.info.command}))
        out.write(',"traceEvents":[')
        separator = "\n"
        for event in _events(dataset):
            out.write(separator + _json(event))
            separator = ",\n"
        out.write("\n]}\n")


def _open(path: Path) -> IO[str]:
    if path.name.endswith(".gz"):
        return gzip.open(path, "wt", encoding="utf-8", compresslevel=6)
    return path.open("w", encoding="utf-8")


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _events(dataset: Dataset) -> Iterator[Row]:
    for batch in dataset.batches("processes"):
        for row in batch.to_pylist():
            rank = f"process {row['process']}" if row["rank"] is None else f"rank {row['rank']}"
            words = [rank, row["host"], row["program"] or row["command"]]
            name = ", ".join(word for word in words if word)
            yield {"ph": "M", "name": "process_name", "pid": row["process"], "args": {"name": name}}
            yield {
                "ph": "M",
                "name": "process_sort_index",
                "pid": row["process"],
                "args": {"sort_index": row["process"]},
            }
    paths = {row["file"]: row["path"] for batch in dataset.batches("files") for row in batch.to_pylist()}
    for batch in dataset.batches("calls"):
        for row in batch.to_pylist():
            if row["start_ns"] is not None:
                yield _event(row, paths)


def _event(row: Row, paths: dict[int, str]) -> Row:
    arguments: Row = {name: row[name] for name in ARGUMENTS if row[name] is not None}
    if row["file"] is not None:
        arguments["file"] = paths.get(row["file"], str(row["file"]))
    event = {
        "ph": "i" if row["duration_ns"] is None else "X",
        "name": row["call"],
        "cat": f"{row['level']},{row['kind']}",
        "pid": row["process"],
        "tid": row["thread"] or 0,
        "ts": row["start_ns"] / 1000,
        "args": arguments,
    }
    if row["duration_ns"] is not None:
        event["dur"] = row["duration_ns"] / 1000
    return event
