"""What is asked of every engine: the same questions have the same answers.

These are in one file, so that one process of the tests starts Spark, once.
"""

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pytest
from changed_dataset import replace_table
from derived_calls import Row, derived
from observe.analysis import scenarios
from observe.analysis.random_trace import random_trace

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.conform import plain_type
from halcyon.observe.dataset import Dataset, DatasetWriter
from halcyon.observe.derive import DERIVED
from halcyon.observe.engines import DUCKDB, LOCAL_SPARK, Engine, connect
from halcyon.observe.report_tables import report_tables
from halcyon.observe.schema import CALLS, TABLES, RunInfo
from halcyon.printed.plain import plain

QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dspark.sql.codegen.wholeStage=false"
"""Of Java, and of Spark: a few questions are not worth what their best compilers take."""


@pytest.fixture(scope="module", params=[DUCKDB, LOCAL_SPARK])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == LOCAL_SPARK:
        if find_spec("pyspark") is None:
            pytest.skip("pyspark is not installed")
        if shutil.which("java") is None:
            pytest.skip("Spark needs Java, and there is none")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("JDK_JAVA_OPTIONS", f"{QUICK_START} {os.environ.get('JDK_JAVA_OPTIONS', '')}")
        opened = connect(request.param, threads=1, memory_bytes=1 << 30)
    yield opened
    opened.close()


def test_what_was_written_is_read(small_dataset: Path, engine: Engine) -> None:
    opened = Dataset.open(small_dataset, engine)
    assert opened.info == RunInfo("test 1", 1.5, 400, 2, command="./app --größe 1")
    rows = opened.calls.order_by(["process", "start_ns"]).select("call", "file", "moved").to_pyarrow().to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("open", 0, None), ("pwrite", 0, 10), ("pwrite", 1, 20), ("fread", None, 5),
    ]  # fmt: skip
    files = opened.files.order_by("file").to_pyarrow().to_pylist()
    assert [row["servers"] for row in files] == [["ost3", "ost1"], None]


def test_every_table_has_its_columns_in_every_engine(small_dataset: Path, engine: Engine) -> None:
    opened = Dataset.open(small_dataset, engine)
    for name, schema in TABLES.items():
        table = getattr(opened, name)
        assert list(table.columns) == schema.names
        assert [kind.copy(nullable=True) for kind in table.schema().types] == [
            ibis.dtype(plain_type(field.type)).copy(nullable=True) for field in schema
        ]
    assert opened.counters.count().execute() == 0


def test_one_expression_answers_on_both_engines(small_dataset: Path, engine: Engine) -> None:
    opened = Dataset.open(small_dataset, engine)
    joined = opened.calls.join(opened.files, "file").group_by("path").agg(bytes=lambda t: t.moved.sum())
    assert joined.order_by("path").to_pyarrow().to_pylist() == [
        {"path": "/a", "bytes": 10},
        {"path": "/b", "bytes": 20},
    ]


def test_data_sets_of_one_engine_can_be_compared(small_dataset: Path, tmp_path: Path, engine: Engine) -> None:
    words = {"level": ["posix"] * 3, "call": ["write"] * 3, "kind": ["write"] * 3}
    with DatasetWriter(tmp_path / "other", RunInfo("test 1", None, None, None)) as writer:
        writer.write("calls", pa.table({"process": [0] * 3, **words, "start_ns": [0, 1, 2]}))
    one, other = Dataset.open(small_dataset, engine), Dataset.open(tmp_path / "other", engine)
    assert ibis.union(one.calls, other.calls).count().execute() == 7


def test_paths_are_names_not_patterns(small_dataset: Path, tmp_path: Path, engine: Engine) -> None:
    strange = small_dataset.rename(tmp_path / "a[b]* {c,d}?é")
    assert Dataset.open(strange, engine).calls.count().execute() == 4


def test_columns_that_an_older_version_lacks_are_null(small_dataset: Path, engine: Engine) -> None:
    replace_table(small_dataset, "files", pa.table({"file": pa.array([0], pa.int32()), "path": ["/a"]}))
    assert Dataset.open(small_dataset, engine).files.select("path", "servers").to_pyarrow().to_pylist() == [
        {"path": "/a", "servers": None}
    ]


def test_every_engine_derives_alike(engine: Engine, tmp_path: Path) -> None:
    words: Row = dict.fromkeys(CALLS.names) | {"process": 0, "thread": 0, "level": "posix", "kind": "write"}
    rows = [
        words | {"number": 1, "call": "MPI_File_write", "level": "mpiio", "start_ns": 0, "duration_ns": 10},
        *(
            words
            | {"number": 2 + i, "parent": 1, "call": "pwrite", "start_ns": 1 + i, "duration_ns": 1, "file": 3}
            | {"offset": 8 * i, "moved": 4}
            for i in range(3)
        ),
    ]
    found = derived(engine, tmp_path, rows)
    assert [tuple(row[name] for name in DERIVED) for row in found] == [
        (None, None, 7, None),
        ("mpiio", "MPI_File_write", 1, None),
        ("mpiio", "MPI_File_write", 1, 4),
        ("mpiio", "MPI_File_write", 1, 4),
    ]


def test_self_is_unknown_where_nesting_is_unless_nothing_lies_below(engine: Engine, tmp_path: Path) -> None:
    words: Row = dict.fromkeys(CALLS.names) | {"process": 0, "call": "x", "kind": "write", "duration_ns": 5}
    rows = [words | {"level": "mpiio", "start_ns": 0}, words | {"level": "posix", "start_ns": 1}]
    assert [row["self_ns"] for row in derived(engine, tmp_path, rows)] == [None, 5]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    path = random_trace(11).store(tmp_path_factory.mktemp("reference") / "run")
    with Dataset.open(path) as dataset:
        return path, plain(report_tables(dataset))


def test_all_engines_give_the_same_tables(reference: tuple[Path, dict[str, Any]], engine: Engine) -> None:
    path, expected = reference
    found = plain(report_tables(Dataset.open(path, engine)))
    assert found["calls"] > 0
    for name, value in expected.items():
        assert found[name] == value, name


def test_all_engines_divide_collective_calls_alike(tmp_path: Path, engine: Engine) -> None:
    path = scenarios.behind_the_aggregator(own_ms=30.0).store(tmp_path / "run")
    with Dataset.open(path) as dataset:
        expected = Answers(dataset).collectives.all
    assert expected[0].waited_s > 1.0
    assert Answers(Dataset.open(path, engine)).collectives.all == expected
