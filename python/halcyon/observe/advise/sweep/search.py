"""Searches a space for the fastest point within a budget: lines through the start, then guided, then what costs less.

Optuna's tree-structured Parzen estimator does the guiding: it copes with noise, with values of any spacing and with
points that cannot be measured, needs no derivative and no full grid, and is told of measurements made by others (the
lines). Each trial of it is one run of the command.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import sqrt
from statistics import NormalDist, median

import numpy as np

from halcyon.errors import UnavailableError, UsageError
from halcyon.observe.advise.sweep.space import AGGREGATORS, STRIPE_COUNT, Point, Space, cost
from halcyon.observe.advise.verdict import CONFIDENCE

Machine = Callable[[Point], float | None]
"""Runs at a point; bytes per second, or None when the run does not count."""

_LINES_SHARE = 0.3
"""Of the budget: for the lines, which show what each parameter does alone; where they are longer, they get gaps."""
_GUIDED_SHARE = 0.55
"""After this share of the budget, the rest goes to points like the best one of lower cost, and to repetitions: the
fastest of many single runs is mostly luck."""
_LOWER_SHARE = 0.65
"""The points of lower cost have their turn up to this share."""
_REPEATS = 8
"""Runs of each candidate and of the start, where the budget allows: enough to tell a fifth more from usual scatter."""
BELIEVED = 3
"""Runs of a point that may be chosen: a median of fewer is moved by one that was disturbed."""
_NEAR = 0.85
"""Points that reach this share of the best are candidates for their cost."""


@dataclass(frozen=True)
class Budget:
    """Whichever ends first."""

    runs: int
    seconds: float | None = None


@dataclass(frozen=True)
class Gain:
    """How many times as fast, with the interval in which that lies with CONFIDENCE."""

    ratio: float
    low: float
    high: float


@dataclass
class Measured:
    """All that was measured: bytes per second by point, in the order of the runs. Failed runs leave no value.

    `confirmed`: of these the runs of the last part, in which the candidates and the start take turns: what chose a
    point was luck in part, and a machine that others use is another one after half an hour.
    """

    space: Space
    start: Point
    values: dict[Point, list[float]] = field(default_factory=dict)
    confirmed: dict[Point, list[float]] = field(default_factory=dict)
    runs: int = 0
    interrupted: bool = False

    def speed(self, point: Point) -> float:
        """The median of the confirmed runs, where these are enough, else of all; 0 where no run succeeded."""
        own = self._telling(point)
        return median(own) if own else 0.0

    def repeated(self) -> list[Point]:
        """Points with enough runs to be believed; all that were measured, where none has."""
        for runs in (self.confirmed, self.values):
            if enough := [point for point, own in runs.items() if len(own) >= BELIEVED]:
                return enough
        return [point for point, own in self.values.items() if own]

    def scatter(self, point: Point) -> float:
        """Half the range of the middle half of a point's runs, over their median."""
        low, middle, high = np.quantile(self._telling(point), [0.25, 0.5, 0.75])
        return float((high - low) / 2 / middle)

    def faster(self, point: Point) -> bool:
        """Than the start, for certain: by confirmed runs alone."""
        own, start = self.confirmed.get(point), self.confirmed.get(self.start)
        if not own or not start or point == self.start:
            return False
        from scipy.stats import mannwhitneyu  # takes about a second to load

        return bool(mannwhitneyu(own, start, alternative="greater").pvalue < 1 - CONFIDENCE)

    def gain(self, point: Point) -> Gain | None:
        """Over the start; None: it is the start, or there are too few confirmed runs. The median of the ratios of all
        pairs of runs, and those of its order statistics between which it lies (Hodges and Lehmann), whatever the runs'
        distribution."""
        own, start = self.confirmed.get(point), self.confirmed.get(self.start)
        if point == self.start or not own or not start:
            return None
        ratios = sorted(one / other for one in own for other in start)
        spread = sqrt(len(ratios) * (len(own) + len(start) + 1) / 12)
        outside = int(len(ratios) / 2 - NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * spread)
        if outside < 1:
            return None
        return Gain(median(ratios), ratios[outside - 1], ratios[-outside])

    def _telling(self, point: Point) -> list[float]:
        own = self.confirmed.get(point, [])
        return own if len(own) >= BELIEVED else self.values.get(point, [])

    def best(self) -> Point:
        """The fastest of those. UsageError: no run succeeded."""
        known = self.repeated()
        if not known:
            raise UsageError(f"none of {self.runs} runs of the command succeeded")
        return max(known, key=self.speed)


def search(
    space: Space,
    start: dict[str, int],
    machine: Machine,
    budget: Budget,
    seed: int = 1,
    tell: Callable[[int, Point, float | None], None] = lambda *_: None,
) -> Measured:
    """Measures within the budget; `start`: the values in effect without any setting; `tell` hears of each run. An
    interrupt (SIGINT) ends it.

    UnavailableError: Optuna is not installed.
    """
    measured = Measured(space, space.nearest(start))
    began = time.monotonic()

    def spent() -> float:
        """Share of the budget."""
        used = measured.runs / budget.runs
        return max(used, (time.monotonic() - began) / budget.seconds) if budget.seconds else used

    def measure(point: Point, *, confirms: bool = False) -> float | None:
        value = machine(point)
        measured.runs += 1
        for runs in (measured.values, measured.confirmed) if confirms else (measured.values,):
            own = runs.setdefault(point, [])
            if value is not None:
                own.append(value)
        tell(measured.runs, point, value)
        return value

    try:
        guide = _Guide(measured.space, seed)
        _explore(measured, budget, guide, spent, measure)
        _try_lower_costs(measured, guide, spent, measure)
        _confirm(measured, spent, partial(measure, confirms=True))
    except KeyboardInterrupt:
        measured.interrupted = True
    return measured


