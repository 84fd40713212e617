"""Data sets for the tests, and the engines that they run on."""

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pytest
from strace_comparison import Comparison

from halcyon.observe.dataset import DatasetWriter
from halcyon.observe.engines import DUCKDB, LOCAL_SPARK, Engine, connect
from halcyon.observe.schema import RunInfo


@pytest.fixture(params=[DUCKDB, LOCAL_SPARK])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == LOCAL_SPARK:
        if find_spec("pyspark") is None:
            pytest.skip("pyspark is not installed")
        if shutil.which("java") is None:
            pytest.skip("Spark needs Java, and there is none")
    opened = connect(request.param, threads=2, memory_bytes=1 << 30)
    yield opened
    opened.close()


@pytest.fixture
def duckdb() -> Iterator[Engine]:
    """For tests of many examples, for each of which Spark would need seconds."""
    opened = connect(DUCKDB, threads=1, memory_bytes=1 << 30)
    yield opened
    opened.close()


@pytest.fixture
def compare(tmp_path: Path) -> Comparison:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    made = Comparison(tmp_path.resolve())
    made.directory.mkdir()
    return made


@pytest.fixture
def small_dataset(tmp_path: Path) -> Path:
    """Two processes, two files, four calls; all else is empty."""
    directory = tmp_path / "run"
    with DatasetWriter(directory, RunInfo("test 1", 1.5, 400, 2, command="./app --größe 1")) as writer:
        writer.write("processes", pa.table({"process": [0, 1], "rank": [0, 1], "host": ["n1", None]}))
        writer.write("files", pa.table({"file": [0, 1], "path": ["/a", "/b"], "servers": [["ost3", "ost1"], None]}))
        writer.write(
            "calls",
            pa.table(
                {
                    "process": [0, 0, 1, 1],
                    "level": ["posix", "posix", "posix", "stdio"],
                    "call": ["open", "pwrite", "pwrite", "fread"],
                    "kind": ["open", "write", "write", "read"],
                    "file": [0, 0, 1, None],
                    "moved": [None, 10, 20, 5],
                    "start_ns": [0, 100, 50, 200],
                }
            ),
        )
    return directory
