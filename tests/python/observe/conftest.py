"""Data sets for the tests, and an engine that they run on."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pytest
from strace_comparison import Comparison
from traces import packed

from halcyon.observe.dataset import Dataset, DatasetWriter
from halcyon.observe.engines import DUCKDB, Engine, connect
from halcyon.observe.schema import RunInfo


@pytest.fixture
def duckdb() -> Iterator[Engine]:
    """For tests of many examples, for each of which Spark would need seconds."""
    opened = connect(DUCKDB, threads=1, memory_bytes=1 << 30)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def packed_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], Dataset]]:
    """The data set of a trace of tests/data, which is packed for the first test that asks, and for all to read."""
    known: dict[Path, Dataset] = {}
    with ExitStack() as opened:

        def data_set(trace: Path) -> Dataset:
            if trace not in known:
                known[trace] = opened.enter_context(packed(trace, tmp_path_factory.mktemp("packed") / "run"))
            return known[trace]

        yield data_set


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
    with DatasetWriter(directory, RunInfo("test 1", 1.5, 400, 2, command="./app --größe 1"), synced=False) as writer:
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
