"""What figures 7.2 to 7.7 of Dorier 2014 show, of one stream."""

from dataclasses import dataclass

import numpy as np

from halcyon.predict.curves import Array, Curve, Sliding, Thinned
from halcyon.predict.streams import Columns

SLIDES = 10
"""Calls over which scores are averaged, as in figure 7.2."""
LARGEST_ERROR = 5.0
"""Where errors of sizes are cut, as in figure 7.4."""
LAST = 1000
"""Calls whose interarrival times are shown, as in figure 7.7."""


@dataclass(frozen=True)
class Arrivals:
    """Interarrival times of the last calls, in seconds, and what was expected; `x`: numbers of the calls."""

    x: list[int]
    observed: list[float]
    expected: list[float]
    last_value: list[float]
    """Of the naive predictor that expects the time of the last time."""


@dataclass(frozen=True)
class Figures:
    """x is the number of the call, from 1. Curves are thinned to the least and the greatest value of each bin."""

    calls: int
    learnt: int | None
    """Calls before the second iteration."""
    context: list[Curve]
    """Figure 7.2: share of the last ten calls whose call site was forecast (1/n), and the naive one's."""
    grammar: list[Curve]
    """Figure 7.3."""
    size_error: list[Curve]
    """Figure 7.4, 1/n, cut at 5; of reads and writes."""
    hit: list[Curve]
    """Figure 7.5, 1/n, averaged over the last ten calls, beside that of contiguous accesses."""
    arrivals: Arrivals
    """Figures 7.6 and 7.7."""


class Plotter:
    """Makes the figures of a stream of so many calls, piece by piece."""

    def __init__(self, calls: int) -> None:
        self._calls = calls
        self._done = 0
        self._slides = {
            name: (Thinned(told, calls), Sliding(SLIDES))
            for name, told in (
                ("context_even", "Halcyon"),
                ("markov-2.context", "Markov, 2 call sites"),
                ("hit_even", "Halcyon"),
                ("contiguous.hit", "contiguous"),
            )
        }
        self._grammar = Thinned("Halcyon", calls)
        self._error = Thinned("Halcyon", calls)
        self._waiting: dict[str, Array] = {}
        self._last: list[Columns] = []

    def add(self, calls: Columns, scores: Columns) -> None:
        """The next calls."""
        rows: dict[str, Array] = {}
        for name, (_curve, sliding) in self._slides.items():
            # Of a call that nobody forecast anything for, the naive one's score is none; it is no success either.
            rows[name] = sliding.of(np.nan_to_num(scores[name].astype(np.float64)))
        rows["grammar"] = scores["grammar_runs"].astype(np.float64)
        rows["error"] = np.minimum(scores["size_error_even"].astype(np.float64), LARGEST_ERROR)
        self._waiting = {
            name: np.concatenate([self._waiting[name], row]) if self._waiting else row for name, row in rows.items()
        }
        self._plot(whole_bins=True)
        names = ("gap_observed_ns", "gap_expected_ns", "last-value.gap_expected_ns")
        self._last = [*self._last, {name: scores[name] for name in names}]
        while sum(len(one["gap_observed_ns"]) for one in self._last[1:]) >= LAST:
            del self._last[0]

    def _plot(self, *, whole_bins: bool) -> None:
        width, length = self._grammar.bin, len(self._waiting.get("grammar", ()))
        ready = length - length % width if whole_bins else length
        for name, row in self._waiting.items():
            curve = {"grammar": self._grammar, "error": self._error}.get(name) or self._slides[name][0]
            curve.add(self._done, row[:ready])
        self._waiting = {name: row[ready:] for name, row in self._waiting.items()}
        self._done += ready

    def figures(self, learnt: int | None) -> Figures:
        """When all calls have come."""
        self._plot(whole_bins=False)
        curves = {name: thinned.curve() for name, (thinned, _) in self._slides.items()}
        return Figures(
            calls=self._done,
            learnt=learnt,
            context=[curves["context_even"], curves["markov-2.context"]],
            grammar=[self._grammar.curve()],
            size_error=[self._error.curve()],
            hit=[curves["hit_even"], curves["contiguous.hit"]],
            arrivals=self._arrivals(),
        )

    def _arrivals(self) -> Arrivals:
        columns = {
            name: np.concatenate([one[name] for one in self._last])[-LAST:] if self._last else np.array([])
            for name in ("gap_observed_ns", "gap_expected_ns", "last-value.gap_expected_ns")
        }
        observed = columns["gap_observed_ns"]
        known = ~np.isnan(observed)  # there is nothing before the first call
        x = np.arange(self._done - len(observed), self._done) + 1
        times = [[float(f"{t / 1e9:.4g}") for t in column[known].tolist()] for column in columns.values()]
        return Arrivals(x[known].tolist(), *times)
