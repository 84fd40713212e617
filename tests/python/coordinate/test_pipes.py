"""What goes through pipes that have a name on a coordinated mount takes none of its storage."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinated_run import said_by, write
from coordinator_process import CoordinatorProcess
from scripted_agents import Agent, has_turn, run_until

Prepare = Callable[..., CoordinatorProcess]

pytestmark = pytest.mark.usefixtures("library")

MESSAGES = 10
ASKS = f"""
import os, sys
there, back = os.open(sys.argv[1], os.O_WRONLY), os.open(sys.argv[2], os.O_RDONLY)
for _ in range({MESSAGES}):
    os.write(there, b"?")
    assert os.read(back, 1) == b"!"
"""
ANSWERS = f"""
import os, sys
there, back = os.open(sys.argv[1], os.O_RDONLY), os.open(sys.argv[2], os.O_WRONLY)
for _ in range({MESSAGES}):
    assert os.read(there, 1) == b"?"
    os.write(back, b"!")
"""
MAKES_ONE = """
import os, stat, sys
name = f"{sys.argv[1]}/made"
MAKE
if os.fork() == 0:
    os.write(os.open(name, os.O_WRONLY), b"x")
    os._exit(0)
assert os.read(os.open(name, os.O_RDONLY), 1) == b"x"
assert os.wait()[1] == 0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "scratch"
    made.mkdir()
    return made


def takes_no_turns(program: "subprocess.Popen[str]") -> bool:
    return "no process did I/O below" in said_by(program)


def test_two_jobs_that_talk_through_pipes_do_not_wait_for_one_another(start: Prepare, folder: Path) -> None:
    of = start(paths=[str(folder)], policy="fcfs")
    pipes = [str(folder / "there"), str(folder / "back")]
    for pipe in pipes:
        os.mkfifo(pipe)
    asks, answers = (write(of, folder, command=[sys.executable, "-c", does, *pipes]) for does in (ASKS, ANSWERS))
    assert takes_no_turns(asks)
    assert takes_no_turns(answers)
    assert of.count("grants") == 0


@pytest.mark.parametrize("make", ["os.mkfifo(name)", "os.mknod(name, stat.S_IFIFO | 0o600)"])
def test_a_pipe_that_the_program_makes_takes_no_turn(start: Prepare, folder: Path, make: str) -> None:
    of = start(paths=[str(folder)], policy="fcfs")
    other = Agent(of, "other")
    other.begin()
    run_until([other], has_turn(other), "the other one has the turn")
    program = write(of, folder, command=[sys.executable, "-c", MAKES_ONE.replace("MAKE", make), str(folder)])
    run_until([other], lambda: program.poll() is not None, "the program ends")
    assert takes_no_turns(program)


def test_a_pipe_as_standard_input_takes_no_turn(start: Prepare, folder: Path) -> None:
    of = start(paths=[str(folder)], policy="fcfs")
    os.mkfifo(folder / "pipe")
    other = Agent(of, "other")
    other.begin()
    run_until([other], has_turn(other), "the other one has the turn")
    program = write(of, folder, command=["sh", "-c", f"echo text > {folder}/pipe & cat < {folder}/pipe; wait"])
    run_until([other], lambda: program.poll() is not None, "the program ends")
    assert takes_no_turns(program)
