"""A process at the address of a coordinator that answers otherwise than a coordinator would."""

import contextlib
import json
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from halcyon.coordinate.connection import Message

Answer = Callable[[Message], bytes]
"""To a message of an agent, and to TIME, of which some passes between any two; b"": none."""
TIME: Message = {"type": "time"}
BETWEEN_S = 0.05


class HangUpError(Exception):
    """The connection ends."""


@contextmanager
def answers_at(path: Path, answer: Answer) -> Iterator[None]:
    """Until the end of the block."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen()

    def accept() -> None:
        with contextlib.suppress(OSError):  # the test is over
            while True:
                agent, _ = listening.accept()
                threading.Thread(target=_converse, args=(agent, answer), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield
    finally:
        listening.close()


def _converse(agent: socket.socket, answer: Answer) -> None:
    rest = b""
    with agent, contextlib.suppress(OSError, HangUpError):
        while True:
            messages = [TIME]
            if select.select([agent], [], [], BETWEEN_S)[0]:
                some = agent.recv(1 << 16)
                if not some:
                    return
                *lines, rest = (rest + some).split(b"\n")
                messages = [json.loads(line) for line in lines]
            agent.sendall(b"".join(map(answer, messages)))


def line(kind: str, **fields: object) -> bytes:
    """A message of a coordinator."""
    return json.dumps({"type": kind} | fields).encode() + b"\n"
