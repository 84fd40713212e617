"""`halcyon run --coordinate`: the coordinator is told what the program is about to do."""

import os
import re
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
from started_programs import start_program

from halcyon.predict.learnt import read_learnt

Prepare = Callable[..., CoordinatorProcess]
CALLS, CALL_BYTES = 64, 64 << 10
PHASE_BYTES = CALLS * CALL_BYTES
PAUSE_S = 0.5
PAUSE_MS = "100"
"""That ends a phase: the program may lose its core for shorter times."""

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
def phases_until_told():
    count = 0
    while not os.path.exists(sys.argv[2]):
        phases(1)
        count += 1
    return count
"""


pytestmark = pytest.mark.usefixtures("library")


class Run:
    """A program on a coordinated folder, and what its agent says to the coordinator."""

    def __init__(self, of: CoordinatorProcess, folder: Path, *layers: str) -> None:
        self.of = of
        self.folder = folder
        self.layers = layers
        self.heard = Overheard(of.folder / "between", of.socket)
        self.enough = folder.parent / "enough"
        """Tells the program to end its phases."""

    def start(self, text: str) -> "subprocess.Popen[str]":
        halcyon = [sys.executable, "-m", "halcyon", "run", "--coordinate", *self.layers]
        where = ["--coordinator", f"{self.folder}=unix:{self.heard.path}"]
        program = [os.path.realpath(sys.executable), "-c", WRITER + text, str(self.folder / "file"), str(self.enough)]
        return start_program(
            [*halcyon, *where, "--", *program], cwd=self.folder.parent,
            env=os.environ | {"HALCYON_COORDINATE_PATIENCE_MS": "20000", "HALCYON_COORDINATE_PAUSE_MS": PAUSE_MS},
        )  # fmt: skip

    def run(self, text: str) -> str:
        """What it said, when it has ended well."""
        return self.end(self.start(text))

    def run_until(self, condition: Callable[[], object], what: str) -> str:
        """Phases, as many as this takes. What the program said."""
        program = self.start("phases_until_told()")
        wait_until(lambda: condition() or program.poll() is not None, what)
        return self.end(program)

    def end(self, program: "subprocess.Popen[str]") -> str:
        self.enough.touch()
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


def release_times(heard: Overheard) -> dict[int, float]:
    return {one["phase"]: when for when, one in heard.of_type("release")}


def learnt_phases(heard: Overheard) -> list[int]:
    """Whole ones that have ended, and that came when the program had learnt."""
    ends = release_times(heard)
    return [phase for phase in whole_phases(heard) if phase > 8 and phase in ends]


def expectations(heard: Overheard) -> list[tuple[Message, float]]:
    """The first one behind each learnt phase, and in how many seconds the next phase came."""
    found, ends, informs, expects = [], release_times(heard), first_informs(heard), heard.of_type("expect")
    for phase in learnt_phases(heard):
        when, told = next((one for one in expects if one[0] >= ends[phase]), (0.0, None))
        if told and phase + 1 in informs and when < informs[phase + 1][0]:
            found.append((told, informs[phase + 1][0] - when))
    return found


def test_a_periodic_writer_is_announced_with_its_bytes_and_times(made: Callable[..., Run]) -> None:
    run = made()
    said = run.run_until(lambda: len(expectations(run.heard)) >= 5, "phases are expected")
    assert "out of turn" not in said
    informs = first_informs(run.heard)
    learnt = learnt_phases(run.heard)
    first = [informs[phase][1] for phase in learnt]
    bytes_in_all = [one.get("bytes_left", 0) + one.get("bytes_moved", 0) for one in first]
    assert statistics.median(bytes_in_all) == pytest.approx(PHASE_BYTES, rel=0.05)
    moved_s = dict.fromkeys(learnt, 0.0)
    for _, one in run.heard.of_type("progress"):
        if one["phase"] in moved_s:
            moved_s[one["phase"]] += one.get("over_s", 0)
    left_s = [one.get("left_s", 0) for one in first]
    assert 1 / 4 < statistics.median(left_s) / statistics.median(moved_s.values()) < 4

    expected = expectations(run.heard)
    assert statistics.median(one.get("bytes", 0) for one, _ in expected) == pytest.approx(PHASE_BYTES, rel=0.05)
    assert 1 / 2 < statistics.median(one["in_s"] / came_in for one, came_in in expected) < 2
    assert all(one.get("probability", 1) > 0 for one, _ in expected)


def test_without_predict_nothing_is_expected(made: Callable[..., Run]) -> None:
    run = made("--no-predict")
    run.run_until(lambda: len(first_informs(run.heard)) >= 4, "phases come")
    assert not run.heard.of_type("expect")


def test_an_end_that_was_forecast_ten_times_too_early_is_not_believed_the_next_time(made: Callable[..., Run]) -> None:
    run = made(policy="dynamic")
    late = f"for _ in range(2): phase(10); time.sleep({PAUSE_S})"
    program = run.start(f"phases(10)\n{late}\nprint('short phases:', phases_until_told())")
    other = Agent(run.of, "other")
    run_until([other], lambda: len(first_informs(run.heard)) >= 10, "the program has learnt")
    other.begin()
    run_until([other], lambda: other.has_turn, "the other one has its turn")
    other.release()
    believed: list[tuple[float, float]] = []
    ratios: list[float] = []

    def long_phases() -> list[int]:
        return [phase for phase, much in moved_in_phases(run.heard).items() if much > 6 * PHASE_BYTES]

    def doubted() -> list[float]:
        """How often as long as forecast the phases behind the long ones are believed to take."""
        informs, ends, long = first_informs(run.heard), release_times(run.heard), long_phases()
        return [
            left_s / informs[phase][1]["left_s"]
            for phase in ends
            if long and phase > long[-1] and phase in informs and informs[phase][1].get("left_s", 0) > 0
            for when, left_s in believed
            if informs[phase][0] < when < ends[phase]
        ]

    def is_doubted() -> bool:
        believed.extend(
            (time.monotonic(), one.left_s) for one in run.of.top().applications if one.job != "other" and one.left_s > 0
        )
        are_cut = not long_phases() and sum(moved_in_phases(run.heard).values()) > 30 * PHASE_BYTES
        ratios.append(max(doubted(), default=0))
        return ratios[-1] > 1.5 or are_cut or program.poll() is not None

    run_until([other], is_doubted, "a forecast is doubted")
    said = run.end(program)
    assert "out of turn" not in said
    written = re.search(r"^short phases: (\d+)$", said, re.MULTILINE)
    assert written
    in_all = (30 + int(written[1])) * PHASE_BYTES
    wait_until(lambda: sum(moved_in_phases(run.heard).values()) == in_all, "all bytes are told")
    if not long_phases():
        pytest.skip("this machine stopped the program in each of its long phases for longer than a pause")
    first = first_informs(run.heard)[long_phases()[0]][1]
    assert first.get("bytes_left", 0) + first.get("bytes_moved", 0) < 2 * PHASE_BYTES, "it was not forecast"
    assert max(ratios) > 1.5


ENDINGS = {
    "fork": ("if os.fork() == 0: phases(2); os._exit(0)\nphases(2); os.wait()", 7),
    "exec": ("os.execvp('dd', [*'dd if=/dev/zero bs=64K count=64 status=none'.split(), 'of=' + sys.argv[1]])", 4),
    "leaves in a phase": ("phase(); os._exit(0)", 4),
    "exits in a phase": ("phase(); sys.exit()", 4),
    "exec that fails": ("phase()\ntry: os.execv('/nowhere', ['x'])\nexcept OSError: phases(2)", 6),
    "threads": (
        """
