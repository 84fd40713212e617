"""Measures a Δ-graph: which runs are missing, in which order, until each point is known well enough."""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from halcyon.delta.commands import Place
from halcyon.delta.data_file import DataFile
from halcyon.delta.delays import Delays
from halcyon.delta.estimate import CONFIDENCE, estimate
from halcyon.delta.runs import Key, Limits, Run, Setup, run_once
from halcyon.errors import UsageError

ALONE = (Key(alone="A"), Key(alone="B"))
HALF_WIDTH = 0.05
MOST = 15
_PROBLEMS = 3
"""Runs of a point that may fail a premise before no more are tried, in units of the runs wanted."""


@dataclass(frozen=True)
class Wanted:
    """How well points shall be known. A point has `repeat` runs; where half the width of the confidence interval of A's
    or B's time is above `half_width` of its mean, more, up to `most`."""

    delays: Delays
    policies: tuple[str, ...]
    repeat: int = 3
    most: int = MOST
    confidence: float = CONFIDENCE
    half_width: float = HALF_WIDTH
    seed: int = 1
    within_s: float = math.inf
    """No run begins later than so long after the first one of this measurement."""

    def __post_init__(self) -> None:
        if not 1 <= self.repeat <= self.most:
            raise UsageError(f"--repeat {self.repeat}, --most {self.most}: expected 1 or more, and no more than --most")
        if not 0 < self.confidence < 1 or not self.half_width > 0:
            raise UsageError("--confidence and --half-width: expected above 0, and a confidence below 100 %")


@dataclass(frozen=True)
class Progress:
    """After a run. `left`: of those that are known to be missing; intervals may ask for more."""

    run: Run
    made: int
    left: int


def measure(
    place: Place, setup: Setup, wanted: Wanted, file: DataFile, limits: Limits,
    on_run: Callable[[Progress], None] | None = None,
) -> None:  # fmt: skip
    """Makes the runs that the file lacks. UsageError and HalcyonSystemError as run_once."""
    until_s = time.monotonic() + wanted.within_s

    def make(key: Key) -> None:
        file.add(run_once(place, setup, key, limits))

    if wanted.delays.need_alone:
        make_missing(ALONE, file.runs, wanted, make, until_s, on_run)
    make_missing([*ALONE, *points(wanted, file.runs)], file.runs, wanted, make, until_s, on_run)


def make_missing(
    keys: Sequence[Key], runs: Sequence[Run], wanted: Wanted, make: Callable[[Key], None], until_s: float,
    on_run: Callable[[Progress], None] | None = None,
) -> None:  # fmt: skip
    """In rounds: in each, one run of every point that lacks some, in a random order, so that all points meet the same
    moods of the machine. `make` adds a run to `runs`; none begins after `until_s`, of the monotonic clock."""
    made = 0
    while batch := _batch(keys, runs, wanted):
        for key in batch:
            if time.monotonic() > until_s:
                return
            make(key)
            made += 1
            if on_run is not None:
                on_run(Progress(runs[-1], made, sum(_missing(one, runs, wanted) for one in keys)))


def points(wanted: Wanted, runs: Sequence[Run]) -> list[Key]:
    """All that shall be measured of both; where delays depend on times alone, by the first of these runs, which more
    runs do not change. UsageError: those are missing."""
    alone_s = [_first_alone(one, runs, wanted) for one in ALONE]
    return [Key(policy, dt_ns) for dt_ns in wanted.delays.ns(alone_s[0], alone_s[1]) for policy in wanted.policies]


def of_key(key: Key, runs: Sequence[Run]) -> list[Run]:
    """Those that count."""
    return [run for run in runs if run.key == key and run.problem is None]


def problems_of(key: Key, runs: Sequence[Run]) -> list[str]:
    """Why the others do not count, in their order."""
    return [run.problem for run in runs if run.key == key and run.problem is not None]


def is_met(key: Key, runs: Sequence[Run], wanted: Wanted) -> bool:
    """Whether the point has as many runs as wanted, and is known as well as wanted."""
    counted = of_key(key, runs)
    return len(counted) >= wanted.repeat and _is_narrow(counted, wanted)


def _first_alone(key: Key, runs: Sequence[Run], wanted: Wanted) -> float:
    if not wanted.delays.need_alone:
        return 1.0
    counted = of_key(key, runs)[: wanted.repeat]
    if not counted:
        raise UsageError(f"no run of {key.alone} alone counts: delays in units of its time are not known")
    return median(told.seconds for run in counted if (told := run.a or run.b))


def _missing(key: Key, runs: Sequence[Run], wanted: Wanted) -> int:
    """Runs to make now."""
    counted = of_key(key, runs)
    if len(problems_of(key, runs)) >= _PROBLEMS * wanted.repeat:
        return 0
    if len(counted) < wanted.repeat:
        return wanted.repeat - len(counted)
    return 0 if len(counted) >= wanted.most or _is_narrow(counted, wanted) else 1


def _is_narrow(counted: Sequence[Run], wanted: Wanted) -> bool:
    for name in {name for run in counted for name in run.told}:
        values = [run.told[name].seconds for run in counted if name in run.told]
        if estimate(values, wanted.confidence).relative > wanted.half_width:
            return False
    return bool(counted)


def _batch(keys: Sequence[Key], runs: Sequence[Run], wanted: Wanted) -> list[Key]:
    """One run of each key that lacks some; the order depends on the seed and on how many runs there are."""
    batch = [key for key in keys if _missing(key, runs, wanted)]
    random.Random(f"{wanted.seed} {len(runs)}").shuffle(batch)
    return batch
