"""What agents and a coordinator say to each other, overheard in between."""

import contextlib
import json
import socket
import threading
import time
from pathlib import Path
from typing import Any

Message = dict[str, Any]


class Overheard:
    """A socket at `path` that passes on to the daemon at `to` whatever comes, and back. `said` has the messages of
    agents with the time at which each came; `answered` those of the daemon."""

    def __init__(self, path: Path, to: Path) -> None:
        self.path = path
        self.said: list[tuple[float, Message]] = []
        self.answered: list[tuple[float, Message]] = []
        self._to = to
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(path))
        self._listening.listen()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def of_type(self, kind: str) -> list[tuple[float, Message]]:
        """Of agents."""
        return [(when, one) for when, one in list(self.said) if one["type"] == kind]

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        while True:
            daemon = socket.socket(socket.AF_UNIX)
            try:
                agent, _ = self._listening.accept()
                daemon.connect(str(self._to))
            except OSError:  # the test is over
                return
            for source, sink, log in ((agent, daemon, self.said), (daemon, agent, self.answered)):
                threading.Thread(target=self._pass_on, args=(source, sink, log), daemon=True).start()

    @staticmethod
    def _pass_on(source: socket.socket, sink: socket.socket, log: list[tuple[float, Message]]) -> None:
        rest = b""
        while True:
            try:
                some = source.recv(1 << 16)
                now = time.monotonic()
                if some:
                    sink.sendall(some)
            except OSError:
                some = b""
            if not some:
                for one in (source, sink):
                    with contextlib.suppress(OSError):
                        one.shutdown(socket.SHUT_RDWR)
                return
            *lines, rest = (rest + some).split(b"\n")
            log += [(now, json.loads(line)) for line in lines]
