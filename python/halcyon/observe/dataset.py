"""Opens data sets (schema.py says what is in them); DatasetWriter writes them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import ibis
import pyarrow as pa
import pyarrow.parquet as pq

from halcyon.errors import ConfigError, HalcyonSystemError
from halcyon.observe.conform import all_columns, plain_type, whole_batch
from halcyon.observe.dataset_writer import DatasetWriter
from halcyon.observe.engines import DUCKDB, Engine, connect
from halcyon.observe.manifest import Manifest, Part, check_name, file_crc32, read_manifest
from halcyon.observe.schema import TABLES, RunInfo

__all__ = ["Dataset", "DatasetWriter"]


@dataclass(frozen=True)
class Dataset:
    """One opened data set: its tables as Ibis tables of one engine."""

    directory: Path
    info: RunInfo
    engine: Engine
    calls: ibis.Table
    processes: ibis.Table
    files: ibis.Table
    counters: ibis.Table
    activity: ibis.Table
    facts: ibis.Table
    absences: ibis.Table
    paths: dict[str, list[Path]]
    """The Parquet files of each table."""

    @classmethod
    def open(cls, directory: Path | str, engine: str | Engine = DUCKDB, *, verify: bool = True) -> Self:
        """Opens the data set in `directory`. `engine`: one that is open, or the name of a new one (engines.connect).

        With `verify`, all files are read once and compared to their checksums, about a second per GiB; without, only
        their names, sizes, footers and columns are checked.
        UsageError: no data set there, or its path is not UTF-8.
        ConfigError: a file is missing, damaged, cut off, or of a newer schema.
        """
        directory = Path(directory)
        check_name(directory)
        manifest = read_manifest(directory)
        paths = _paths(directory, manifest)
        for name, part in manifest.parts.items():
            _check_part(directory / name, name.partition("/")[0].removesuffix(".parquet"), part, verify)
        opened = connect(engine) if isinstance(engine, str) else engine
        tables = {name: all_columns(name, opened.read(paths[name], name)) for name in TABLES}
        return cls(directory, manifest.info, opened, **tables, paths=paths)

    def batches(self, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of a table in their stored order, in pieces of bounded size, without an engine.

        Columns that the data set lacks, because it is of an older schema, are null.
        """
        wanted = list(columns) if columns is not None else None
        for path in self.paths[table]:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(columns=wanted):
                    yield whole_batch(table, batch, wanted)

    def close(self) -> None:
        """Closes the engine: of all data sets that share it."""
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _paths(directory: Path, manifest: Manifest) -> dict[str, list[Path]]:
    """The files of each table, as the manifest has them; no table may be without, no file of calls beside it."""
    result: dict[str, list[Path]] = {}
    for table in TABLES:
        own = [name for name in sorted(manifest.parts) if name == f"{table}.parquet" or name.startswith(f"{table}/")]
        if not own:
            raise ConfigError(f"{directory / 'run.json'}: parts: none of table '{table}'; every table has at least one")
        result[table] = [directory / name for name in own]
    found = {f"calls/{path.name}" for path in (directory / "calls").glob("*.parquet")}
    if stray := sorted(found - set(manifest.parts)):
        raise ConfigError(f"{directory / stray[0]}: not named in run.json: it is no part of this data set; remove it")
    return result


def _check_part(path: Path, table: str, part: Part, verify: bool) -> None:
    try:
        size = path.stat().st_size
        if size != part.bytes:
            raise ConfigError(f"{path}: ends at byte {size}; expected {part.bytes}: cut off or replaced")
        # Before anything parses it: damage can look like anything to a parser.
        if verify and (crc32 := file_crc32(path)) != part.crc32:
            raise ConfigError(f"{path}: checksum {crc32:08x}; expected {part.crc32:08x}: the file is damaged")
    except FileNotFoundError as why:
        raise ConfigError(f"{path}: missing; it holds {part.rows} rows of table '{table}'") from why
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why
    columns, rows = _footer(path)
    _check_columns(path, table, columns)
    if rows != part.rows:
        raise ConfigError(f"{path}: {rows} rows; expected {part.rows}: replaced")


def _footer(path: Path) -> tuple[pa.Schema, int]:
    """Columns and number of rows."""
    try:
        with pq.ParquetFile(path) as file:
            return file.schema_arrow, file.metadata.num_rows
    except (OSError, ValueError, pa.ArrowException) as why:  # ValueError: names that are no UTF-8
        raise ConfigError(f"{path}: not a whole Parquet file: {why}") from why


def _check_columns(path: Path, table: str, found: pa.Schema) -> None:
    for field in TABLES.get(table, pa.schema([])):
        if field.name not in found.names:
            if not field.nullable:
                raise ConfigError(f"{path}: no column '{field.name}', which table '{table}' must have")
            continue
        kind, expected = plain_type(found.field(field.name).type), plain_type(field.type)
        if not kind.equals(expected):
            raise ConfigError(f"{path}: column '{field.name}' is {kind}; expected {expected}")
