"""Recorder's traces (recorder_files.py) as data sets.

What calls returned is not recorded: `moved` and `result` stay null.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa

from halcyon.observe.dataset_writer import DatasetWriter
from halcyon.observe.readers.file_index import FileIndex
from halcyon.observe.readers.recorder_arguments import Meaning, Opened, meaning_of
from halcyon.observe.readers.recorder_files import Array, RankCalls, open_trace
from halcyon.observe.schema import CALLS, RunInfo

UNSEEN = "Recorder keeps the arguments of calls, not what they returned: moved and result are not known"


def read(path: Path, directory: Path) -> None:
    """Writes a data set of the trace in folder `path`. ConfigError: it is damaged, with file and byte."""
    trace = open_trace(path)
    with DatasetWriter(
        directory, RunInfo(f"recorder {trace.version}", trace.start, None, trace.ranks), synced=False
    ) as writer:
        files = FileIndex()
        end_ns = 0
        skipped: dict[str, int] = {}
        for rank in range(trace.ranks):
            table = _table(rank, trace.calls_of(rank), files, skipped)
            if table.num_rows:
                end_ns = max(end_ns, int((table["start_ns"].to_numpy() + table["duration_ns"].to_numpy()).max()))
            writer.write("calls", table)
        numbers = pa.array(np.arange(trace.ranks, dtype=np.int32))
        writer.write("processes", pa.table({"process": numbers, "rank": numbers}))
        writer.write("files", files.table())
        keys = sorted(skipped)
        facts = {"key": [f"recorder.calls.{key}" for key in keys], "value": [str(skipped[key]) for key in keys]}
        writer.write("facts", pa.table(facts, schema=pa.schema([("key", pa.string()), ("value", pa.string())])))
        writer.write("absences", pa.table({"what": ["not-seen"], "subject": ["results of calls"], "detail": [UNSEEN]}))
        writer.describe(duration_ns=end_ns)


def _table(rank: int, calls: RankCalls, files: FileIndex, skipped: dict[str, int]) -> pa.Table:
    """One rank's rows of `calls`. Calls that are no I/O are counted in `skipped`."""
    handles: dict[str, Opened] = {}
    used = np.unique(calls.which).tolist()
    meanings: list[Meaning | None] = [None] * len(calls.signatures)
    for _ in range(2):  # the first time tells which file a handle stands for, and whether it ever had a view
        for number in used:
            signature = calls.signatures[number]
            meanings[number] = meaning_of(signature.function, signature.arguments, handles)
    is_io = np.array([meaning is not None for meaning in meanings], bool)
    counts = np.bincount(calls.which, minlength=len(calls.signatures))
    for number in used:
        if meanings[number] is None:
            group = "user" if calls.signatures[number].function.startswith("user:") else "mpi"
            skipped[group] = skipped.get(group, 0) + int(counts[number])
    chosen = np.flatnonzero(is_io[calls.which]) if len(calls.which) else np.array([], np.int64)
    which = calls.which[chosen]
    start = np.rint(calls.start[chosen] * 1e9).astype(np.int64)
    end = np.rint(calls.end[chosen] * 1e9).astype(np.int64)
    depth = np.array([signature.depth for signature in calls.signatures], np.int64)[which]
    thread = _threads(np.array([signature.thread for signature in calls.signatures], np.uint64)[which])
    number, parent = _parents(thread, depth, start, end)

    def column(name: str) -> pa.Array:
        kind = CALLS.field(name).type
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        of_signature = [None if meaning is None else getattr(meaning, name) for meaning in meanings]
        return pa.array(of_signature, plain).take(pa.array(which))

    paths = [None if meaning is None or meaning.path is None else files.of(meaning.path) for meaning in meanings]
    all_one = not np.any([signature.thread for signature in calls.signatures])
    return pa.table(
        {
            "process": pa.array(np.full(len(which), rank, np.int32)),
            "thread": pa.nulls(len(which), pa.int32()) if all_one else pa.array(thread.astype(np.int32)),
            "number": pa.array(number),
            "parent": pa.array(parent, mask=parent == 0),
            **{name: column(name) for name in ("level", "call", "kind", "offset", "bytes", "argument")},
            "file": pa.array(paths, pa.int32()).take(pa.array(which)),
            "start_ns": pa.array(start),
            "duration_ns": pa.array(np.maximum(end - start, 0)),
        }
    )


def _threads(keys: Array) -> Array:
    """Index of each call's thread, in the order of first calls."""
    different, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    index = np.empty(len(different), np.int64)
    index[np.argsort(first)] = np.arange(len(different))
    return index[inverse] if len(keys) else np.array([], np.int64)


def _parents(thread: Array, depth: Array, start: Array, end: Array) -> tuple[Array, Array]:
    """Numbers of the calls within their threads, and of their parents, 0 for none.

    A parent is the last call before of depth one less, which must not have ended: where Recorder was not asked to
    tell threads apart, that call may be another thread's.
    """
    number = np.zeros(len(thread), np.int64)
    parent = np.zeros(len(thread), np.int64)
    for own in np.unique(thread).tolist():
        rows = np.flatnonzero(thread == own)
        number[rows] = np.arange(1, len(rows) + 1)
        for level in range(1, int(depth[rows].max()) + 1):
            outer, inner = rows[depth[rows] == level - 1], rows[depth[rows] == level]
            before = np.searchsorted(outer, inner) - 1
            has = before >= 0
            candidate = outer[before[has]]
            contains = end[candidate] >= start[inner[has]]
            parent[inner[has][contains]] = number[candidate[contains]]
    return number, parent
