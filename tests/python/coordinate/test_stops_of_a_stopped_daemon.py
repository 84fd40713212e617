"""A daemon that is itself stopped in the midst of a stop: the stop goes on, and nobody is punished."""

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinated_run import impatient_agent, write
from coordinator_process import LIMIT_S, CoordinatorProcess, wait_until
from scripted_agents import Agent, has_turn, heard, run_until

Prepare = Callable[..., CoordinatorProcess]

pytestmark = pytest.mark.usefixtures("library")

BLOCK = 1 << 20
BLOCKS = 32
WRITER = f"""
import os, sys
pipe = os.open(sys.argv[1], os.O_WRONLY)
for _ in range({BLOCKS}):
    os.write(pipe, bytes({BLOCK}))
"""
SECRET = "known-to-both-nodes-of-the-job"


class Pipe:
    """In a coordinated folder: a write takes until somebody reads, so that a call is under way as long as wanted."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "pipe"
        os.mkfifo(self.path)
        self._end = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self.bytes = 0

    def holds_some(self) -> bool:
        """The buffer of a pipe is smaller than a block, so that the call is still under way."""
        return bool(self.read(1))

    def read(self, most: int = BLOCK) -> int:
        try:
            got = len(os.read(self._end, most))
        except BlockingIOError:
            return 0
        self.bytes += got
        return got

    def close(self) -> None:
        os.close(self._end)


def silences(folder: Path) -> int:
    """That the program's agent has noticed."""
    facts = "".join(one.read_text() for one in folder.rglob("*.agent"))
    return sum(map(int, re.findall(r"^silences (\d+)$", facts, re.MULTILINE)))


def stop_for_two_seconds(of: CoordinatorProcess, folder: Path) -> None:
    """The daemon. Longer, where the agent notices that later."""
    before, until_s = silences(folder), time.monotonic() + 2
    of.signal(signal.SIGSTOP)
    wait_until(
        lambda: silences(folder) > before and time.monotonic() > until_s, "the agent notices that nobody answers"
    )
    of.signal(signal.SIGCONT)


@pytest.mark.parametrize("stage", ["recalled", "stopping"])
def test_a_stop_goes_on_behind_a_silence_of_the_daemon(prepare: Prepare, tmp_path: Path, stage: str) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    pipe = Pipe(folder)
    of = prepare(
        paths=[str(folder)], policy="interrupt", times={"stop": "20 s", "stalled": "20 s", "heartbeat": "50 ms"}
    )
    of.start()
    # The program is one node of the job; the other one can keep the stop from going on.
    job = f"stopped-when-{stage}"  # an agent outlives its program for a moment
    there = Agent(of, job, node="elsewhere", secret=SECRET)
    program = write(
        of, folder, command=[sys.executable, "-c", WRITER, str(pipe.path)],
        variables=os.environ | {"HALCYON_JOB": job, "HALCYON_JOB_SECRET": SECRET} | impatient_agent(tmp_path, 2000),
    )  # fmt: skip
    try:
        there.begin()
        run_until(
            [there], lambda: has_turn(there)() and pipe.holds_some(), "the job has the turn, and its call is under way"
        )
        newest = Agent(of, "newest")
        there.stops = False
        newest.begin()
        run_until([there, newest], heard(there, "recall"), "the turn is called back")
        if stage == "stopping":
            there.answer(there.of_type("recall")[0])
            run_until([there, newest], heard(there, "stop"), "the round is named")
        stop_for_two_seconds(of, tmp_path)
        there.stops = True
        there.answer(there.of_type("recall" if stage == "recalled" else "stop")[0])

        def goes_on() -> bool:
            """Slowly: there is to be something left to write when the agent hears of the stop."""
            pipe.read(4096)
            return newest.has_turn

        run_until([there, newest], goes_on, "the newest application has the turn")
        assert of.count("overdue_stops") == 0
        assert of.count("stalled_holders") == 0
        assert pipe.bytes < BLOCKS * BLOCK
        newest.release()
        run_until([there, newest], lambda: pipe.read() < 0 or program.poll() is not None, "the program ends")
    finally:
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
        said, _ = program.communicate(timeout=LIMIT_S)
        pipe.close()
    assert program.returncode == 0, said
    assert pipe.bytes == BLOCKS * BLOCK
