"""Agents that follow the protocol, and do what a test tells them."""

import select
import time
from collections.abc import Callable, Iterable
from typing import Any

from coordinator_process import HEARTBEAT_S, LIMIT_S, CoordinatorProcess, as_user

from halcyon.coordinate.connection import Connection, Message
from halcyon.errors import UnavailableError


class Agent:
    """One node of a job. While `moves`, it reports bytes as long as it has a lease; unless it `stops`, it keeps its
    answers to recalls and stops to itself."""

    def __init__(
        self, of: CoordinatorProcess, job: str, *, node: str = "n1", user: int | None = None, secret: str | None = None
    ) -> None:
        self.of = of
        self.job = job
        self.node = node
        self.user = user
        self.secret = secret or f"the secret of {job}, long enough"
        self.heard: list[Message] = []
        self.lease = 0
        self.fence = 0
        self.moves = self.stops = True
        self.phase = 0
        self._over: set[int] = set()
        """Phases."""
        self.closed = False
        self._said_s = 0.0
        self.connection = self._connect()

    def _connect(self) -> Connection:
        with as_user(self.user):
            made = Connection(self.of.address, timeout_s=LIMIT_S)
        register = {"type": "register", "version": 1, "job": self.job, "processes": 4, "nodes": 1, "node": self.node}
        made.send(register | {"secret": self.secret})
        return made

    def come_back(self) -> None:
        """To a daemon that was restarted: tells its phase, and what it has."""
        self.connection.close()
        self.closed = False
        self.heard.clear()
        self.connection = self._connect()
        if self.phase:
            self.inform(lease=self.lease)

    def say(self, kind: str, **fields: object) -> None:
        self._said_s = time.monotonic()
        self.connection.send({"type": kind} | fields)

    def begin(self) -> None:
        """An I/O phase."""
        self.phase += 1
        self.inform()

    def inform(self, **more: object) -> None:
        about = {"operation": "write", "bytes_left": 1 << 34, "alone_s": 10, "left_s": 10, "fence": self.fence}
        self.say("inform", phase=self.phase, **about, **more)

    def release(self) -> None:
        self.say("release", phase=self.phase)
        self._over.add(self.phase)
        self.lease = 0

    def of_type(self, kind: str) -> list[Message]:
        return [one for one in self.heard if one["type"] == kind]

    @property
    def has_turn(self) -> bool:
        return self.lease != 0

    def hear(self) -> None:
        """One message, of which some is there."""
        try:
            message = self.connection.receive()
        except UnavailableError:
            self.closed = True
            return
        self.heard.append(message)
        if message["type"] == "grant" and message["phase"] in self._over:
            self.fence = message["fence"]  # it has crossed the release
        elif message["type"] in ("grant", "standing"):
            assert message["fence"] > self.fence, "fencing numbers rise"
            self.lease, self.fence = message["lease"], message["fence"]
        elif message["type"] == "voided" and message["lease"] == self.lease:
            self.lease = 0
        elif message["type"] in ("recall", "stop") and self.stops:
            self.answer(message)

    def answer(self, message: Message) -> None:
        """A recall or a stop."""
        if message["type"] == "recall":
            self.say("stopping", lease=message["lease"], round=1)
        else:
            self.say("stopped", lease=message["lease"])
            self.lease = 0

    def tick(self) -> None:
        """What is due."""
        if self.closed or time.monotonic() - self._said_s < HEARTBEAT_S / 2:
            return
        if not select.select([], [self.connection], [], 0)[1]:
            return  # the daemon does not read at present
        try:
            if self.lease and self.phase and self.moves:
                self.say("progress", phase=self.phase, lease=self.lease, bytes_moved=1 << 20, bytes_left=1 << 34)
            else:
                self.say("heartbeat")
        except UnavailableError:
            self.closed = True


def run_until(agents: Iterable[Agent], condition: Callable[[], Any], what: str) -> None:
    """Lets the agents live until something has come about."""
    limit = time.monotonic() + LIMIT_S
    agents = list(agents)
    while not condition():
        assert time.monotonic() < limit, f"not within {LIMIT_S} s: {what}"
        open_ones = [one for one in agents if not one.closed]
        ready, _, _ = select.select(open_ones and [one.connection for one in open_ones], [], [], 0.005)
        for one in open_ones:
            if one.connection in ready or one.connection.has_line:
                one.hear()
            one.tick()


def live_for(agents: Iterable[Agent], seconds: float) -> None:
    """Where nothing comes about but time."""
    end = time.monotonic() + seconds
    run_until(agents, lambda: time.monotonic() >= end, "time passes")


def has_turn(agent: Agent) -> Callable[[], bool]:
    return lambda: agent.has_turn


def heard(agent: Agent, kind: str, times: int = 1) -> Callable[[], bool]:
    return lambda: len(agent.of_type(kind)) >= times
