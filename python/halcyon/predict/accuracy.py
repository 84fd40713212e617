"""How well each predictor did over a stretch of calls."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from halcyon.predict.streams import OPERATIONS, TRANSFERS, Columns

LIKELY = "halcyon"
"""Halcyon's forecasts, each weighed by its probability."""
EVEN = "halcyon-1/n"
"""The same forecasts, n of them weighed 1/n each (Dorier 2014, section 7.3.3)."""
NAIVE = ("contiguous", "immediate", "last-value", "markov-2")
PREDICTORS = (LIKELY, EVEN, *NAIVE)

MEASURES = ("context", "offset", "hit", "transfer_hit", "size_exact", "gap_ns", "file")
_DECADES, _PER_DECADE = 9, 50
_BINS = 2 * _DECADES * _PER_DECADE + 2

_MOVES = np.array([OPERATIONS.index(kind) for kind in TRANSFERS], np.uint8)

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Accuracy:
    """Of one predictor; means over calls, shares from 0 to 1. None: nothing to score, or it says nothing of it."""

    context: float | None
    """The call site was forecast."""
    offset: float | None
    """Of reads and writes: file and offset were (table 7.6)."""
    hit: float | None
    """H(S|S0) of equation 7.3, of all calls but transfers whose place is not known; 1 where neither forecast nor call
    transfers anything (table 7.7)."""
    transfer_hit: float | None
    """The same of reads and writes only."""
    size_exact: float | None
    """Of reads and writes: the size was forecast to the byte."""
    size_error: float | None
    """Median of equation 7.2, the error as a share of the observed size, to two digits; expecting no transfer is 1."""
    file: float | None
    """The most probable forecast named the right file, by its path where it was new. Naive ones expect no new files."""
    gap_difference_s: float | None
    """Between observed and expected interarrival time, without its sign (table 7.8)."""


class Values:
    """What the predictors scored in one piece of a stream: [predictor, measure, call], 0 where there is nothing."""

    def __init__(self, calls: Columns, scores: Columns) -> None:
        transfers = np.isin(calls["operation"], _MOVES)
        moves = transfers & (calls["offset"] >= 0)
        sized = moves & (calls["bytes"] > 0)
        observed = scores["gap_observed_ns"]
        every = np.ones(len(observed), bool)
        known = ~np.isnan(observed)
        placed = ~transfers | moves
        self.counted = np.array([every, moves, placed, sized, sized, known, every])
        self.sums: Array = np.zeros((len(PREDICTORS), len(MEASURES), len(observed)))
        self.bins = np.full((len(PREDICTORS), len(observed)), -1, np.int32)
        for row, name in enumerate(PREDICTORS):
            prefix, suffix = ("" if name in (LIKELY, EVEN) else f"{name}."), ("_even" if name == EVEN else "")
            # Who expects nothing, expects no bytes.
            error = np.nan_to_num(scores[f"{prefix}size_error{suffix}"].astype(np.float64), nan=1.0)
            gap = np.abs(scores[f"{prefix}gap_expected_ns"] - observed)
            hit = scores[f"{prefix}hit{suffix}"]
            file = scores["file"] if name in (LIKELY, EVEN) else every
            of = (
                scores[f"{prefix}context{suffix}"],
                scores[f"{prefix}offset{suffix}"],
                hit,
                hit,
                error == 0,
                gap,
                file,
            )
            for at, values in enumerate(of):
                self.sums[row, at] = np.where(self.counted[at], np.nan_to_num(values), 0)
            self.bins[row] = np.where(sized, _bins(error), -1)


class Tally:
    """Sums over calls, from which accuracies follow."""

    def __init__(self) -> None:
        self.calls = 0
        self._sums: Array = np.zeros((len(PREDICTORS), len(MEASURES)))
        self._counts = np.zeros(len(MEASURES), np.int64)
        self._errors = np.zeros((len(PREDICTORS), _BINS), np.int64)

    def add(self, values: Values, begin: int, end: int) -> None:
        """The calls from `begin` to `end` of a piece."""
        self.calls += end - begin
        self._sums += values.sums[:, :, begin:end].sum(axis=2)
        self._counts += values.counted[:, begin:end].sum(axis=1)
        for row in range(len(PREDICTORS)):
            # Bin -1, of calls without a size, is counted apart and dropped.
            self._errors[row] += np.bincount(values.bins[row, begin:end] + 1, minlength=_BINS + 1)[1:]

    def copy(self) -> "Tally":
        """As it is now."""
        return self.less(Tally())

    def less(self, before: "Tally") -> "Tally":
        """What came since `before`, which was a copy of this one."""
        rest = Tally()
        rest.calls = self.calls - before.calls
        rest._sums = self._sums - before._sums
        rest._counts = self._counts - before._counts
        rest._errors = self._errors - before._errors
        return rest

    def accuracies(self) -> dict[str, Accuracy]:
        """By the names of PREDICTORS."""
        return {name: self._accuracy(row, name) for row, name in enumerate(PREDICTORS)}

    def _accuracy(self, row: int, name: str) -> Accuracy:
        means = {
            measure: float(self._sums[row, at] / self._counts[at]) if self._counts[at] else None
            for at, measure in enumerate(MEASURES)
        }
        gap = means.pop("gap_ns")
        if name == "contiguous":  # says where, not which call
            means["context"] = None
        if name in NAIVE:
            means["file"] = None
        return Accuracy(
            **means, size_error=_median(self._errors[row]), gap_difference_s=None if gap is None else gap / 1e9
        )


def _bins(errors: Array) -> npt.NDArray[np.int32]:
    """0: none; the others by the logarithm of the error, 5 % wide."""
    with np.errstate(divide="ignore"):
        logs = np.floor((np.log10(errors) + _DECADES) * _PER_DECADE) + 1
    return np.where(errors == 0, 0, np.clip(logs, 1, _BINS - 1)).astype(np.int32)


def _median(counts: npt.NDArray[np.int64]) -> float | None:
    total = int(counts.sum())
    if not total:
        return None
    at = int(np.searchsorted(np.cumsum(counts), (total + 1) // 2))
    return 0.0 if at == 0 else float(10 ** ((at - 0.5) / _PER_DECADE - _DECADES))
