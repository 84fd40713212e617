"""What agents and a coordinator say to each other, overheard in between."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

Message = dict[str, Any]


@dataclass(frozen=True)
class Heard:
    """A message, when it came by, and of which connection; `job` is known once its agent has registered."""

    at_s: float
    of_agent: bool
    connection: int
    job: str
    message: Message

    @property
    def kind(self) -> str:
        return str(self.message["type"])


class Overheard:
    """A socket at `path` that passes on to the daemon at `to` whatever comes, and back. `all` has the messages.

    `before` is called with the job and the message before that is passed on, by the thread that does so.
    """

    _numbers = count(1)

    def __init__(self, path: Path, to: Path, before: Callable[[str, Message], None] | None = None) -> None:
        self.path = path
        self.all: list[Heard] = []
        self._jobs: dict[int, str] = {}
        self._to = to
        self._before = before
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(path))
        self._listening.listen()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def of_type(self, kind: str) -> list[tuple[float, Message]]:
        """Of agents."""
        return [(one.at_s, one.message) for one in list(self.all) if one.of_agent and one.kind == kind]

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                agent, _ = self._listening.accept()
            except OSError:  # the test is over
                return
            daemon = socket.socket(socket.AF_UNIX)
            try:
                daemon.connect(str(self._to))
            except OSError:  # it does not run
                agent.close()
                continue
            number = next(self._numbers)
            for ends, of_agent in (((agent, daemon), True), ((daemon, agent), False)):
                threading.Thread(target=self._pass_on, args=(*ends, of_agent, number), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, of_agent: bool, number: int) -> None:
        rest = b""
        with contextlib.suppress(OSError):
            while some := source.recv(1 << 16):
                *lines, rest = (rest + some).split(b"\n")
                for line in lines:
                    message = json.loads(line)
                    if of_agent and message["type"] == "register":
                        self._jobs[number] = message["job"]
                    job = self._jobs.get(number, "")
                    if self._before is not None:
                        self._before(job, message)
                    self.all.append(Heard(time.monotonic(), of_agent, number, job, message))
                    sink.sendall(line + b"\n")
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