def _explore(measured: Measured, budget: Budget, guide: "_Guide", spent: Callable[[], float], measure: Machine) -> None:
    for point in _lines(measured.space, measured.start, max(int(budget.runs * _LINES_SHARE), 1)):
        if spent() >= _GUIDED_SHARE:
            break
        guide.learn(point, measure(point))
    while spent() < _GUIDED_SHARE:
        point = guide.suggest()
        guide.learn(point, measure(point))


def _try_lower_costs(measured: Measured, guide: "_Guide", spent: Callable[[], float], measure: Machine) -> None:
    """As the fastest point, with fewer targets; then guided at the fewest that are promising: with fewer targets the
    other parameters' best values may be others."""
    while spent() < _LOWER_SHARE:
        point = _next_of_lower_cost(measured) or guide.suggest(_fewest_promising(measured))
        guide.learn(point, measure(point))


def _fewest_promising(measured: Measured) -> dict[str, int]:
    """The lowest value of what costs at which a point came near the fastest."""
    wanted = _costly(measured.space)
    fastest: dict[int, float] = {}
    for point in measured.values:
        value = dict(point).get(wanted, 0)
        fastest[value] = max(fastest.get(value, 0.0), measured.speed(point))
    near = [value for value, speed in fastest.items() if speed >= _NEAR * max(fastest.values())]
    return {wanted: min(near)} if min(near) else {}


def _costly(space: Space) -> str:
    """The parameter that takes from others: storage targets; without striping, aggregators."""
    return STRIPE_COUNT if STRIPE_COUNT in [parameter.name for parameter in space.parameters] else AGGREGATORS


def _confirm(measured: Measured, spent: Callable[[], float], measure: Machine) -> None:
    while spent() < 1 and (following := _next_repetition(measured)):
        measure(following)


def _lines(space: Space, start: Point, most: int) -> Iterator[Point]:
    """The start, then the lines through it; with gaps where there would be more than `most`."""
    every = [[one for one in space.line(parameter, start) if one != start] for parameter in space.parameters]
    step = 1
    while step < 64 and 1 + sum(len(line[::-step][::-1]) for line in every) > most:
        step += 1
    yield start
    for line in every:
        yield from line[::-step][::-1]  # the last value always: speed mostly grows


def _next_of_lower_cost(measured: Measured) -> Point | None:
    """Not measured yet, and as the fastest point but for storage targets (without striping: aggregators)."""
    varied = [parameter for parameter in measured.space.parameters if parameter.name == _costly(measured.space)]
    top = max(measured.values, key=measured.speed)
    lower = [one for parameter in varied for one in measured.space.line(parameter, top) if cost(one) < cost(top)]
    return next((one for one in reversed(lower) if one not in measured.values), None)


def _next_repetition(measured: Measured) -> Point | None:
    """Of the fastest point of each cost that is not far below the best, and of the start, the least confirmed one."""
    fastest: dict[int, Point] = {}
    for point, own in measured.values.items():
        if own and measured.speed(point) > measured.speed(fastest.get(cost(point), ())):
            fastest[cost(point)] = point
    top = max((measured.speed(point) for point in fastest.values()), default=0.0)
    near = [point for point in fastest.values() if measured.speed(point) >= _NEAR * top]
    short = [point for point in {*near, measured.start} if _turns(measured, point) < _REPEATS]
    # Of those equally often measured, the faster first: the budget may end.
    return min(sorted(short), key=lambda p: (_turns(measured, p), -measured.speed(p)), default=None)


def _turns(measured: Measured, point: Point) -> int:
    return len(measured.confirmed.get(point, ()))


class _Guide:
    """Optuna's study over the indices of values."""

    def __init__(self, space: Space, seed: int) -> None:
        try:
            import optuna
        except ModuleNotFoundError as why:
            raise UnavailableError("--sweep needs Optuna, which is not installed: pip install optuna") from why
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._space = space
        self._optuna = optuna
        self._kinds: dict[str, optuna.distributions.BaseDistribution] = {
            one.name: optuna.distributions.IntDistribution(0, len(one.values) - 1) for one in space.parameters
        }
        # A start of its own is not needed: the lines are one.
        self._sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=1)
        self._study = optuna.create_study(direction="maximize", sampler=self._sampler)

    def suggest(self, fixed: dict[str, int] | None = None) -> Point:
        """Where to measure next, with these parameters' values. Only looks: the trial that it takes is closed, learn()
        adds its result."""
        wanted = fixed or {}
        places = {one.name: one.values.index(wanted[one.name]) for one in self._space.parameters if one.name in wanted}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", self._optuna.exceptions.ExperimentalWarning)
            fixing = self._optuna.samplers.PartialFixedSampler(places, self._sampler)
        self._study.sampler = fixing if places else self._sampler
        trial = self._study.ask(self._kinds)
        self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        return tuple((one.name, one.values[trial.params[one.name]]) for one in self._space.parameters)

    def learn(self, point: Point, value: float | None) -> None:
        """Failed runs count as speed 0: they are as useless."""
        own = dict(point)
        trial = self._optuna.trial.create_trial(
            params={one.name: one.values.index(own[one.name]) for one in self._space.parameters},
            distributions=dict(self._kinds),
            value=value or 0.0,
        )
        self._study.add_trial(trial)
