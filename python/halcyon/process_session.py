"""Commands that run in a session of their own, so that nothing of them is left running."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType


def end_session(process: "subprocess.Popen[bytes] | subprocess.Popen[str]", patience_s: float = 10) -> None:
    """Asks the leader to end, and kills what it leaves: launchers put ranks into process groups of their own, and one
    that was killed ends none of them."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)
    for left in _session_of(process.pid):
        with suppress(ProcessLookupError):
            os.kill(left, signal.SIGKILL)
    process.wait()


def _session_of(leader: int) -> list[int]:
    """Its processes. The leader, once waited for, is none, and while others are left nobody else gets its number."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended meanwhile
            # After the name, which may hold anything: state, parent, process group, session.
            if int(status.read_text(errors="replace").rpartition(")")[2].split()[3]) == leader:
                found.append(int(status.parent.name))
    return found


@contextmanager
def ended_in_order() -> Iterator[None]:
    """SIGTERM and SIGHUP (the end of a job, of a terminal) interrupt as Ctrl-C does: nothing is left running."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
