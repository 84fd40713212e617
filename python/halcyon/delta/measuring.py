"""Measures a Δ-graph: which runs are missing, in which order, until each point is known well enough."""

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from halcyon.delta.commands import Place
from halcyon.delta.data_file import DataFile
from halcyon.delta.delays import Delays
from halcyon.delta.estimate import CONFIDENCE, estimate
from halcyon.delta.forgiving import Forgiving
from halcyon.delta.identity import boot, programs
from halcyon.delta.runs import Key, Limits, Run, Setup, run_once
from halcyon.errors import UsageError

ALONE = (Key(alone="A"), Key(alone="B"))
HALF_WIDTH = 0.05
MOST = 15
FORGIVE = 2
"""Failed runs in a row that measurements of an hour and more shall outlast."""
MOST_NOT_COUNTED = 0.25
"""Of the runs of a point: where more do not count, those that do may be chosen by what disturbed the others. So there
are more of them."""
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
    place: Place, setup: Setup, wanted: Sequence[Wanted], file: DataFile, limits: Limits,
    on_run: Callable[[Progress], None] | None = None, *, within_s: float = math.inf, forgive: int = 0,
) -> None:  # fmt: skip
    """Makes the runs that the file lacks, of all that is wanted in the same rounds; none begins after `within_s`.
    UsageError and HalcyonSystemError as run_once, but `forgive` failed runs in a row are kept as ones that do not
    count."""
    until_s = time.monotonic() + within_s
    forgiving = Forgiving(file, forgive)

    def make(key: Key) -> None:
        forgiving.add(
            lambda: run_once(place, setup, key, limits),
            lambda failed: Run(key, None, None, None, None, failed.why, failed.at_s, failed.wall_s, programs(), boot()),
        )

    if any(one.delays.need_alone for one in wanted):
        of_alone = _most_wanting(wanted)
        first = replace(of_alone, most=of_alone.repeat)
        make_missing(dict.fromkeys(ALONE, first), file.runs, make, until_s, on_run)
    make_missing(all_wanted(wanted, file.runs), file.runs, make, until_s, on_run)


def all_wanted(wanted: Sequence[Wanted], runs: Sequence[Run]) -> dict[Key, Wanted]:
    """All keys, each with how well it shall be known: as those say who want the most runs of it, of equals the first.
    UsageError as points."""
    found = dict.fromkeys(ALONE, _most_wanting(wanted))
    for one in wanted:
        for key in points(one, runs):
            found[key] = _most_wanting([found.get(key, one), one])
    return found


def make_missing(
    wanted: Mapping[Key, Wanted], runs: Sequence[Run], make: Callable[[Key], None], until_s: float,
    on_run: Callable[[Progress], None] | None = None,
) -> None:  # fmt: skip
    """In rounds: in each, one run of every point that lacks some, in a random order, so that all points meet the same
    moods of the machine; and one of each application alone, up to `most`, as long as any other point lacks some, since
    these moods reach the times alone as well. `make` adds a run to `runs`; none begins after `until_s`, of the
    monotonic clock."""
    made = 0
    while batch := _batch(wanted, runs):
        for i, key in enumerate(batch, start=1):
            if time.monotonic() > until_s:
                return
            make(key)
            made += 1
            if on_run is not None:
                on_run(Progress(runs[-1], made, _left(wanted, runs, batch[i:])))


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
    counted, out = of_key(key, runs), len(problems_of(key, runs))
    if out >= _PROBLEMS * wanted.repeat:
        return 0
    enough = math.ceil(out * (1 - MOST_NOT_COUNTED) / MOST_NOT_COUNTED)
    needed = max(wanted.repeat, min(enough, wanted.most))
    if len(counted) < needed:
        return needed - len(counted)
    return 0 if len(counted) >= wanted.most or _is_narrow(counted, wanted) else 1


def _is_narrow(counted: Sequence[Run], wanted: Wanted) -> bool:
    for name in {name for run in counted for name in run.told}:
        values = [run.told[name].seconds for run in counted if name in run.told]
        if estimate(values, wanted.confidence).relative > wanted.half_width:
            return False
    return bool(counted)


def _batch(wanted: Mapping[Key, Wanted], runs: Sequence[Run]) -> list[Key]:
    """Of one round. The order depends on the seed and on how many runs there are, failed ones too: a point that fails
    is not the first one for ever."""
    batch = [key for key, one in wanted.items() if _missing(key, runs, one)]
    if any(key.alone is None for key in batch):
        batch += [key for key, one in wanted.items() if key.alone and key not in batch and _room(key, runs, one)]
    random.Random(f"{_seed(wanted)} {len(runs)}").shuffle(batch)
    return batch


def _left(wanted: Mapping[Key, Wanted], runs: Sequence[Run], rest: Sequence[Key]) -> int:
    """Runs that are known to be missing, by the `rest` of this round and the rounds after it."""
    later = {key: max(_missing(key, runs, one) - (key in rest), 0) for key, one in wanted.items()}
    rounds = max((count for key, count in later.items() if key.alone is None), default=0)
    for key, one in wanted.items():
        if key.alone:
            later[key] = max(later[key], min(rounds, _room(key, runs, one) - (key in rest)))
    return len(rest) + sum(later.values())


def _room(key: Key, runs: Sequence[Run], wanted: Wanted) -> int:
    """Runs of an application alone that may still be made."""
    given_up = len(problems_of(key, runs)) >= _PROBLEMS * wanted.repeat
    return 0 if given_up else max(wanted.most - len(of_key(key, runs)), 0)


def _most_wanting(wanted: Sequence[Wanted]) -> Wanted:
    """Of equals the first."""
    return max(wanted, key=lambda one: (one.repeat, one.most))


def _seed(wanted: Mapping[Key, Wanted]) -> int:
    return next(iter(wanted.values())).seed
