"""Who could move bytes when, by all messages between agents and daemons."""

import itertools
from collections.abc import Iterable

from overheard import Heard
from wandering_agents import SILENCE_S, Span


class _Turns:
    """Of a job with one agent, which obeys the rules of turn_agent.hpp."""

    def __init__(self, job: str) -> None:
        self.job = job
        self.spans: list[Span] = []
        self._phase = 0  # 0: none
        self._fence = 0
        self._heard_s = 0.0
        self._connection = 0
        self._open: Span | None = None
        self._to_be_shown: Span | None = None
        """To a daemon that the agent has come back to, if its phase has not ended."""

    def end(self, at_s: float) -> None:
        for span in (self._open, self._to_be_shown):
            if span is not None:
                span.until = min(span.until, at_s)
                self.spans.append(span)
        self._open = self._to_be_shown = None

    def end_by_silence(self) -> None:
        self.end(self._heard_s + SILENCE_S)

    def said(self, one: Heard) -> None:
        if one.kind == "inform":
            self._phase = one.message["phase"]
            shown = self._to_be_shown
            if shown is not None and one.message.get("lease") == shown.lease:
                shown.until = float("inf")
                self._open, self._to_be_shown = shown, None
        elif one.kind in ("release", "withdraw"):
            self._phase = 0
            self.end(one.at_s)
        elif one.kind == "stopped" and self._is_of(one):
            self.end(one.at_s)

    def heard(self, one: Heard) -> None:
        if one.kind == "refused":
            return
        if one.at_s - self._heard_s > SILENCE_S:
            self.end_by_silence()
        self._heard_s = one.at_s
        if one.kind == "registered" and one.connection != self._connection:
            self._connection = one.connection
            self._to_be_shown, self._open = self._open, None
            if self._to_be_shown is not None:
                self._to_be_shown.until = one.at_s
        elif one.kind in ("grant", "standing") and one.message["fence"] >= self._fence:
            self._fence = one.message["fence"]
            if one.kind == "standing" or one.message["phase"] == self._phase:
                self._has_turn(one)
        elif one.kind == "voided" and self._is_of(one):
            self.end(one.at_s)

    def _is_of(self, one: Heard) -> bool:
        return self._open is not None and one.message["lease"] == self._open.lease

    def _has_turn(self, one: Heard) -> None:
        if self._is_of(one):
            return
        self.end(one.at_s)
        self._open = Span(self.job, one.message["lease"], self._fence, one.at_s)


def spans_of(messages: Iterable[Heard]) -> list[Span]:
    """In which one job or another could move under a lease, in the order of their begins."""
    jobs: dict[str, _Turns] = {}
    for one in sorted(messages, key=lambda one: one.at_s):
        if one.job:
            turns = jobs.setdefault(one.job, _Turns(one.job))
            (turns.said if one.of_agent else turns.heard)(one)
    for turns in jobs.values():
        turns.end_by_silence()
    return sorted((span for turns in jobs.values() for span in turns.spans), key=lambda span: span.since)


def check_that_no_turn_was_given_twice(messages: Iterable[Heard]) -> list[Span]:
    """By all times and all fencing numbers. Returns the turns."""
    messages = list(messages)
    spans = spans_of(messages)
    for before, after in itertools.combinations(spans, 2):
        assert before.job == after.job or before.until <= after.since, f"{before} and {after} overlap"
        assert before.fence < after.fence, f"fencing numbers rise from turn to turn: {before}, {after}"
    numbers = [one.message["fence"] for one in messages if one.kind in ("grant", "standing") and not one.of_agent]
    assert len(numbers) == len(set(numbers)), "a fencing number came twice"
    return spans
