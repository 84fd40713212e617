"""How many calls are in progress at once, over time (Wright 2014, figure 5.1)."""

from dataclasses import dataclass
from typing import Annotated

import ibis
import numpy as np
import numpy.typing as npt
from ibis import _

from halcyon.database import Given, question
from halcyon.observe.analysis.survey import Survey
from halcyon.observe.result_columns import Column, derived


@dataclass(frozen=True)
class ConcurrencySeries:
    """Calls of one level and kind. `mean[i]`: how many were in progress in bin i, on average."""

    level: Annotated[str, Column("the interface: hdf5, mpiio, stdio, posix, log")]
    kind: Annotated[str, Column("the kind of calls: open, read, write, …")]
    mean: Annotated[list[float], Column("for each bin, the mean number of calls in progress")]

    @property
    @derived(Column("the highest mean of a bin"))
    def most(self) -> float:
        """The highest mean of a bin."""
        return max(self.mean, default=0.0)


@dataclass(frozen=True)
class Concurrency:
    """Bins of `bin_s` seconds, from second 0."""

    bin_s: Annotated[float, Column("width of a bin; the first begins at second 0")]
    series: Annotated[list[ConcurrencySeries], Column("one for each level and kind")]


def concurrency(survey: Survey) -> Concurrency:
    """Concurrent calls of each level and kind, in settings.concurrency_bins steps of the run."""
    width = survey.ending_step_ns
    count = survey.end_ns // width + 1
    ended = _ended(survey.endings)
    begun = _begun(survey.moments_with_log, Given(survey.resolution_ns), Given(width))
    sides: dict[tuple[str, str], list[npt.NDArray[np.float64]]] = {}
    for side, rows in enumerate((begun, ended)):
        for row in rows.to_pyarrow().to_pylist():
            known = sides.setdefault((row["level"], row["kind"]), [np.zeros((2, count)), np.zeros((2, count))])
            if 0 <= row["bin"] < count:
                known[side][:, row["bin"]] += (row["calls"], row["late_ns"])
    series = [ConcurrencySeries(*key, _mean(own[0], own[1], width)) for key, own in sorted(sides.items())]
    return Concurrency(width / 1e9, series)


@question
def _ended(endings: ibis.Table) -> ibis.Table:
    return endings.aggregate(by=["level", "kind", "bin"], calls=_.calls.sum(), late_ns=_.late_ns.sum())


@question
def _begun(moments: ibis.Table, resolution_ns: ibis.Value, width: ibis.Value) -> ibis.Table:
    """The same as `endings` of the begins; their finer steps fit the coarse ones."""
    fine = moments.mutate(at=_.bin * resolution_ns).drop("bin")
    return fine.aggregate(
        by=["level", "kind", (_.at // width).name("bin")],
        calls=_.calls.sum(),
        late_ns=(_.late_ns + _.calls * (_.at % width)).sum(),
    )


def _mean(begun: npt.NDArray[np.float64], ended: npt.NDArray[np.float64], width: int) -> list[float]:
    """Calls in progress when a bin begins count whole; those that begin or end within it, for their part of it."""
    change = begun[0] - ended[0]
    before = np.cumsum(change) - change
    within = (begun[0] * width - begun[1]) - (ended[0] * width - ended[1])
    mean: list[float] = np.maximum(before + within / width, 0.0).round(9).tolist()
    return mean
