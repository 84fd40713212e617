"""Reads the CSV files of a run: whole numbers under known names, by a writer that may have been killed meanwhile."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from halcyon.errors import ConfigError, HalcyonSystemError
from halcyon.whole_text import read_whole_text

INT64_MAX = 2**63 - 1


@dataclass(frozen=True)
class Numbers:
    """The complete lines of a file, and whether its last line was cut off."""

    rows: pa.Table
    cut_off: bool


def read_numbers(path: Path, columns: Sequence[str]) -> Numbers:
    """Reads `columns` (others are ignored) as numbers ≥ 0.

    A last line without its newline is left out, even where it looks complete: a number may have lost digits. A file
    that ends within its first line has no rows. Anything else that is wrong is a ConfigError with file and line.
    """
    try:
        data = read_whole_text(path)
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why
    complete, newline, rest = data.rpartition(b"\n")
    cut_off = bool(rest) or not data
    schema = pa.schema([(name, pa.int64()) for name in columns])
    if not newline:
        return Numbers(schema.empty_table(), cut_off)
    _check_header(complete.split(b"\n", 1)[0], path, columns)
    options = pyarrow.csv.ConvertOptions(
        column_types=schema, include_columns=list(columns), null_values=[], strings_can_be_null=False
    )
    try:
        rows = pyarrow.csv.read_csv(io.BytesIO(complete + newline), convert_options=options)
    except pa.ArrowInvalid as why:
        raise _first_fault(complete, path, columns, str(why)) from why
    for name in columns:
        least = pc.min(rows[name]).as_py()
        if least is not None and least < 0:
            raise _first_fault(complete, path, columns, f"negative {name}")
    return Numbers(rows, cut_off)


def _check_header(line: bytes, path: Path, columns: Sequence[str]) -> None:
    names = line.decode("utf-8", "replace").strip("\r").split(",")
    missing = [name for name in columns if name not in names]
    if missing:
        raise ConfigError(f"{path}:1: no column '{missing[0]}'; columns here: {', '.join(names)}")


def _first_fault(data: bytes, path: Path, columns: Sequence[str], otherwise: str) -> ConfigError:
    """Looks for what the fast reader refused, line by line, to name it."""
    reader = csv.reader(io.StringIO(data.decode("utf-8", "replace")))
    header = next(reader)
    for values in reader:
        if not values:
            continue
        where = f"{path}:{reader.line_num}"
        if len(values) != len(header):
            return ConfigError(f"{where}: {len(values)} values; the header names {len(header)} columns")
        for name, value in zip(header, values, strict=True):
            if name in columns and not (value.isascii() and value.isdigit() and int(value) <= INT64_MAX):
                return ConfigError(f"{where}: {name}: expected a whole number of at least 0, found '{value}'")
    return ConfigError(f"{path}: {otherwise}")
