"""scripts/bench, in a tree that has other benchmarks: which figures they have, and which of them make it fail."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
COUNTED = "echo 'room.size 1.5 KiB'"


def rounds(*values: float, name: str = "room.speed") -> str:
    return "\n".join(f"echo 'value {name} {value} ratio'; echo round" for value in values)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    (tmp_path / "bench/room").mkdir(parents=True)
    for shared in (ROOT / "bench").glob("*.py"):
        shutil.copy(shared, tmp_path / "bench")
    return tmp_path


def bench(tree: Path, **scripts: str) -> subprocess.CompletedProcess[str]:
    for name, body in scripts.items():
        file = tree / "bench/room" / f"{name}.sh"
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)
    return subprocess.run(
        [str(tree / "scripts/bench")], env=os.environ | {"HALCYON_PYTHON": sys.executable},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_figure_is_the_median_of_all_its_rounds_with_the_spread(tree: Path) -> None:
    done = bench(tree, first=rounds(7, 1, 2, 3, 4, 5, 60))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "room.speed 4 ratio",
        "room.speed_p10 1.6 ratio",
        "room.speed_p90 28.2 ratio",
        "room.speed_rounds 7 rounds",
    ]


def test_six_rounds_are_no_figure(tree: Path) -> None:
    done = bench(tree, first=rounds(1, 2, 3, 4, 5, 6))
    assert done.returncode == 1
    assert done.stdout == "room.speed not met: 6 of 7 rounds count; the median of all 6 is 3.5 ratio\n"
    assert "failed or not met: room/first" in done.stderr


def test_a_round_whose_premise_failed_does_not_count_and_is_shown(tree: Path) -> None:
    failed = "echo 'failed the limit bites: store/compute 0.01'\n" + rounds(100)
    done = bench(tree, first=failed + "\n" + rounds(*[2] * 7))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "room.speed 2 ratio"
    assert lines[-3:] == ["room.speed_rounds 7 rounds", "room.speed_not_counted 1 rounds", "room.speed_all 2 ratio"]
    assert "round 1 does not count: the limit bites: store/compute 0.01\n" in done.stderr
    assert "room.speed: 1 do not count: the limit bites (1, last: store/compute 0.01)" in done.stderr


def test_a_figure_whose_premises_never_hold_is_not_met_and_says_which(tree: Path) -> None:
    failed = "echo 'failed the limit bites: store/compute 0.01'\n" + rounds(0.24)
    done = bench(tree, first="\n".join([failed] * 7), second=rounds(*[2] * 7, name="room.other"))
    assert done.returncode == 1
    first, *second = done.stdout.splitlines()
    assert first == (
        "room.speed not met: 0 of 7 rounds count; 7 do not count: the limit bites (7, last: store/compute 0.01); "
        "the median of all 7 is 0.24 ratio"
    )
    assert second[0] == "room.other 2 ratio"


def test_a_figure_that_cannot_be_measured_here_is_not_met_and_the_others_are_run(tree: Path) -> None:
    done = bench(tree, first="echo 'unmet room.speed only root can limit a device'", second=COUNTED)
    assert done.returncode == 1
    assert done.stdout == "room.speed not met: only root can limit a device\nroom.size 1.5 KiB\n"


def test_a_benchmark_that_fails_is_named_and_its_rounds_are_shown(tree: Path) -> None:
    done = bench(tree, first=f"{rounds(1, 2)}\necho 'value room.speed 9 ratio'; exit 3", second=COUNTED)
    assert done.returncode == 1
    first, second = done.stdout.splitlines()
    assert first == (
        "room.speed not met: 2 of 7 rounds count; 1 do not count: the round is complete (1, last: the benchmark ended "
        "within it); the benchmark ended with status 3; the median of all 3 is 2 ratio"
    )
    assert second == "room.size 1.5 KiB"
    assert "error: room/first: the benchmark ended with status 3" in done.stderr


def test_a_benchmark_that_fails_with_all_its_rounds_is_a_failure(tree: Path) -> None:
    done = bench(tree, first=f"{rounds(*[2] * 7)}\nexit 1")
    assert done.returncode == 1
    assert "room.speed 2 ratio" in done.stdout


def test_a_benchmark_without_a_figure_fails(tree: Path) -> None:
    done = bench(tree, first="echo so fast")
    assert done.returncode == 1
    assert "first printed no figure" in done.stderr
    assert "so fast" in done.stderr
    assert done.stdout == ""


def test_figures_with_units_in_their_names_count(tree: Path) -> None:
    figures = "room.overhead_ns_4KiB 87 ns\nroom.memory_MiB 3.0 MiB\n"
    done = bench(tree, first=f"printf '{figures}'")
    assert (done.returncode, done.stdout) == (0, figures), done.stderr


def test_a_study_follows_the_same_rule(tree: Path) -> None:
    study = tree / "bench/study/long.sh"
    study.parent.mkdir()
    study.write_text(f"#!/bin/sh\n{rounds(1, 2)}\n")
    study.chmod(0o755)
    done = subprocess.run(
        [str(tree / "scripts/study"), "long"], env=os.environ | {"HALCYON_PYTHON": sys.executable},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout[:45]) == (1, "room.speed not met: 2 of 7 rounds count; the ")


def study(tree: Path, name: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(tree / "scripts/study"), name], env=os.environ | {"HALCYON_PYTHON": sys.executable},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_one_script_may_hold_several_studies(tree: Path) -> None:
    folder = tree / "bench/study"
    folder.mkdir()
    for name, body in (("pair", 'echo "room.of_${1:-none} 1 s"'), ("pair-own", "echo room.own 2 s")):
        (folder / f"{name}.sh").write_text(f"#!/bin/sh\n{body}\n")
        (folder / f"{name}.sh").chmod(0o755)
    (folder / "pair_studies.py").write_text("STUDIES = {'small': 1, 'equal': 2}\n")
    assert study(tree, "pair-equal").stdout == "room.of_equal 1 s\n"
    assert study(tree, "pair-own").stdout == "room.own 2 s\n"
    for name in ("other-equal", "pair", "pair-nope"):
        refused = study(tree, name)
        assert refused.returncode == 1
        assert f"no study '{name}'; studies: pair-equal pair-own pair-small\n" in refused.stderr
