"""Delays of B after A, in seconds or in units of A's time alone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from halcyon.errors import UsageError
from halcyon.models.interference import Phase, deltas
from halcyon.quantities import parse_seconds

_TIMES = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*TA", re.ASCII)

_DIGITS = 9
"""Of a point of a range in units of A's time: 0.1 + 0.2 is 0.3."""


@dataclass(frozen=True)
class Delay:
    """`of_a`: in units of A's time alone, else in seconds."""

    value: float
    of_a: bool = False

    @property
    def counts_by_a(self) -> bool:
        """Whether it can be said in units of A's time: 0 can."""
        return self.of_a or self.value == 0

    def ns(self, a_alone_s: float) -> int:
        """Whole milliseconds, in nanoseconds: the same delay has the same number whoever computes it."""
        return round(self.value * (a_alone_s if self.of_a else 1.0) * 1000) * 1_000_000


def parse_delay(text: str, what: str) -> Delay:
    """`2s`, `-350ms`, `-0.5TA`. UsageError: it is none; the message begins with `what`."""
    sign, word = (-1, text.strip()[1:]) if text.strip().startswith("-") else (1, text.strip().removeprefix("+"))
    if parts := _TIMES.fullmatch(word.strip()):
        return Delay(sign * float(parts[1]), True)
    try:
        return Delay(sign * parse_seconds(word, what))
    except UsageError:
        raise UsageError(f"{what}: '{text}' is no delay; expected one such as 2s, -350ms or 0.5TA") from None


@dataclass(frozen=True)
class Delays:
    """Listed; or `steps` from `first` to `last`, evenly spaced; where both are None, from where B ends as A starts to
    where A has ended, and a fifth more on both sides, and 0."""

    listed: tuple[Delay, ...] = ()
    first: Delay | None = None
    last: Delay | None = None
    steps: int = 9

    @property
    def need_alone(self) -> bool:
        """Whether they depend on times alone."""
        if self.listed:
            return any(one.of_a for one in self.listed)
        return self.first is None or self.last is None or self.first.of_a or self.last.of_a

    def ns(self, a_alone_s: float, b_alone_s: float) -> list[int]:
        """Sorted, each once. UsageError: there are none, or the last one is before the first."""
        if self.listed:
            return sorted({one.ns(a_alone_s) for one in self.listed})
        usual = deltas(Phase(a_alone_s), Phase(b_alone_s), max(self.steps, 2))
        if self.first is None and self.last is None:
            return sorted({Delay(one).ns(a_alone_s) for one in usual})
        first = Delay(usual[0]) if self.first is None else self.first
        last = Delay(usual[-1]) if self.last is None else self.last
        low, high = first.ns(a_alone_s), last.ns(a_alone_s)
        if high < low or (self.steps > 1 and high == low):
            raise UsageError(f"delays from {low / 1e9:g} s to {high / 1e9:g} s: the last must be after the first")
        if self.steps < 2:
            return [low]
        if first.counts_by_a and last.counts_by_a:
            # As they would be listed: rounded once, from the same fraction.
            fractions = [first.value + (last.value - first.value) * i / (self.steps - 1) for i in range(self.steps)]
            return sorted({Delay(round(one, _DIGITS), of_a=True).ns(a_alone_s) for one in fractions})
        return sorted({round((low + (high - low) * i / (self.steps - 1)) / 1e6) * 1_000_000 for i in range(self.steps)})


def parse_delays(text: str) -> tuple[Delay, ...]:
    """Of `--dt`, separated by commas."""
    words: Sequence[str] = text.split(",")
    return tuple(parse_delay(word, "--dt") for word in words)
