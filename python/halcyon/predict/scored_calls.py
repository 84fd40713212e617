"""Writes the scores of every call as Parquet."""

from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from halcyon.predict.streams import OPERATIONS, Columns, Stream
from halcyon.whole_file import whole_file


class ScoredCalls:
    """A table of a row per call, in the order of the replay. It appears under its name when it is whole.

    `call` counts the calls of a stream from 1; scores as in compiled.Replay, null where there is nothing to score.
    """

    def __init__(self, path: Path) -> None:
        self._whole = whole_file(path)
        self._hidden = self._whole.__enter__()
        self._writer: pq.ParquetWriter | None = None
        self._done: dict[Stream, int] = {}

    def add(self, stream: Stream, calls: Columns, scores: Columns) -> None:
        """The next calls of a stream."""
        count, first = len(calls["file"]), self._done.get(stream, 0)
        self._done[stream] = first + count
        kinds = pa.array([str(kind) for kind in OPERATIONS])
        columns = {
            "process": pa.array(np.full(count, stream.process, np.int32)),
            "thread": pa.array(np.full(count, stream.thread, np.int32)),
            "call": pa.array(np.arange(first + 1, first + count + 1)),
            "kind": pa.DictionaryArray.from_arrays(pa.array(calls["operation"].astype(np.int32)), kinds),
            "start_ns": pa.array(calls["start_ns"]),
            "accessed_offset": pa.array(calls["offset"], mask=calls["offset"] < 0),
            "accessed_bytes": pa.array(calls["bytes"], mask=calls["bytes"] < 0),
        }
        for name, values in scores.items():
            columns[name] = pa.array(values, mask=np.isnan(values) if values.dtype.kind == "f" else None)
        table = pa.table(columns)
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._hidden, table.schema)
        self._writer.write_table(table)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.close()
        elif kind is None:  # no call at all
            pq.write_table(pa.table({"process": pa.array([], pa.int32())}), self._hidden)
        self._whole.__exit__(kind, error, trace)
