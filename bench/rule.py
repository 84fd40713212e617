"""What makes a figure of the rounds that a benchmark reports: the one rule for all of them.

A benchmark prints lines. Of its rounds:

    value ROOM.FIGURE NUMBER UNIT     a value of the round that goes on
    failed PREMISE: DETAIL            a premise of that round does not hold
    round                             the round ends: its values count, unless a premise failed

and outside of rounds:

    ROOM.FIGURE NUMBER UNIT           a figure that is counted, not measured: every round would give the same
    unmet ROOM.FIGURE REASON          a figure that cannot be measured here
"""

import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field

NEEDED = 7
"""Rounds that must count; with fewer of them a figure is not met."""

_FIGURE = re.compile(r"([a-z]+\.[A-Za-z0-9_.]+) ([-+0-9.eE]+) (\S+)")
_UNMET = re.compile(r"([a-z]+\.[A-Za-z0-9_.]+) (.+)")


@dataclass
class Failures:
    """How often a premise failed, and how it did last."""

    count: int = 0
    detail: str = ""


@dataclass
class Figure:
    """The rounds of one figure. `every` has those that do not count, too."""

    unit: str
    counted: list[float] = field(default_factory=list)
    every: list[float] = field(default_factory=list)
    failures: dict[str, Failures] = field(default_factory=dict)

    @property
    def is_met(self) -> bool:
        return len(self.counted) >= NEEDED

    def lines(self, name: str, ended: str | None) -> Iterator[str]:
        """As they are shown. `ended`: why the benchmark did not come to its end."""
        if not self.is_met:
            yield f"{name} not met: {self._reason(ended)}"
            return
        deciles = statistics.quantiles(self.counted, n=10, method="inclusive")
        shown = {"": statistics.median(self.counted), "_p10": deciles[0], "_p90": deciles[-1]}
        for suffix, value in shown.items():
            yield f"{name}{suffix} {value:.6g} {self.unit}"
        yield f"{name}_rounds {len(self.counted)} rounds"
        if self._not_counted:
            yield f"{name}_not_counted {self._not_counted} rounds"
            yield f"{name}_all {statistics.median(self.every):.6g} {self.unit}"

    def remark(self) -> str | None:
        """Why rounds of a figure that is met do not count."""
        return self._failed_rounds() if self.is_met and self._not_counted else None

    @property
    def _not_counted(self) -> int:
        return len(self.every) - len(self.counted)

    def _reason(self, ended: str | None) -> str:
        reasons = [f"{len(self.counted)} of {NEEDED} rounds count"]
        if self._not_counted:
            reasons.append(self._failed_rounds())
        if ended:
            reasons.append(ended)
        reasons.append(f"the median of all {len(self.every)} is {statistics.median(self.every):.6g} {self.unit}")
        return "; ".join(reasons)

    def _failed_rounds(self) -> str:
        causes = (f"{premise} ({one.count}, last: {one.detail})" for premise, one in self.failures.items())
        return f"{self._not_counted} do not count: {', '.join(causes)}"


class Figures:
    """All figures of one benchmark, fed with its lines. `rounds` have ended; `last_failed` says why the latest does not
    count, "" where it does."""

    def __init__(self) -> None:
        self.measured: dict[str, Figure] = {}
        self.unmet: dict[str, str] = {}
        self.counts = 0
        self.rounds = 0
        self.last_failed = ""
        self._values: dict[str, tuple[float, str]] = {}
        self._failed: dict[str, str] = {}

    def feed(self, line: str) -> bool:
        """Takes a line of the benchmark; False: it is none of a figure or a round."""
        word, _, rest = line.partition(" ")
        if word == "value" and (value := _FIGURE.fullmatch(rest)):
            self._values[value[1]] = (float(value[2]), value[3])
        elif word == "failed":
            premise, _, detail = rest.partition(": ")
            self._failed[premise] = detail
        elif line == "round":
            self._end_round()
        elif word == "unmet" and (unmet := _UNMET.fullmatch(rest)):
            self.unmet[unmet[1]] = unmet[2]
        elif _FIGURE.fullmatch(line):
            self.counts += 1
        else:
            return False
        return True

    def end(self) -> None:
        """The benchmark has ended: a round that it did not end does not count."""
        if self._values:
            self._failed.setdefault("the round is complete", "the benchmark ended within it")
            self._end_round()

    @property
    def any(self) -> bool:
        return bool(self.measured or self.unmet or self.counts)

    @property
    def not_met(self) -> list[str]:
        return [*self.unmet, *(name for name, figure in self.measured.items() if not figure.is_met)]

    def lines(self, ended: str | None) -> Iterator[str]:
        """What is shown when the benchmark has ended; its counts were shown before."""
        for name, figure in self.measured.items():
            yield from figure.lines(name, ended)
        for name, reason in self.unmet.items():
            yield f"{name} not met: {reason}"

    def remarks(self) -> Iterator[str]:
        """Why rounds of figures that are met do not count; figures of the same rounds together."""
        figures_of: dict[str, list[str]] = {}
        for name, figure in self.measured.items():
            if remark := figure.remark():
                figures_of.setdefault(remark, []).append(name)
        for remark, names in figures_of.items():
            yield f"{', '.join(names)}: {remark}"

    def _end_round(self) -> None:
        for name, (value, unit) in self._values.items():
            figure = self.measured.setdefault(name, Figure(unit))
            figure.every.append(value)
            if not self._failed:
                figure.counted.append(value)
            for premise, detail in self._failed.items():
                failures = figure.failures.setdefault(premise, Failures())
                failures.count += 1
                failures.detail = detail
        self.rounds += 1
        self.last_failed = "; ".join(f"{premise}: {detail}" for premise, detail in self._failed.items())
        self._values, self._failed = {}, {}
