"""The real daemon, with a configuration of a test's own."""

import os
import re
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from halcyon.coordinate.address import Address
from halcyon.coordinate.configuration import find_program
from halcyon.coordinate.connection import Connection
from halcyon.coordinate.state import Top, ask_top
from halcyon.errors import UnavailableError

LIMIT_S = 60
"""How long anything may take on a machine that is busy."""
OTHER_USER = 65534
HEARTBEAT_S = 0.05
STALLED_S = 2.0

BASE: dict[str, Any] = {
    "policy": "fcfs",
    "times": {"heartbeat": "50 ms", "dead": "200 ms", "stalled": "10 min", "stop": "60 s", "relearn": "100 ms"},
}
"""Scripted agents live in the process of the test: nobody is punished where that one does not run for some seconds."""

STALLING = BASE["times"] | {"stalled": f"{STALLED_S:g} s", "stop": "2 s"}
"""For tests about clients that say or move nothing."""

RELEARNING = BASE["times"] | {"relearn": "5 s"}
"""For a daemon to which agents show their leases, late on a busy machine. It gives no other turns before."""

PATIENT = {"heartbeat": "50 ms", "dead": "10 s", "stalled": "10 min"}
"""For tests with clients that say nothing."""


def wait_until(condition: Callable[[], object], what: str) -> None:
    limit = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < limit, what
        time.sleep(0.005)


@contextmanager
def as_user(user: int | None) -> Iterator[None]:
    """Sockets that connect meanwhile are this user's, as the kernel tells their peers."""
    if user is None:
        yield
        return
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)


def flow(value: object) -> str:
    """YAML in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


class CoordinatorProcess:
    """halcyon-coordinator in a folder of its own; its log is `log`."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.folder = folder
        folder.chmod(0o755)
        self.config = folder / "coordinators.yaml"
        self.log = folder / "log"
        self.socket = folder / "socket"
        self.metrics_socket = folder / "metrics"
        self.address = Address(str(self.socket))
        self.process: subprocess.Popen[bytes] | None = None
        self.configure(**settings)

    def configure(self, **settings: object) -> None:
        """Writes the configuration; each setting takes the place of that of the tests, `times` as a whole."""
        given = BASE | {"paths": ["/scratch"], "address": str(self.address), "metrics": f"unix:{self.metrics_socket}"}
        given |= {key.replace("_", "-"): value for key, value in settings.items()}
        self.config.write_text(f"halcyon: 1\ncoordinators:\n  scratch: {flow(given)}\n")

    def start(self, log: IO[bytes] | None = None, descriptors: int | None = None, where: Sequence[str] = ()) -> None:
        """`where`: words in front of the command."""

        def limit() -> None:
            if descriptors is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        with self.log.open("ab") as own:
            command = [*where, find_program(), "--config", self.config]
            self.process = subprocess.Popen(command, stderr=log or own, preexec_fn=limit)
        wait_until(self.answers, "the daemon listens")

    @property
    def tcp(self) -> Address:
        """Where it listens at a port that the system chose."""
        known = re.search(r"listens at tcp:127.0.0.1:(\d+)", self.log.read_text())
        assert known, "it listens at TCP"
        return Address("127.0.0.1", int(known[1]))

    def answers(self) -> bool:
        """Whatever it is: then it has opened all of its addresses, and has written in its log what they are."""
        assert self.process is not None
        assert self.process.poll() is None, self.log.read_text()
        try:
            with Connection(self.address) as asked:
                asked.send({"type": "top"})
                asked.receive()
        except UnavailableError:
            return False
        return True

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def end(self) -> int:
        """Its exit status, by SIGTERM."""
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(LIMIT_S)

    def top(self) -> Top:
        with Connection(self.address) as asked:
            return ask_top(asked)

    def metrics(self) -> str:
        status, body = self.http("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        assert " 200 " in status, status
        return body

    def http(self, request: str) -> tuple[str, str]:
        with socket.socket(socket.AF_UNIX) as asked:
            asked.settimeout(LIMIT_S)
            asked.connect(str(self.metrics_socket))
            asked.sendall(request.encode())
            answer = b""
            while some := asked.recv(1 << 16):
                answer += some
        head, _, body = answer.decode().partition("\r\n\r\n")
        return head, body

    def count(self, name: str) -> int:
        """Of the metrics."""
        found = re.search(rf"^halcyon_coordinator_{name}_total{{[^}}]*}} (\S+)$", self.metrics(), re.MULTILINE)
        assert found, f"no metric {name}"
        return int(float(found[1]))
