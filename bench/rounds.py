"""Rounds of a benchmark in Python: prints what rule.py reads."""

import math
import time
from collections.abc import Iterator
from pathlib import Path

from rule import NEEDED

BUSY_AT_MOST = 0.25
"""Share of the machine's processor time that others may take right before and right after a round."""
LOOK_S = 0.2
CONTROL_WITHIN = 1.25
"""By this factor a reference may differ from itself in one round."""


class Rounds:
    """The rounds of one comparison, until as many as `wanted` count. It gives up where none of the first NEEDED does,
    and after twice as many as wanted. `quiet`: other programs must leave the machine alone."""

    def __init__(self, room: str, wanted: int = NEEDED, *, quiet: bool = True) -> None:
        self.counted = 0
        self.made = 0
        self._room = room
        self._wanted = wanted
        self._quiet = quiet
        self._holds = True

    def __iter__(self) -> Iterator["Rounds"]:
        while self._goes_on():
            self._holds = True
            self._require_quiet("before")
            yield self
            self._require_quiet("after")
            print("round", flush=True)
            self.made += 1
            self.counted += self._holds

    def value(self, name: str, value: float, unit: str) -> None:
        """A value of the current round. A ratio over nothing is none: the round does not count."""
        self.require("every value is a number", math.isfinite(value), f"{name} is {value}")
        if math.isfinite(value):
            print(f"value {self._room}.{name} {value:.9g} {unit}", flush=True)

    def require(self, premise: str, holds: bool, detail: str) -> None:
        """A premise of the current round."""
        if not holds:
            self._holds = False
            print(f"failed {premise}: {detail}", flush=True)

    def control(self, name: str, ratio: float, within: float = CONTROL_WITHIN) -> None:
        """The reference over itself: a figure of its own, and a premise."""
        self.value(name, ratio, "ratio")
        self.require_control(name, ratio, within)

    def require_control(self, name: str, ratio: float, within: float = CONTROL_WITHIN) -> None:
        """As a premise alone, where the figure is a difference."""
        self.require(
            "the control is near 1", 1 / within <= ratio <= within, f"{name} {ratio:.3g}, within a factor of {within}"
        )

    def _goes_on(self) -> bool:
        hopeless = self.made >= NEEDED and not self.counted
        return self.counted < self._wanted and self.made < 2 * self._wanted and not hopeless

    def _require_quiet(self, when: str) -> None:
        if not self._quiet:
            return
        share = busy_share()
        self.require("the machine is idle between runs", share <= BUSY_AT_MOST, f"{share:.0%} busy {when} the round")


def count(room: str, name: str, value: float, unit: str) -> None:
    """A figure that is counted, not measured."""
    print(f"{room}.{name} {value:.6g} {unit}", flush=True)


def unmet(room: str, name: str, reason: str) -> None:
    """A figure that cannot be measured here."""
    print(f"unmet {room}.{name} {' '.join(reason.split())}", flush=True)


def busy_share() -> float:
    """Of all cores, over a moment in which nothing of ours runs."""
    before = _ticks()
    time.sleep(LOOK_S)
    idle, every = (now - then for now, then in zip(_ticks(), before, strict=True))
    return 1 - idle / every if every > 0 else 0.0


def _ticks() -> tuple[int, int]:
    """Idle or waiting for a device; and in all."""
    words = Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    ticks = [int(word) for word in words]
    return ticks[3] + ticks[4], sum(ticks)
