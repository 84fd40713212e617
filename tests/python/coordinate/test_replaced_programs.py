"""Processes that become another program (exec) while their threads are in calls, or hold a turn."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from coordinated_run import PATIENCE_MS
from coordinator_process import PATIENT, CoordinatorProcess
from scripted_agents import Agent, has_turn, run_until

Start = Callable[..., CoordinatorProcess]
pytestmark = pytest.mark.usefixtures("library")

# `sleep` makes no call that Halcyon sees.
WAITS = """
import os, sys, threading
fd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
threading.Thread(target=os.write, args=(fd, bytes(1 << 20)), daemon=True).start()
sys.stdin.readline()
os.execv("/bin/sleep", ["sleep", "600"])
"""
HOLDS = """
import os, sys
from halcyon.turns import Turns
turns = Turns(os.path.dirname(sys.argv[1]))
turns.inform()
turns.wait()
sys.stdin.readline()
os.execv("/bin/sleep", ["sleep", "600"])
"""


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., "subprocess.Popen[bytes]"]]:
    """Starts a program under `halcyon run --coordinate`, which has a folder `scratch`."""
    started: list[subprocess.Popen[bytes]] = []

    def running(of: CoordinatorProcess, scratch: Path, program: str) -> "subprocess.Popen[bytes]":
        halcyon = [sys.executable, "-m", "halcyon", "run", "--coordinate", "--no-predict"]
        command = [*halcyon, "--coordinators", str(of.config), "--", sys.executable, "-c", program]
        with (tmp_path / "said").open("wb") as said:
            one = subprocess.Popen(
                [*command, str(scratch / "file")], cwd=tmp_path, stdin=subprocess.PIPE, stdout=said, stderr=said,
                env=os.environ | {"HALCYON_COORDINATE_PATIENCE_MS": PATIENCE_MS}, start_new_session=True,
            )  # fmt: skip
        started.append(one)
        return one

    yield running
    for one in started:
        os.killpg(one.pid, signal.SIGKILL)
        one.communicate()


def go_on(program: "subprocess.Popen[bytes]") -> None:
    assert program.stdin is not None
    program.stdin.write(b"go\n")
    program.stdin.flush()


def state(of: CoordinatorProcess) -> str:
    """Of the program's job."""
    return next((one.state for one in of.top().applications if one.job != "other"), "unknown")


def test_a_program_that_became_another_one_while_a_thread_waited_waits_no_more(
    start: Start, run: Callable[..., "subprocess.Popen[bytes]"], tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    of = start(paths=[str(scratch)], bounds={"starvation": "10 min"}, times=PATIENT)
    other = Agent(of, "other")
    other.begin()
    run_until([other], has_turn(other), "the other one has the turn")
    program = run(of, scratch, WAITS)
    run_until([other], lambda: state(of) == "waiting", "a thread waits")
    go_on(program)
    run_until([other], lambda: state(of) != "waiting", "nobody waits any more")
    assert program.poll() is None


def test_a_program_that_became_another_one_while_it_held_its_turn_gives_it_back(
    start: Start, run: Callable[..., "subprocess.Popen[bytes]"], tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    of = start(paths=[str(scratch)], bounds={"starvation": "10 min"}, times=PATIENT)
    program = run(of, scratch, HOLDS)
    other = Agent(of, "other")
    run_until([other], lambda: state(of) == "moving", "the program has its turn")
    other.begin()
    run_until([other], lambda: other.of_type("wait"), "the other one waits")
    go_on(program)
    run_until([other], has_turn(other), "the other one has the turn")
    assert program.poll() is None
