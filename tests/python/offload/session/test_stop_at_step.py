"""A program that is killed before one of its system calls: what tests of killed servers rest on."""

import signal
import subprocess
from pathlib import Path

from running import BUILDS, Case, is_gone, wait_for

STEP = 2000
"""Long behind the start of both processes: from there on the first one alone makes calls."""
CALLS_BESIDE_A_CHILD = """\
sleep 30 &
echo $! >child
while kill -0 $$; do :; done
"""


def test_a_program_is_killed_with_the_process_that_it_forked_off(openmpi_case: Case) -> None:
    """Else a server would live on whose first process is killed when it has forked it off."""
    folder: Path = openmpi_case.directory
    tracer, report = BUILDS[openmpi_case.mpi] / "tests/stop_at_step", folder / "report"
    killed = subprocess.run([tracer, str(STEP), "kill", report, "/bin/sh", "-c", CALLS_BESIDE_A_CHILD], cwd=folder)
    assert killed.returncode == -signal.SIGKILL
    assert report.exists()
    child = int((folder / "child").read_text())
    wait_for(lambda: is_gone(child), what="the child is killed, too")
