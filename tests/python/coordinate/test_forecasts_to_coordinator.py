"""`halcyon run --coordinate`: the coordinator is told what the program is about to do."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from coordinator_process import LIMIT_S, PATIENT, CoordinatorProcess, wait_until
from overheard import Message, Overheard
from scripted_agents import Agent, run_until

Prepare = Callable[..., CoordinatorProcess]
CALLS, CALL_BYTES = 64, 64 << 10
PHASE_BYTES = CALLS * CALL_BYTES
PAUSE_S = 0.2

WRITER = f"""
import os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
def phase(times=1):
    for call in range(times * {CALLS}):
        os.pwrite(fd, bytes({CALL_BYTES}), call % {CALLS} * {CALL_BYTES})
        time.sleep(0.0003)
def phases(count):
    for _ in range(count):
        phase()
        time.sleep({PAUSE_S})
"""


pytestmark = pytest.mark.usefixtures("library")


class Run:
    """A program on a coordinated folder, and what its agent says to the coordinator."""

    def __init__(self, of: CoordinatorProcess, folder: Path, *layers: str) -> None:
        self.of = of
        self.folder = folder
        self.layers = layers
        self.heard = Overheard(of.folder / "between", of.socket)

    def start(self, text: str) -> "subprocess.Popen[str]":
        halcyon = [sys.executable, "-m", "halcyon", "run", "--coordinate", *self.layers]
        where = ["--coordinator", f"{self.folder}=unix:{self.heard.path}"]
        program = [os.path.realpath(sys.executable), "-c", WRITER + text, str(self.folder / "file")]
        return subprocess.Popen(
            [*halcyon, *where, "--", *program], cwd=self.folder.parent, text=True,
            env=os.environ | {"HALCYON_COORDINATE_PATIENCE_MS": "20000"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def run(self, text: str) -> str:
        """What it said, when it has ended well."""
        program = self.start(text)
        said, _ = program.communicate(timeout=LIMIT_S)
        assert program.returncode == 0, said
        return said


@pytest.fixture
def made(start: Prepare, tmp_path: Path) -> Iterator[Callable[..., Run]]:
    runs: list[Run] = []

    def make(*layers: str, policy: str = "fcfs") -> Run:
        folder = tmp_path / "scratch"
        folder.mkdir()
        runs.append(Run(start(paths=[str(folder)], times=PATIENT, policy=policy), folder, *layers))
        return runs[-1]

    yield make
    for one in runs:
        one.heard.close()


def whole_phases(heard: Overheard) -> list[int]:
    """Numbers of those that this machine did not cut into pieces by stopping the program for longer than a pause."""
    return [phase for phase, much in moved_in_phases(heard).items() if much == PHASE_BYTES]


def moved_in_phases(heard: Overheard) -> dict[int, int]:
    moved: dict[int, int] = {}
    for _, one in heard.of_type("progress"):
        moved[one["phase"]] = moved.get(one["phase"], 0) + one["bytes_moved"]
    return moved


def first_informs(heard: Overheard) -> dict[int, tuple[float, Message]]:
    found: dict[int, tuple[float, Message]] = {}
    for when, one in heard.of_type("inform"):
        found.setdefault(one["phase"], (when, one))
    return found


def test_a_periodic_writer_is_announced_with_its_bytes_and_times(made: Callable[..., Run]) -> None:
    run = made()
    said = run.run("phases(24)")
    assert "out of turn" not in said
    informs = first_informs(run.heard)
    ends = {one["phase"]: when for when, one in run.heard.of_type("release")}
    learnt = [phase for phase in whole_phases(run.heard) if phase > 8]
    assert len(learnt) >= 4, "the machine lets hardly any phase through in one piece"

    bytes_in_all = [informs[phase][1]["bytes_left"] + informs[phase][1]["bytes_moved"] for phase in learnt]
    assert statistics.median(bytes_in_all) == pytest.approx(PHASE_BYTES, rel=0.05)
    times = [informs[phase][1]["left_s"] / (ends[phase] - informs[phase][0]) for phase in learnt]
    assert 1 / 4 < statistics.median(times) < 4

    expected = []
    for phase in learnt:
        following = [when for when, one in run.heard.of_type("inform") if one["phase"] == phase + 1]
        told = [one for one in run.heard.of_type("expect") if ends[phase] <= one[0]]
        if following and told and told[0][0] < following[0]:
            expected.append((told[0][1], following[0] - told[0][0]))
    assert len(expected) >= 3
    assert statistics.median(one["bytes"] for one, _ in expected) == pytest.approx(PHASE_BYTES, rel=0.05)
    assert 1 / 2 < statistics.median(one["in_s"] / came_in for one, came_in in expected) < 2
    assert all(one["probability"] > 0 for one, _ in expected)


def test_without_predict_nothing_is_expected(made: Callable[..., Run]) -> None:
    run = made("--no-predict")
    run.run("phases(4)")
    assert len(first_informs(run.heard)) >= 4
    assert not run.heard.of_type("expect")


def test_an_end_that_was_forecast_ten_times_too_early_is_not_believed_the_next_time(made: Callable[..., Run]) -> None:
    run = made(policy="dynamic")
    program = run.start(f"phases(10)\nfor _ in range(2): phase(10); time.sleep({PAUSE_S})\nphases(3)")
    other = Agent(run.of, "other")
    run_until([other], lambda: len(first_informs(run.heard)) >= 10, "the program has learnt")
    other.begin()
    run_until([other], lambda: other.has_turn, "the other one has its turn")
    other.release()
    believed: list[tuple[float, float]] = []

    def ends() -> bool:
        believed.extend(
            (time.monotonic(), one.left_s) for one in run.of.top().applications if one.job != "other" and one.left_s > 0
        )
        return program.poll() is not None

    run_until([other], ends, "the program ends")
    said, _ = program.communicate(timeout=LIMIT_S)
    assert program.returncode == 0, said
    assert "out of turn" not in said
    moved = moved_in_phases(run.heard)
    assert sum(moved.values()) == 33 * PHASE_BYTES
    long_ones = [phase for phase, much in moved.items() if much > 6 * PHASE_BYTES]
    if not long_ones:
        pytest.skip("this machine stopped the program in each of its long phases for longer than a pause")
    informs = first_informs(run.heard)
    first = informs[long_ones[0]][1]
    assert first["bytes_left"] + first["bytes_moved"] < 2 * PHASE_BYTES, "it was not forecast"
    ends_at = {one["phase"]: when for when, one in run.heard.of_type("release")}
    doubted = [
        left_s / informs[phase][1]["left_s"]
        for phase in moved
        if phase > long_ones[-1] and phase in ends_at and informs[phase][1]["left_s"] > 0
        for when, left_s in believed
        if informs[phase][0] < when < ends_at[phase]
    ]
    assert max(doubted) > 1.5


ENDINGS = {
    "fork": ("if os.fork() == 0: phases(2); os._exit(0)\nphases(2); os.wait()", 5),
    "exec": ("os.execvp('dd', [*'dd if=/dev/zero bs=64K count=64 status=none'.split(), 'of=' + sys.argv[1]])", 4),
    "leaves in a phase": ("os.pwrite(fd, b'x', 0); os._exit(0)", 4),
    "exits in a phase": ("os.pwrite(fd, b'x', 0); sys.exit()", 4),
    "exec that fails": ("os.pwrite(fd, b'x', 0)\ntry: os.execv('/nowhere', ['x'])\nexcept OSError: phases(2)", 5),
    "threads": (
        """
import threading
every = [threading.Thread(target=phases, args=(3,)) for _ in range(4)]
for one in every: one.start()
for one in every: one.join()
""",
        4,
    ),
    "killed child": (
        "child = os.fork()\nif child == 0: phases(100)\ntime.sleep(0.1); os.kill(child, 9); os.wait(); phases(2)",
        5,
    ),
}
"""What programs do after three phases, and how many phases come at least."""


@pytest.mark.parametrize(("text", "phases"), ENDINGS.values(), ids=ENDINGS.keys())
def test_programs_that_change_or_end_in_a_phase_do_not_hang(made: Callable[..., Run], text: str, phases: int) -> None:
    run = made()
    run.run("phases(3)\n" + text)
    assert len(first_informs(run.heard)) >= phases
    wait_until(lambda: run.heard.of_type("withdraw"), "the agent ends when the processes have")


def test_prefetch_needs_predict() -> None:
    line = [sys.executable, "-m", "halcyon", "run", "--prefetch", "--no-predict", "--", "true"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 2
    assert "it does not go with --no-predict" in done.stderr
