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
    """SIGTERM and SIGHUP (the end of a job, of a terminal) interrupt as Ctrl-C does: nothing is left running.

    Once: another one that comes while the interrupted work is cleaned up, such as that of a parent that died of the
    first, does not interrupt that. Only Ctrl-C does, each time."""
    interrupted = False

    def interrupt(number: int, _frame: FrameType | None) -> None:
        nonlocal interrupted
        if interrupted and number != signal.SIGINT:
            return
        interrupted = True
        raise KeyboardInterrupt

    # Whoever ignores Ctrl-C, as a shell's background jobs do, goes on to. A handler of a library (PySpark has one)
    # steps aside; one that is not Python's could not be put back.
    taken = [signal.SIGTERM, signal.SIGHUP]
    if signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, None):
        taken.append(signal.SIGINT)
    before = {number: signal.signal(number, interrupt) for number in taken}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
