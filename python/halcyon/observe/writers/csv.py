"""Data sets as a folder of CSV files, one for each table, and run.json."""

import json
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from halcyon.observe.dataset import Dataset
from halcyon.observe.schema import TABLES
from halcyon.observe.writers.target import new_file


def write_csv(dataset: Dataset, path: Path) -> None:
    """Writes the folder `path`, which must not exist: <table>.csv in UTF-8, with a line of names; null is empty.

    Lists (`files.servers`) are joined by spaces.
    """
    with new_file(path) as hidden:
        hidden.mkdir()
        for name, schema in TABLES.items():
            plain = pa.schema([(field.name, _plain(field.type)) for field in schema])
            with pyarrow.csv.CSVWriter(hidden / f"{name}.csv", plain) as out:
                for batch in dataset.batches(name):
                    out.write_batch(pa.record_batch([_column(column) for column in batch.columns], schema=plain))
        info = json.dumps(asdict(dataset.info), indent=2, ensure_ascii=False)
        (hidden / "run.json").write_text(info + "\n", encoding="utf-8")


def _plain(kind: pa.DataType) -> pa.DataType:
    return pa.string() if pa.types.is_dictionary(kind) or pa.types.is_list(kind) else kind


def _column(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        return column.dictionary_decode()
    if pa.types.is_list(column.type):
        return pa.array([None if words is None else " ".join(words) for words in column.to_pylist()], pa.string())
    return column