import threading
every = [threading.Thread(target=phases, args=(3,)) for _ in range(4)]
for one in every: one.start()
for one in every: one.join()
""",
        15,
    ),
    "killed child": (
        "child = os.fork()\nif child == 0: phases(100)\ntime.sleep(0.1); os.kill(child, 9); os.wait(); phases(2)",
        5,
    ),
}
"""What programs do after three phases, and how many phases they write at least. Those of several threads or processes
may be one at the coordinator."""


@pytest.mark.parametrize(("text", "phases"), ENDINGS.values(), ids=ENDINGS.keys())
def test_programs_that_change_or_end_in_a_phase_do_not_hang(made: Callable[..., Run], text: str, phases: int) -> None:
    run = made()
    said = run.run("phases(3)\n" + text)
    assert "out of turn" not in said
    in_turn = re.search(r"took turns: ([0-9.]+) MB in turn", said)
    assert in_turn, said
    assert float(in_turn[1]) * 1e6 >= phases * PHASE_BYTES * 0.99
    wait_until(lambda: run.heard.of_type("withdraw"), "the agent ends when the processes have")


def test_prefetch_needs_predict() -> None:
    line = [sys.executable, "-m", "halcyon", "run", "--prefetch", "--no-predict", "--", "true"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 2
    assert "it does not go with --no-predict" in done.stderr


BESIDE = 1000
WRITES_ON = f"""
left = {BESIDE}
while left:
    os.pwrite(fd, bytes({CALL_BYTES}), 0)
    time.sleep(0.001)
    left -= os.path.exists(sys.argv[2])
"""
"""So many calls more from one call site, once it is told to end."""


def has_company(heard: Overheard) -> bool:
    """The program's agent has been told that others move, too."""
    return any(one.kind == "company" and one.message["others"] > 0 for one in list(heard.all))


def test_times_of_calls_are_learnt_while_no_other_application_moves(made: Callable[..., Run], tmp_path: Path) -> None:
    models = tmp_path / "models"
    run = made("--save-model", str(models), policy="interfere")
    program = run.start(WRITES_ON)
    has_ended = lambda: program.poll() is not None  # noqa: E731
    wait_until(lambda: moved_in_phases(run.heard) or has_ended(), "the program writes alone")
    other = Agent(run.of, "other")
    other.begin()
    run_until([other], lambda: has_company(run.heard) or has_ended(), "another one moves beside it")
    assert not has_ended(), program.communicate()[0]
    run.enough.touch()
    run_until([other], has_ended, "the program ends")
    assert "out of turn" not in run.end(program)
    (model,) = models.glob("*.model")
    writes = [one for one in read_learnt(model).symbols if one.function.startswith("pwrite")]
    seen = sum(one.seen for one in writes)
    timed = sum(one.duration_ns.count for one in writes if one.duration_ns)
    assert seen > BESIDE
    assert 0 < timed < seen
