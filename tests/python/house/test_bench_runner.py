"""scripts/bench, in a tree that has other benchmarks: which of them make it fail."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FIGURE = "echo 'room.speed 1.5 ratio'"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    (tmp_path / "bench/room").mkdir(parents=True)
    return tmp_path


def bench(tree: Path, **scripts: str) -> subprocess.CompletedProcess[str]:
    for name, body in scripts.items():
        file = tree / "bench/room" / f"{name}.sh"
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)
    command = [str(tree / "scripts/bench")]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_what_cannot_be_measured_here_is_left_out_and_the_rest_counts(tree: Path) -> None:
    done = bench(tree, first="echo 'only root can' >&2; exit 77", second=FIGURE)
    assert (done.returncode, done.stdout) == (0, "room.speed 1.5 ratio\n"), done.stderr
    assert "only root can" in done.stderr
    assert "first is left out" in done.stderr


def test_a_benchmark_that_fails_is_named_and_the_others_are_run(tree: Path) -> None:
    done = bench(tree, first=f"{FIGURE}; exit 1", second=FIGURE)
    assert (done.returncode, done.stdout.count("room.speed")) == (1, 2)
    assert "failed: room/first" in done.stderr


def test_a_benchmark_without_a_figure_fails(tree: Path) -> None:
    done = bench(tree, first="echo so fast")
    assert done.returncode == 1
    assert "first printed no figure" in done.stderr
    assert done.stdout == ""


def test_figures_with_units_in_their_names_count(tree: Path) -> None:
    figures = "room.overhead_ns_4KiB 87 ns\nroom.memory_MiB 3.0 MiB\n"
    done = bench(tree, first=f"printf '{figures}'")
    assert (done.returncode, done.stdout) == (0, figures), done.stderr
