"""Exports are read back: OTF2 by otf2-print and our reader, Chrome's JSON and CSV by their own libraries."""

import csv
import gzip
import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import otf2
import pyarrow as pa
import pytest
from otf2.events import IoOperationBegin, IoOperationComplete
from small_disk import small_disk
from traces import DATA, Row, chosen, packed, rows

from halcyon.cli import main
from halcyon.errors import HalcyonSystemError, UsageError
from halcyon.observe.dataset import Dataset, DatasetWriter
from halcyon.observe.schema import TABLES, RunInfo
from halcyon.observe.writers import writer_of

SOURCES = {
    "dftracer": DATA / "dftracer" / "threads.pfw",
    "recorder": DATA / "recorder" / "mpi",
    "darshan": DATA / "darshan" / "mpi-io-test-dxt.darshan",
}


@pytest.fixture(scope="module", params=list(SOURCES))
def dataset(request: pytest.FixtureRequest, packed_once: Callable[[Path], Dataset]) -> Dataset:
    return packed_once(SOURCES[request.param])


@pytest.fixture(scope="module")
def archive(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of OTF2."""
    target = tmp_path_factory.mktemp("otf2") / "archive"
    writer_of("otf2")(dataset, target)
    return target


def comparable(dataset: Dataset, *names: str) -> list[tuple[object, ...]]:
    """Calls with their file's path, in an order that does not depend on numbering."""
    paths = dict(chosen(rows(dataset, "files"), "file", "path"))
    calls = [row | {"path": paths.get(row["file"])} for row in rows(dataset, "calls")]
    return sorted(chosen(calls, *names), key=repr)


def test_otf2_reads_back_as_it_was(dataset: Dataset, archive: Path, tmp_path: Path) -> None:
    with packed(archive, tmp_path / "back") as back:
        names = ["process", "level", "call", "kind", "path", "offset", "moved", "error", "start_ns", "duration_ns"]
        if dataset.info.source.startswith("dftracer"):
            # Elsewhere calls of one thread overlap: Darshan knows no threads, Recorder rounds times.
            names += ["result", "parent_call", "self_ns"]
        assert comparable(back, *names) == comparable(dataset, *names)
        assert chosen(rows(back, "processes"), "rank", "host") == chosen(rows(dataset, "processes"), "rank", "host")
        assert back.info.ranks == dataset.info.ranks
        assert back.info.start == pytest.approx(dataset.info.start)


def test_an_archive_that_finds_no_space_leaves_nothing(dataset: Dataset, tmp_path: Path) -> None:
    with small_disk(tmp_path / "small", "8k") as small:
        with pytest.raises(HalcyonSystemError, match=r"small/a: the writer of OTF2 .*: No space left on device"):
            writer_of("otf2")(dataset, small / "a")
        assert not list(small.iterdir())


def test_otf2_print_reads_the_archive(dataset: Dataset, archive: Path) -> None:
    if shutil.which("otf2-print") is None:
        pytest.skip("otf2-print is not installed (Debian: otf2-tools)")
    printed = subprocess.run(
        ["otf2-print", "--silent", str(archive / "traces.otf2")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert printed.returncode == 0, printed.stderr
    shown = subprocess.run(
        ["otf2-print", str(archive / "traces.otf2")], capture_output=True, text=True, check=True
    ).stdout
    calls = rows(dataset, "calls")
    assert len(re.findall(r"^ENTER ", shown, re.MULTILINE)) == len(calls)
    assert len(re.findall(r"^LEAVE ", shown, re.MULTILINE)) == len(calls)
    data = [row for row in calls if row["kind"] in ("read", "write", "sync") and row["file"] is not None]
    assert len(re.findall(r"^IO_OPERATION_BEGIN ", shown, re.MULTILINE)) == len(data)
    assert len(re.findall(r"^IO_OPERATION_COMPLETE ", shown, re.MULTILINE)) == len(data)


def test_otf2_spreads_calls_that_overlap(tmp_path: Path) -> None:
    words = {"level": ["posix"] * 3, "call": ["read"] * 3, "kind": ["read"] * 3, "file": [0] * 3}
    times = {"process": [0] * 3, "start_ns": [0, 5, 8], "duration_ns": [10, 10, 1], "moved": [1, 2, 3]}
    with DatasetWriter(tmp_path / "run", RunInfo("test", 10.0, None, None)) as writer:
        writer.write("processes", pa.table({"process": [0]}))
        writer.write("files", pa.table({"file": [0], "path": ["/a"]}))
        writer.write("calls", pa.table(words | times))
    with Dataset.open(tmp_path / "run") as dataset:
        writer_of("otf2")(dataset, tmp_path / "archive")
    with packed(tmp_path / "archive", tmp_path / "back") as back:
        assert chosen(rows(back, "calls"), "start_ns", "duration_ns", "moved", "thread") == [
            (0, 10, 1, 0), (5, 10, 2, 1), (8, 1, 3, 0),
        ]  # fmt: skip


def partly_known(directory: Path) -> Path:
    """A data set with calls whose bytes are told by others, asked for only, or none because they failed."""
    calls = {
        "level": ["stdio", "posix", "log", "mpiio", "posix", "posix"],
        "call": ["fwrite", "stdio write", "log pwrite", "MPI_File_write_at", "pwrite", "fsync"],
        "kind": ["write", "write", "write", "write", "write", "sync"],
        "number": [1, 2, 3, 4, 5, 6],
        "parent": [None, 1, 2, None, None, None],
        "parent_level": [None, "stdio", "posix", None, None, None],
        "parent_call": [None, "fwrite", "stdio write", None, None, None],
        "bytes": [100, 4096, 4096, 30, 7, None],
        "moved": [None, 4096, 4096, None, None, None],
        "error": [None, None, None, None, 28, None],
        "start_ns": [0, 10, 15, 100, 200, 300],
        "duration_ns": [50, 20, 10, 50, 50, 50],
        "process": [0] * 6,
        "thread": [0] * 6,
        "file": [0, 0, 1, 0, 0, 0],
    }
    with DatasetWriter(directory, RunInfo("test", 10.0, None, None)) as writer:
        writer.write("processes", pa.table({"process": [0]}))
        writer.write("files", pa.table({"file": [0, 1], "path": ["/a", "/a/hostdir.0/data.n0.1.2"]}))
        writer.write("calls", pa.table(calls))
    return directory


def test_otf2_operations_add_up_to_what_was_moved(tmp_path: Path) -> None:
    with Dataset.open(partly_known(tmp_path / "run")) as dataset:
        writer_of("otf2")(dataset, tmp_path / "archive")
        kept = comparable(dataset, "level", "call", "kind", "path", "bytes", "moved", "error")
    sums: Counter[str] = Counter()
    with otf2.reader.open(str(tmp_path / "archive" / "traces.otf2")) as trace:
        paradigms = {}
        for _, event in trace.events:
            if isinstance(event, IoOperationBegin):
                paradigms[event.matching_id] = event.handle.io_paradigm.identification
            if isinstance(event, IoOperationComplete):
                sums[paradigms[event.matching_id]] += event.bytes_result
    assert sums == {"POSIX": 4096, "HALCYON-LOG": 4096, "MPI-IO": 30}
    with packed(tmp_path / "archive", tmp_path / "back") as back:
        assert comparable(back, "level", "call", "kind", "path", "bytes", "moved", "error") == kept


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_chrome_has_one_event_a_call(dataset: Dataset, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    writer_of("chrome")(dataset, path)
    content = path.read_bytes()
    assert content.startswith(b"\x1f\x8b") == name.endswith(".gz")
    document = json.loads(gzip.decompress(content) if name.endswith(".gz") else content)
    events: list[Row] = [event for event in document["traceEvents"] if event["ph"] == "X"]
    paths = dict(chosen(rows(dataset, "files"), "file", "path"))
    calls = rows(dataset, "calls")
    assert len(events) == len(calls)
    for event, call in zip(events, calls, strict=True):
        assert (event["name"], event["pid"], event["cat"]) == (
            call["call"], call["process"], f"{call['level']},{call['kind']}",
        )  # fmt: skip
        assert (round(event["ts"] * 1000), round(event["dur"] * 1000)) == (call["start_ns"], call["duration_ns"])
        assert event["args"].get("file") == paths.get(call["file"])
        assert event["args"].get("moved") == call["moved"]
    named = {event["pid"] for event in document["traceEvents"] if event["name"] == "process_name"}
    assert named == {row["process"] for row in rows(dataset, "processes")}


def test_csv_has_all_tables(dataset: Dataset, tmp_path: Path) -> None:
    writer_of("csv")(dataset, tmp_path / "tables")
    for name, schema in TABLES.items():
        with (tmp_path / "tables" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            read = list(csv.DictReader(file))
        own = rows(dataset, name)
        assert len(read) == len(own)
        for found, row in zip(read, own, strict=True):
            assert list(found) == schema.names
            for column, value in row.items():
                text = " ".join(value) if isinstance(value, list) else "" if value is None else value
                if isinstance(text, float):
                    assert float(found[column]) == text
                else:
                    assert found[column] == str(text)
    info = json.loads((tmp_path / "tables" / "run.json").read_text())
    assert info["source"] == dataset.info.source


def test_csv_joins_lists_by_spaces(small_dataset: Path, tmp_path: Path) -> None:
    with Dataset.open(small_dataset) as dataset:
        writer_of("csv")(dataset, tmp_path / "tables")
    with (tmp_path / "tables" / "files.csv").open(newline="", encoding="utf-8") as file:
        assert [(row["path"], row["servers"]) for row in csv.DictReader(file)] == [("/a", "ost3 ost1"), ("/b", "")]


@pytest.mark.parametrize("name", ["otf2", "chrome", "csv"])
def test_what_exists_is_not_overwritten(small_dataset: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "mine"
    target.write_text("mine")
    with Dataset.open(small_dataset) as dataset, pytest.raises(UsageError, match="mine: exists already"):
        writer_of(name)(dataset, target)
    assert target.read_text() == "mine"


def test_the_commands_pack_and_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, out = tmp_path / "run", tmp_path / "trace.json"
    assert main(["pack", "-o", str(run), "--threads", "1", str(SOURCES["dftracer"])]) == 0
    assert capsys.readouterr().out == f"{run}: data set of a trace of dftracer\n"
    assert main(["export", "--to", "chrome", "-o", str(out), str(run)]) == 0
    assert json.loads(out.read_text())["traceEvents"]
    straight = tmp_path / "straight.json"
    assert main(["export", "--to", "chrome", "-o", str(straight), str(SOURCES["dftracer"])]) == 0
    assert straight.read_bytes() == out.read_bytes()
    assert main(["export", "--to", "csv", "-o", str(out), str(run)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["pack", "-o", str(tmp_path / "x"), str(tmp_path / "trace.json")]) == 1
    assert "not recognized" in capsys.readouterr().err  # it is no list of DFTracer's
    assert main(["export", "--to", "csv", "-o", str(tmp_path / "tables"), str(SOURCES["dftracer"])]) == 0
    assert (tmp_path / "tables" / "calls.csv").is_file()
