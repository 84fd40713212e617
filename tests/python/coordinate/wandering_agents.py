"""Agents that try the daemons of a file system in turn, and remember when they had the turn."""

import itertools
import select
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from coordinator_process import LIMIT_S, CoordinatorProcess
from scripted_agents import Agent

from halcyon.coordinate.connection import Connection, Message
from halcyon.errors import UnavailableError

SILENCE_S = 0.5
"""After which a lease is of no use."""


@dataclass
class Span:
    """A time in which an agent could move bytes under one lease; `until` is infinite while it can."""

    job: str
    lease: int
    fence: int
    since: float
    until: float = float("inf")


class WanderingAgent(Agent):
    """Obeys the rules of a lease as halcyon-agent does: it ends with the turn, and when the daemon was silent for half
    a second. Then it is only shown."""

    def __init__(self, daemons: Sequence[CoordinatorProcess], job: str) -> None:
        self.daemons = daemons
        self.spans: list[Span] = []
        self.fences: list[int] = []
        self.refused_fences = 0
        self.heard_s = time.monotonic()
        self.silences = 0
        self._next = 0
        self._tried_s = 0.0
        self._silent = False
        self.at: CoordinatorProcess | None = None
        super().__init__(daemons[0], job)

    def _connect(self) -> Connection:
        self.of = self.at = self.daemons[self._next % len(self.daemons)]
        self._next += 1
        self._connected_s = time.monotonic()
        return super()._connect()

    def _is_mute(self, now: float) -> bool:
        """The daemon of this connection."""
        return now - max(self.heard_s, self._connected_s) > SILENCE_S

    @property
    def may_move(self) -> bool:
        return bool(self.spans) and self.spans[-1].until == float("inf")

    @property
    def epoch(self) -> int:
        """Of its latest fencing number."""
        return self.fence >> 32

    def end_span(self, at_s: float | None = None) -> None:
        if self.may_move:
            self.spans[-1].until = time.monotonic() if at_s is None else at_s

    def release(self) -> None:
        self.end_span()
        phase, self.phase_over = self.phase, True
        self.lease = 0
        if not self.closed:
            self.say("release", phase=phase)

    phase_over = True

    def begin(self) -> None:
        self.phase_over = False
        super().begin()

    def leave(self) -> None:
        """This daemon, for the next one."""
        self.connection.close()
        self.closed = True

    def care(self) -> None:
        """What time brings."""
        now = time.monotonic()
        if now - self.heard_s > SILENCE_S and not self._silent:
            self._silent = True
            self.silences += 1
            self.end_span(self.heard_s + SILENCE_S)
        if not self.closed and self._is_mute(now):
            self.leave()
        if not self.closed or now - self._tried_s < 0.02:
            return
        self._tried_s = now
        try:
            self.connection = self._connect()
            self.closed = False
        except UnavailableError:
            return

    def say(self, kind: str, **fields: object) -> None:
        try:
            super().say(kind, **fields)
        except UnavailableError:
            self.leave()

    def hear(self) -> None:
        if self._is_mute(time.monotonic()):
            self.leave()
            return
        try:
            message = self.connection.receive()
        except UnavailableError:
            self.leave()
            return
        self.heard.append(message)
        if message["type"] == "refused":
            self.leave()
            return
        self.heard_s = time.monotonic()
        self._silent = False
        self.understand(message)

    def understand(self, message: Message) -> None:
        kind = message["type"]
        if kind == "registered" and not self.phase_over:
            self.inform(**({"lease": self.lease} if self.lease else {}))
        elif kind == "grant":
            if message["fence"] < self.fence:
                self.refused_fences += 1
                return
            self.fences.append(message["fence"])
            self.fence = message["fence"]
            if self.phase_over or message["phase"] != self.phase:
                return
            if not self.may_move or self.lease != message["lease"]:
                self.end_span()
                self.spans.append(Span(self.job, message["lease"], self.fence, time.monotonic()))
            self.lease = message["lease"]
        elif kind == "voided" and message["lease"] == self.lease:
            self.end_span()
            self.lease = 0
            self.phase += 1
            self.inform()
        elif kind == "recall":
            self.recalled(message)
        elif kind == "stop":
            self.end_span()
            self.lease = 0
            self.say("stopped", lease=message["lease"])

    def recalled(self, message: Message) -> None:
        self.say("stopping", lease=message["lease"], round=1)

    def tick(self) -> None:
        self.moves = self.may_move
        super().tick()


def roam(agents: Sequence[WanderingAgent], condition: Callable[[], Any], what: str) -> None:
    """Lets the agents live until something has come about."""
    limit = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < limit, f"not within {LIMIT_S} s: {what}"
        for one in agents:
            one.care()
        open_ones = [one for one in agents if not one.closed]
        ready, _, _ = select.select([one.connection for one in open_ones], [], [], 0.005)
        for one in open_ones:
            while not one.closed and (one.connection.has_line or one.connection in ready):
                ready = [each for each in ready if each is not one.connection]
                one.hear()
            one.tick()


def check_that_no_turn_was_given_twice(agents: Sequence[WanderingAgent]) -> None:
    """By all times and all fencing numbers."""
    spans = sorted((span for one in agents for span in one.spans), key=lambda span: span.since)
    for before, after in itertools.combinations(spans, 2):
        assert before.job == after.job or before.until <= after.since, f"{before} and {after} overlap"
        assert before.fence < after.fence, "fencing numbers rise from turn to turn"
    numbers = [fence for one in agents for fence in one.fences]
    assert len(numbers) == len(set(numbers)), "a fencing number came twice"
