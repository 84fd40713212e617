"""An advice that is interrupted leaves nothing running, and says what it knows by then."""

import errno
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from halcyon.errors import HalcyonSystemError
from halcyon.observe.advise.trial import Launch, Trial
from halcyon.process_session import end_session

pytestmark = pytest.mark.usefixtures("recorder", "interruptible")

# Has a child in a process group of its own, as launchers have; its ninth run stays, whatever it is asked.
PROGRAM = """
import os, pathlib, signal, sys
place = pathlib.Path(sys.argv[1])
runs = len(list(place.glob("*.ran")))
(place / f"{runs}.ran").touch()
if runs == int(sys.argv[2]):
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        (place / "new").write_text(str(os.getpid()))
        (place / "new").rename(place / "child")
    signal.pause()
"""


def wait_for(condition: Callable[[], bool], limit_s: float = 120) -> None:
    limit = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


def interrupted(tmp_path: Path, how: signal.Signals, stays: int) -> subprocess.CompletedProcess[str]:
    """`halcyon advise --try`, sent a signal when the command's run number `stays` (from 0) is there."""
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), str(stays)]
    words = ["advise", "--try", "--setting", "COLOUR=red", "--runs", "8", "--", *command]
    advice = subprocess.Popen(
        [sys.executable, "-m", "halcyon", *words],
        cwd=tmp_path,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_for(lambda: (tmp_path / "child").exists() or advice.poll() is not None)
    advice.send_signal(how)
    out, err = advice.communicate(timeout=60)
    return subprocess.CompletedProcess(words, advice.returncode, out, err)


def runs(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_complete_rounds_are_told_and_nothing_is_left_running(tmp_path: Path, how: signal.Signals) -> None:
    done = interrupted(tmp_path, how, stays=8)  # the first run, two rounds of three, one run, and this one
    assert done.returncode == 130, done.stderr
    assert "Interrupted: 2 of 8 rounds were made" in done.stdout
    assert "as it is, again" in done.stdout
    assert not runs(int((tmp_path / "child").read_text()))
    assert not list(tmp_path.glob(".halcyon-advise-*"))


def test_an_interrupt_of_the_first_run_says_so(tmp_path: Path) -> None:
    done = interrupted(tmp_path, signal.SIGINT, stays=0)
    assert done.returncode == 130
    assert "interrupted in the first run: nothing was measured" in done.stderr
    assert not runs(int((tmp_path / "child").read_text()))


def test_what_a_killed_launcher_leaves_is_ended(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path), "0"], start_new_session=True)
    wait_for((tmp_path / "child").exists)
    process.kill()
    process.wait()
    child = int((tmp_path / "child").read_text())
    assert runs(child)
    end_session(process)
    wait_for(lambda: not runs(child))


def test_a_full_disk_is_a_run_that_does_not_count(tmp_path: Path) -> None:
    class Full(Launch):
        def _recorded(self, folder: Path, settings: Mapping[str, str], keep: bool) -> Trial:
            raise HalcyonSystemError.of(OSError(errno.ENOSPC, "No space left on device"), folder)

    problem = Full(["true"]).run(tmp_path / "run", {}).problem
    assert problem is not None
    assert "No space left on device; make room, or name a folder elsewhere with -o" in problem
