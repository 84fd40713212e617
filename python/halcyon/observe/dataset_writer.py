"""Writes data sets: a folder of Parquet tables and run.json, whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from halcyon.errors import HalcyonSystemError, UsageError
from halcyon.observe.conform import conform
from halcyon.observe.manifest import Manifest, Part, check_name, write_manifest
from halcyon.observe.schema import TABLES, RunInfo

ROWS_PER_GROUP = 1 << 20
"""Rows of a Parquet row group; at most as many wait in memory, per table."""
ROWS_PER_PART = 1 << 24
"""Rows of one file of `calls`."""

DELTA_COLUMNS = ("number", "parent", "offset", "start_ns", "duration_ns")
"""Of calls: whole numbers close to those of the row before, which differences store in a fraction of the bytes."""


class DatasetWriter:
    """Writes a data set into `directory`, which must not exist yet (or be empty).

    Everything goes into a hidden folder beside it, which is synced and takes the name of `directory` when the `with`
    block ends without an error. When the block raises, nothing remains. Rows are stored in the order in which they
    come: sources write calls sorted by process and start, so that a reader of one process or time skips the rest.

        with DatasetWriter(directory, info) as writer:
            writer.write("files", files)
            for piece in pieces:
                writer.write("calls", piece)

    `synced` false: it need not outlive a crash of the machine. Nothing waits for the disk then.

    UsageError: `directory` is in use, or its path is not UTF-8; a piece does not fit its table.
    HalcyonSystemError: a full disk, no permission.
    """

    def __init__(self, directory: Path, info: RunInfo, *, synced: bool = True) -> None:
        self.directory = directory
        self.info = info
        self._synced = synced
        self._parts: dict[str, Part] = {}
        self._tables: dict[str, _TableWriter] = {}
        self._hidden = Path()

    def __enter__(self) -> Self:
        check_name(self.directory)
        if self.directory.exists() and (not self.directory.is_dir() or any(self.directory.iterdir())):
            raise UsageError(f"{self.directory}: exists already; name a folder that does not, or remove it")
        try:
            parent = self.directory.absolute().parent
            parent.mkdir(parents=True, exist_ok=True)
            self._hidden = Path(tempfile.mkdtemp(prefix=f".{self.directory.name}.", suffix=".partial", dir=parent))
            (self._hidden / "calls").mkdir()
            self._hidden.chmod(0o777 & ~_umask())
        except OSError as why:
            raise HalcyonSystemError.of(why, self.directory) from why
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._finish()
        except OSError as why:
            raise HalcyonSystemError.of(why, self.directory) from why
        finally:
            for table in self._tables.values():
                table.abandon()
            shutil.rmtree(self._hidden, ignore_errors=True)

    def write(self, table: str, data: pa.Table | pa.RecordBatch) -> None:
        """Appends rows to a table of schema.TABLES. Nullable columns may be left out: they are null."""
        rows = conform(table, data)
        try:
            self._writer(table).append(rows)
        except OSError as why:
            raise HalcyonSystemError.of(why, self.directory) from why

    def describe(self, **values: object) -> None:
        """Sets fields of RunInfo that are known only at the end: `describe(duration_ns=…)`."""
        self.info = replace(self.info, **values)  # type: ignore[arg-type]

    def _writer(self, table: str) -> "_TableWriter":
        if table not in self._tables:
            self._tables[table] = _TableWriter(self._hidden, table)
        return self._tables[table]

    def _finish(self) -> None:
        for table in TABLES:
            self._parts |= self._writer(table).finish()
        write_manifest(self._hidden, Manifest(self.info, self._parts))
        if self._synced:
            _sync_all([*self._hidden.rglob("*"), self._hidden])
        self._hidden.replace(self.directory)
        if self._synced:
            _sync(self.directory.absolute().parent)


class _TableWriter:
    """One table: collects pieces to row groups and, for calls, row groups to files."""

    def __init__(self, folder: Path, table: str) -> None:
        self.folder = folder
        self.table = table
        self.waiting: list[pa.Table] = []
        self.waiting_rows = 0
        self.rows = 0
        self.open: pq.ParquetWriter | None = None
        self.parts: dict[str, Part] = {}

    @property
    def part_name(self) -> str:
        return f"calls/part-{len(self.parts):05}.parquet" if self.table == "calls" else f"{self.table}.parquet"

    def append(self, rows: pa.Table) -> None:
        self.waiting.append(rows)
        self.waiting_rows += rows.num_rows
        while self.waiting_rows >= ROWS_PER_GROUP:
            self._write_group()

    def finish(self) -> dict[str, Part]:
        """Writes what waits; at least one file, if without rows."""
        if self.waiting_rows or (self.open is None and not self.parts):
            self._write_group()
        self._end_part()
        return self.parts

    def abandon(self) -> None:
        """Lets go of a file that is of no use any more."""
        if self.open is not None:
            unfinished, self.open = self.open, None
            unfinished.is_open = False  # close() would write its footer

    def _write_group(self) -> None:
        table = pa.concat_tables(self.waiting) if self.waiting else TABLES[self.table].empty_table()
        group, rest = table.slice(0, ROWS_PER_GROUP), table.slice(ROWS_PER_GROUP)
        self.waiting, self.waiting_rows = ([rest], rest.num_rows) if rest.num_rows else ([], 0)
        if self.open is None:
            self.open = pq.ParquetWriter(self.folder / self.part_name, TABLES[self.table], **_settings(self.table))
        # Pieces have dictionaries of their own; a row group of one dictionary is smaller and quicker to read.
        self.open.write_table(group.unify_dictionaries().combine_chunks(), row_group_size=ROWS_PER_GROUP)
        self.rows += group.num_rows
        if self.table == "calls" and self.rows >= ROWS_PER_PART:
            self._end_part()

    def _end_part(self) -> None:
        if self.open is None:
            return
        self.open.close()
        self.open = None
        self.parts[self.part_name] = Part.of(self.folder / self.part_name, self.rows)
        self.rows = 0


def _settings(table: str) -> dict[str, object]:
    settings: dict[str, object] = {"compression": "zstd", "write_statistics": True}
    if table == "calls":
        settings["use_dictionary"] = [name for name in TABLES[table].names if name not in DELTA_COLUMNS]
        settings["column_encoding"] = dict.fromkeys(DELTA_COLUMNS, "DELTA_BINARY_PACKED")
    return settings


def _sync_all(paths: Sequence[Path]) -> None:
    """At once: what a file system is asked for together it writes together."""
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(_sync, paths))


def _sync(path: Path) -> None:
    """Waits until a file or folder is on its device: a name must not outlive a crash that its contents do not."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0o22)
    os.umask(mask)
    return mask
