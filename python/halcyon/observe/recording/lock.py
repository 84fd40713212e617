"""Lets one command at a time make the data set of a recorded run, and none while another reads it.

Among the commands of one machine: on network file systems, locks of folders often end there.
"""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from halcyon.errors import HalcyonSystemError


class RunLock:
    """A lock on a run's folder, advisory, for as long as the block of `held_lock` lasts."""

    def __init__(self, run: Path, descriptor: int) -> None:
        self._run = run
        self._descriptor = descriptor

    def to_read(self) -> None:
        """Waits until no other command writes; others may read."""
        self._lock(fcntl.LOCK_SH)

    def to_write(self) -> None:
        """Waits until no other command reads or writes. What was read before may have changed meanwhile."""
        self._lock(fcntl.LOCK_UN)  # two readers that both want to write would wait for each other
        self._lock(fcntl.LOCK_EX)

    def _lock(self, kind: int) -> None:
        try:
            fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"halcyon: {self._run}: waiting for another command to be done with it", file=sys.stderr)
            fcntl.flock(self._descriptor, kind)
        except OSError:  # a file system without locks: as many commands as there are
            pass


@contextmanager
def held_lock(run: Path) -> Iterator[RunLock]:
    """The lock of a run's folder, not yet taken; it is let go at the end of the block."""
    try:
        descriptor = os.open(run, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as why:
        raise HalcyonSystemError.of(why, run) from why
    try:
        yield RunLock(run, descriptor)
    finally:
        os.close(descriptor)
