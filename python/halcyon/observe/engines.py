"""Engines that answer questions about data sets: DuckDB in this process, or Spark; Ibis expressions work on both."""

import os
import re
import tempfile
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa

from halcyon.database import Asked, Database, Rows
from halcyon.errors import UnavailableError, UsageError

DUCKDB = "duckdb"
LOCAL_SPARK = "local-spark"
KNOWN = f"{DUCKDB}, {LOCAL_SPARK}, spark://HOST:PORT"

DEFAULT_MEMORY = 4 << 30
"""Bytes an engine may use; what needs more goes through files in the folder for temporary files."""

_numbers = count()
"""Of Spark's tables: a process has one session."""


class Engine(ABC):
    """Opens Parquet files as Ibis tables. Data sets that are compared with one another must share one engine."""

    name: str

    @abstractmethod
    def read(self, paths: Sequence[Path], label: str) -> ibis.Table:
        """One table of all files in `paths`; `label` appears in the engine's own messages."""

    @abstractmethod
    def stream(self, table: Rows, rows: int = 1 << 18) -> Iterator[pa.RecordBatch]:
        """The rows of `table` in its order, in pieces of about `rows`; another question to the engine ends it."""

    @abstractmethod
    def close(self) -> None:
        """Gives memory and files back. Tables that were read are of no use after it."""


class DuckDbEngine(Engine):
    """DuckDB in this process."""

    name = DUCKDB

    def __init__(self, threads: int, memory_bytes: int) -> None:
        self._spill = tempfile.TemporaryDirectory(prefix="halcyon-duckdb-", ignore_cleanup_errors=True)
        self._backend: Any = Database().connect(
            threads=threads, memory_limit=f"{memory_bytes}B", temp_directory=self._spill.name
        )
        self._tables: Counter[str] = Counter()

    def read(self, paths: Sequence[Path], label: str) -> ibis.Table:
        names = [re.sub(r"([\[*?])", r"[\1]", str(path)) for path in paths]  # else they would be taken as patterns
        self._tables[label] += 1
        return self._backend.read_parquet(names, table_name=f"{label}_{self._tables[label]}")

    def stream(self, table: Rows, rows: int = 1 << 18) -> Iterator[pa.RecordBatch]:
        # Not Ibis' to_pyarrow_batches: it calls what DuckDB 2 does not have any more.
        wanted = self._backend.prepared(table)
        schema = wanted.columns.to_pyarrow()  # DuckDB's sums of whole numbers are wider
        for batch in self._backend.answer(wanted).to_arrow_reader(rows):
            yield batch.cast(schema)

    def close(self) -> None:
        self._backend.disconnect()
        self._spill.cleanup()


class SparkEngine(Engine):
    """Spark: in this process (`local-spark`), or on a cluster that sees the data set under the same path.

    A process has one Spark session; settings of the first engine hold for all.
    """

    def __init__(self, name: str, threads: int, memory_bytes: int) -> None:
        self.name = name
        # Concerns pandas' own frames, which no expression of ours uses.
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
        self._session = _spark_session(name, threads, memory_bytes)
        self._backend: Any = ibis.pyspark.connect(self._session)

    def read(self, paths: Sequence[Path], label: str) -> ibis.Table:
        name = f"{label}_{next(_numbers)}"
        escaped = [re.sub(r"([\[\]{}*?\\])", r"\\\1", str(path.absolute())) for path in paths]
        self._session.read.parquet(*escaped).createOrReplaceTempView(name)
        return self._backend.table(name)

    def stream(self, table: Rows, rows: int = 1 << 18) -> Iterator[pa.RecordBatch]:
        expression = table.table if isinstance(table, Asked) else table
        yield from expression.to_pyarrow_batches(chunk_size=rows)  # Ibis collects them first

    def close(self) -> None:
        """Leaves the session to other engines of this process; it ends with the process."""


def _spark_session(name: str, threads: int, memory_bytes: int) -> Any:
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as why:
        raise UnavailableError(f"{name}: pyspark is not installed ({why}): pip install 'halcyon[spark]'") from why
    builder: Any = SparkSession.builder
    local = name == LOCAL_SPARK
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.driver.memory": f"{memory_bytes >> 20}m",
    }
    if local:
        # Data sets of one machine fit few partitions; Spark's own default of 200 costs seconds for each question.
        settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
        settings |= {"spark.sql.shuffle.partitions": str(threads)}
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        session = builder.master(f"local[{threads}]" if local else name).appName("halcyon").getOrCreate()
    except (PySparkException, OSError) as why:
        raise UnavailableError(f"{name}: Spark does not start: {why}; it needs Java 17 or newer") from why
    session.sparkContext.setLogLevel("ERROR")
    return session


def connect(name: str = DUCKDB, *, threads: int | None = None, memory_bytes: int = DEFAULT_MEMORY) -> Engine:
    """The engine called `name`: `duckdb`, `local-spark` or `spark://HOST:PORT`.

    `threads`: default, all processors that this process may use. UsageError: no such engine. UnavailableError: it is
    not installed, or does not start.
    """
    # A setting of the whole process. Both engines join nested SELECTs themselves, in a fraction of the time that Ibis
    # takes for it: a fifth of that of a small run's report.
    ibis.options.sql.fuse_selects = False
    threads = len(os.sched_getaffinity(0)) if threads is None else threads
    if threads < 1 or memory_bytes < 1 << 26:
        raise UsageError(f"{threads} threads, {memory_bytes} bytes: expected 1 thread and 64 MiB, or more")
    if name == DUCKDB:
        return DuckDbEngine(threads, memory_bytes)
    if name == LOCAL_SPARK or re.fullmatch(r"spark://[^/\s]+:\d+", name):
        return SparkEngine(name, threads, memory_bytes)
    raise UsageError(f"{name}: no such engine; known engines: {KNOWN}")
