"""Makes a data set of a recorded run."""

import tempfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from halcyon.observe.dataset_writer import DatasetWriter
from halcyon.observe.derive import derive
from halcyon.observe.engines import DUCKDB, connect
from halcyon.observe.readers.own import TraceFolder

DATA = "data"
"""Folder of the data set within that of a recorded run."""


def pack(folder: Path, directory: Path | None = None, salvage: bool = False) -> Path:
    """Writes the traces in `folder` as one data set, by default into `folder`/data; returns where.

    With `salvage`, of damaged traces what stands before the damage is taken, and the rest is told in `absences`.
    UsageError: no recorded run, or the directory is in use. ConfigError: a trace is damaged: file and offset.
    """
    target = directory if directory is not None else folder / DATA
    traces = TraceFolder(folder, salvage)
    with (
        DatasetWriter(target, traces.info()) as writer,
        tempfile.TemporaryDirectory(prefix=".pack-", dir=target.absolute().parent) as scratch,
    ):
        raw = Path(scratch) / "calls.parquet"
        counts = _write_raw(traces, raw)
        for name, table in traces.tables(counts).items():
            writer.write(name, table)
        if counts:
            _write_derived(raw, writer)
    return target


def _write_raw(traces: TraceFolder, path: Path) -> dict[int, int]:
    """The calls as the traces have them; how many there are of each process."""
    counts: Counter[int] = Counter()
    out: pq.ParquetWriter | None = None
    try:
        for piece in traces.calls():
            plain = _without_dictionaries(piece)
            out = out or pq.ParquetWriter(path, plain.schema, compression="zstd", compression_level=1)
            out.write_table(plain)
            counts[piece["process"][0].as_py()] += piece.num_rows
    finally:
        if out is not None:
            out.close()
    return counts


def _without_dictionaries(piece: pa.Table) -> pa.Table:
    columns = [pc.cast(c, c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in piece.columns]
    return pa.table(columns, names=piece.column_names)


def _write_derived(raw: Path, writer: DatasetWriter) -> None:
    engine = connect(DUCKDB)
    try:
        for batch in engine.stream(derive(engine.read([raw], "raw"))):
            writer.write("calls", batch)
    finally:
        engine.close()
