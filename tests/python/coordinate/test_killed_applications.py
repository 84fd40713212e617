"""Applications whose processes are all killed: those that wait for them go on."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinated_run import said_by, write
from coordinator_process import LIMIT_S, PATIENT, CoordinatorProcess, wait_until

Start = Callable[..., CoordinatorProcess]


pytestmark = pytest.mark.usefixtures("library")


HOLDS = """
import os, sys
fd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
for _ in range(100_000):
    os.pwrite(fd, bytes(1 << 20), 0)
    if os.path.exists(sys.argv[2]):
        break
"""
"""Has the turn until there is the second file."""
NO_PAUSE_MS = "60000"
"""Whoever has the turn keeps it until its agent withdraws, however long it loses its core."""


class Storage:
    """A coordinated folder, first come, first served, and those who write there."""

    def __init__(self, of: CoordinatorProcess, folder: Path) -> None:
        self.of = of
        self.folder = folder
        self.done = folder.parent / "done"

    def hold(self) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", HOLDS, f"{self.folder}/a", str(self.done)]
        holds = write(self.of, self.folder, command=command, pause_ms=NO_PAUSE_MS)
        self.wait_for("moving", 1)
        wait_until(lambda: (self.folder / "a").stat().st_size > 0, "the first one writes")
        return holds

    def queue(self, name: str, place: int) -> "subprocess.Popen[str]":
        """Behind `place` others."""
        program = write(self.of, self.folder, name=name)
        self.wait_for("waiting", place)
        return program

    def wait_for(self, state: str, count: int) -> None:
        wait_until(lambda: self.states().count(state) == count, f"not {count} {state}")

    def states(self) -> list[str]:
        return [one.state for one in self.of.top().applications]

    def expect_all_written(self, program: "subprocess.Popen[str]", name: str) -> None:
        said = said_by(program)
        assert "1 process took turns: 8.39 MB in turn" in said
        assert "out of turn" not in said
        assert (self.folder / name).stat().st_size == 8 << 20


def kill_all(program: "subprocess.Popen[str]") -> None:
    """Of its session: not its agent."""
    os.killpg(program.pid, signal.SIGKILL)
    program.communicate(timeout=LIMIT_S)


@pytest.fixture
def storage(start: Start, tmp_path: Path) -> Storage:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return Storage(start(paths=[str(folder)], times=PATIENT), folder)


def test_who_waits_goes_on_when_all_processes_of_the_holder_are_killed(storage: Storage) -> None:
    holder = storage.hold()
    waiter = storage.queue("b", 1)
    kill_all(holder)
    storage.expect_all_written(waiter, "b")
    assert storage.of.count("stalled_holders") == 0


def test_who_waits_behind_a_waiting_one_goes_on_when_that_is_killed(storage: Storage) -> None:
    holder = storage.hold()
    killed = storage.queue("b", 1)
    waiter = storage.queue("c", 2)
    kill_all(killed)
    storage.wait_for("waiting", 1)
    storage.done.touch()
    storage.expect_all_written(waiter, "c")
    said = said_by(holder)
    assert "out of turn" not in said
    assert (storage.folder / "b").stat().st_size == 0
