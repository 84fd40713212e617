"""halcyon run --trace --log: what logs ask of the file system, below the program's calls, and counted beside them."""

import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from observe.recorded_program import Run, recorded

from halcyon.layers.logs import Logs
from halcyon.observe.analysis.answers import Answers
from halcyon.predict.streams import Streams

PIECE, PIECES = 4096, 20
PROGRAM = f"""
import os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o644)
for i in range({PIECES}):
    os.pwrite(file, bytes([i]) * {PIECE}, 3 * {PIECE} * i)
os.fsync(file)
for i in reversed(range({PIECES})):
    assert os.pread(file, {PIECE}, 3 * {PIECE} * i) == bytes([i]) * {PIECE}
os.close(file)
with open(sys.argv[1] + ".text", "w") as text:
    text.write("a" * 100)
os.rename(sys.argv[1] + ".text", sys.argv[1] + ".renamed")
"""
BYTES = PIECE * PIECES


def traced(folder: Path, name: str, **logs: bool) -> Run:
    directory = folder / name
    directory.mkdir()
    extra = Logs((str(directory),), **logs).variables() if name != "plain" else {}
    run = recorded(
        [sys.executable, "-I", "-S", "-B", "-c", PROGRAM, directory / "file"], folder / f"run-{name}", extra=extra
    )
    assert run.code == 0, run.complaints
    assert not run.complaints
    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("traced").resolve()


@pytest.fixture(scope="module")
def logged(folder: Path) -> Run:
    return traced(folder, "logged")


@pytest.fixture(scope="module")
def plain(folder: Path) -> Run:
    return traced(folder, "plain")


def below(run: Run, **wanted: object) -> list[dict[str, Any]]:
    """Calls of level log."""
    every = [call for call in run.calls if call["level"] == "log"]
    return [call for call in every if all(call[name] == value for name, value in wanted.items())]


def test_transfers_have_the_call_that_they_answer_as_their_parent(logged: Run, folder: Path) -> None:
    path = folder / "logged/file"
    answered = {(c["process"], c["thread"], c["number"]): c for c in logged.calls_on(path) if c["level"] == "posix"}
    for kind, call in (("write", "pwrite"), ("read", "pread")):
        data = [one for one in below(logged, kind=kind) if re.search(r"/hostdir\.\d+/data\.", one["path"])]
        data = [one for one in data if one["path"].startswith(f"{path}/")]
        assert sum(one["moved"] for one in data) == BYTES == logged.moved(path, kind)
        assert len(data) == PIECES
        for one in data:
            outer = answered[one["process"], one["thread"], one["parent"]]
            assert (outer["call"], outer["moved"]) == (call, one["moved"])
            assert (one["call"], one["parent_level"], one["parent_call"]) == (f"log {call}", "posix", call)
            assert one["bytes"] == one["moved"] == PIECE
            assert outer["self_ns"] <= outer["duration_ns"] - one["duration_ns"]
    # The log has the pieces one behind the other.
    assert [one["offset"] for one in data] == [PIECE * i for i in reversed(range(PIECES))]


def test_whatever_else_is_asked_of_the_file_system_is_there(logged: Run, folder: Path) -> None:
    path = folder / "logged/file"
    asked = Counter(
        (one["parent_call"], one["call"], re.sub(r"(hostdir|data|index)\..*?(?=/|$)", r"\1", one["path"]))
        for one in below(logged)
        if one["error"] is None
    )
    assert asked["pwrite", "log open", f"{path}/hostdir/data"] == 1
    assert asked["pwrite", "log open", f"{path}/hostdir/index"] == 1
    assert asked["pwrite", "log mmap", f"{path}/hostdir/index"] >= 1
    assert asked["pwrite", "log mkdir", f"{path}/hostdir"] == 1
    assert asked["fsync", "log fdatasync", f"{path}/hostdir/data"] == 1
    assert asked["fsync", "log fdatasync", f"{path}/hostdir/index"] >= 1
    assert asked["rename", "log rename", f"{path}.text"] == 1
    made = sum(count for (_, call, _), count in asked.items() if call == "log mkdir")
    assert made == 4, "a directory for each container, and one for its droppings"
    assert not below(logged, file=None)
    opened = Counter(one["path"] for one in below(logged, kind="open", error=None) if "/hostdir." in one["path"])
    closed = Counter(one["path"] for one in below(logged, kind="close") if "/hostdir." in one["path"])
    assert opened == closed != Counter()


def test_a_plain_directory_has_none(plain: Run) -> None:
    assert plain.moved(next(iter({c["path"] for c in plain.calls if c["path"].endswith("/file")})), "write") == BYTES
    assert not below(plain)


def test_analyses_count_what_they_count_without_logs(plain: Run, logged: Run, folder: Path) -> None:
    def counted(run: Run, name: str) -> dict[str, Any]:
        answers = Answers(run.data)
        files = [
            (run.paths[one.file].replace(str(folder / name), "D"), one.opens, one.writes, one.reads, one.syncs,
             one.bytes_written, one.bytes_read)
            for one in answers.files
        ]  # fmt: skip
        return {
            "calls": answers.survey.calls,
            "files": sorted(file for file in files if file[0].startswith("D")),
            "ranks": [(one.calls, one.bytes_written, one.bytes_read) for one in answers.ranks],
            "bandwidths": [(one.kind, one.bytes) for one in answers.bandwidths if one.file is None],
            "activity": [(one.kind, sum(one.bytes)) for one in answers.activity.series],
            "metadata": sorted((one.kind, one.calls) for one in answers.metadata.kinds),
            "sizes": [one for one in answers.sizes if one.level != "log"],
            "times": sorted((o.level, o.kind, o.calls, o.errors, o.bytes) for o in answers.times if o.level != "log"),
            "learnt": [stream.calls for stream in Streams(run.data).all],
        }

    without, on_logs = counted(plain, "plain"), counted(logged, "logged")
    for name, value in without.items():
        assert value, name
        assert on_logs[name] == value, name


def test_what_the_file_system_saw_can_be_asked(logged: Run) -> None:
    told = {one.kind: one for one in Answers(logged.data).times if one.level == "log"}
    assert told["write"].bytes >= BYTES + 100
    assert told["read"].bytes >= BYTES
    assert told["open"].calls == len(below(logged, kind="open"))
    assert told["namespace"].calls >= 5


def test_the_logs_of_a_node_are_traced_as_well(folder: Path) -> None:
    run = traced(folder, "node", per_node=True)
    data = [one for one in below(run, call="log pwrite") if "/data." in one["path"] or "/node." in one["path"]]
    assert sum(one["moved"] for one in data) == BYTES + 100
    assert {one["parent_call"] for one in data} == {"pwrite", "write"}
