"""Positions of files that processes share are known, and asked for no more often than that needs."""

import shutil
from pathlib import Path

import pytest
from recorded_program import Run, compiled, recorded

MOVED = "offsets in files that another process read or wrote at the same position"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    made = (tmp_path / "files").resolve()
    made.mkdir()
    return made


def parents_offsets(run: Run, path: Path) -> list[int]:
    """Of the process that opened the file, in the order of its writes."""
    calls = run.calls_on(path)
    (parent,) = [c["process"] for c in calls if c["call"] == "open"]
    own = [c for c in calls if c["process"] == parent and c["call"] == "write"]
    return [c["offset"] for c in sorted(own, key=lambda c: c["number"])]


def run_shared(directory: Path, way: str) -> Run:
    program = compiled("shared_position.c", directory.parent)
    run = recorded([program, directory, way], directory.parent / "run")
    assert run.code == 0, run.complaints
    return run


@pytest.mark.parametrize("way", ["fork", "raw_fork", "raw_clone", "raw_clone3", "clone"])
def test_what_a_child_moved_is_known(directory: Path, way: str) -> None:
    run = run_shared(directory, way)
    assert parents_offsets(run, directory / "file") == [0, 20]


def test_turns_are_known(directory: Path) -> None:
    run = run_shared(directory, "turns")
    assert parents_offsets(run, directory / "file") == list(range(10, 20_000, 20))
    assert not run.absences()


def test_a_position_that_another_process_moves_seldom_is_counted_where_it_is_not_known(directory: Path) -> None:
    run = run_shared(directory, "seldom")
    true = [10 * i + (10 if i >= 500 else 0) + (10 if i >= 700 else 0) for i in range(1000)]
    found = parents_offsets(run, directory / "file")
    wrong = [i for i, (one, other) in enumerate(zip(found, true, strict=True)) if one != other]
    assert len(wrong) <= run.absences()[MOVED] <= 64
    assert all(500 <= i < 564 for i in wrong)  # and never again


def test_a_fork_costs_few_system_calls(directory: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    program = compiled("shared_position.c", directory.parent)
    log = directory.parent / "log"
    run = recorded(
        ["strace", "-f", "-y", "-e", "trace=lseek,write,read", "-o", log, program, directory, "quiet"],
        directory.parent / "run",
    )
    assert run.code == 0, run.complaints
    assert parents_offsets(run, directory / "file") == list(range(0, 10_000, 10))
    lines = [line for line in log.read_text().splitlines() if f"<{directory / 'file'}>" in line]
    assert sum(" write(" in line or " read(" in line for line in lines) == 2000
    assert sum(" lseek(" in line for line in lines) < 100
