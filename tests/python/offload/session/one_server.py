"""Sees from outside whether two servers are ever at work on one session."""

import threading
from pathlib import Path
from types import TracebackType

from running import Case, living_servers_of
from watching import IN_MODIFY, Watch


class OneServerAtWork:
    """While this block runs, no two servers hold the log of node 0, which a server opens once the session is its own.

    Looks each time that a line is written. AssertionError at the end of the block.
    """

    def __init__(self, case: Case) -> None:
        self._case = case
        self._log = case.output / "server-n0000.log"
        self._together: set[int] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> "OneServerAtWork":
        self._watch = Watch(self._case.output, IN_MODIFY)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, why: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        self._watch.close()
        assert not self._together, f"the servers {sorted(self._together)} were at work at the same time"

    def _look(self) -> None:
        while not self._over.is_set():
            if any(name == self._log.name for _, name in self._watch.events(0.1)):
                first = self._holders()
                # The one that is found first may have ended before the next was looked at.
                if len(first) > 1 and len(still := first & self._holders()) > 1:
                    self._together |= still

    def _holders(self) -> set[int]:
        return {server for server in living_servers_of(self._case) if holds(server, self._log)}


def holds(process: int, path: Path) -> bool:
    try:
        return path in [name.readlink() for name in Path(f"/proc/{process}/fd").iterdir()]
    except OSError:
        return False  # it has ended
