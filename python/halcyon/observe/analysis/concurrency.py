"""How many calls are in progress at once, over time (Wright 2014, figure 5.1)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from halcyon.observe.analysis import passes
from halcyon.observe.analysis.survey import Survey


@dataclass(frozen=True)
class ConcurrencySeries:
    """Calls of one level and kind. `mean[i]`: how many were in progress in bin i, on average."""

    level: str
    kind: str
    mean: list[float]

    @property
    def most(self) -> float:
        """The highest mean of a bin."""
        return max(self.mean, default=0.0)


@dataclass(frozen=True)
class Concurrency:
    """Bins of `bin_s` seconds, from second 0."""

    bin_s: float
    series: list[ConcurrencySeries]


def concurrency(survey: Survey, bins: int | None = None) -> Concurrency:
    """Concurrent calls of each level and kind, in `bins` equal steps of the run (default: the setting)."""
    wanted = bins or survey.settings.concurrency_bins
    width = max(-(-survey.end_ns // wanted), 1)
    count = survey.end_ns // width + 1
    rows = survey.keep(passes.edges(survey.dataset.calls, width)).to_pyarrow().to_pylist()
    sides: dict[tuple[str, str], dict[int, npt.NDArray[np.float64]]] = {}
    for row in rows:
        known = sides.setdefault((row["level"], row["kind"]), {1: np.zeros((2, count)), -1: np.zeros((2, count))})
        if 0 <= row["bin"] < count:
            known[row["change"]][:, row["bin"]] += (row["calls"], row["offset_ns"])
    series = [
        ConcurrencySeries(level, kind, _mean(own[1], own[-1], width)) for (level, kind), own in sorted(sides.items())
    ]
    return Concurrency(width / 1e9, series)


def _mean(begun: npt.NDArray[np.float64], ended: npt.NDArray[np.float64], width: int) -> list[float]:
    """Calls in progress when a bin begins count whole; those that begin or end within it, for their part of it."""
    change = begun[0] - ended[0]
    before = np.cumsum(change) - change
    within = (begun[0] * width - begun[1]) - (ended[0] * width - ended[1])
    mean: list[float] = np.maximum(before + within / width, 0.0).round(9).tolist()
    return mean
