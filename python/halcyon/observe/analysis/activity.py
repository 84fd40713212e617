"""Bytes moved over time, by all processes together."""

from dataclasses import dataclass
from typing import Annotated

import ibis
import numpy as np
import numpy.typing as npt
from ibis import _

from halcyon.database import Given, question
from halcyon.observe.analysis.survey import Survey
from halcyon.observe.result_columns import Column


@dataclass(frozen=True)
class ActivitySeries:
    """`bytes[i]`: moved in step i of `Activity.bin_s` seconds, from second 0."""

    kind: Annotated[str, Column("read or write")]
    bytes: Annotated[list[float], Column("bytes moved in each step; a transfer counts when it began")]


@dataclass(frozen=True)
class Activity:
    """`counted`: from what the source counted per interval (Darshan's heat map), because it holds no calls with times.

    From calls: a transfer counts when it began. `module`: whose counts; None for calls.
    """

    bin_s: Annotated[float, Column("width of a step; the first begins at second 0")]
    counted: Annotated[
        bool,
        Column("taken from what the source counted in each interval (Darshan's heat map): it has no calls with times"),
    ]
    module: Annotated[str | None, Column("the source's name for where it counted; null: taken from calls")]
    series: Annotated[list[ActivitySeries], Column("reads, and writes")]


def activity(survey: Survey) -> Activity:
    """Read and write, in settings.activity_bins steps of the run."""
    width = survey.activity_step_ns
    found = _moved(survey.moments, Given(width)).to_pyarrow().to_pylist()
    if not found:
        return _counted(survey)
    bins = survey.end_ns // width + 1
    series: dict[str, npt.NDArray[np.float64]] = {}
    for row in found:
        series.setdefault(row["direction"], np.zeros(bins))[row["bin"]] += row["volume"]
    return Activity(width / 1e9, False, None, [ActivitySeries(kind, series[kind].tolist()) for kind in sorted(series)])


@question
def _moved(moments: ibis.Table, width: ibis.Value) -> ibis.Table:
    return moments.filter(_.transfer).aggregate(
        by=["direction", (_.begin_ns // width).name("bin")], volume=_.volume.sum().cast("int64")
    )


_LOWEST = ("POSIX", "STDIO", "MPIIO", "MPI-IO")
"""Of several modules that counted the same bytes, the one nearest to the file system is shown."""


def _counted(survey: Survey) -> Activity:
    """Each interval's bytes are dealt out evenly over the steps that it covers."""
    rows = survey.dataset.activity.to_pyarrow().to_pylist()
    modules = {row["module"] for row in rows}
    module = next((name for name in _LOWEST if any(name in one for one in modules)), None)
    own = [row for row in rows if module is not None and module in row["module"]] or rows
    end = max([survey.end_ns, *(row["start_ns"] + row["width_ns"] for row in own)])
    width = max(-(-end // survey.settings.activity_bins), 1)
    series: dict[str, npt.NDArray[np.float64]] = {}
    for row in own:
        bins = series.setdefault(row["kind"], np.zeros(end // width + 1))
        first, last = row["start_ns"], row["start_ns"] + max(row["width_ns"], 1)
        for step in range(first // width, (last - 1) // width + 1):
            inside = min(last, (step + 1) * width) - max(first, step * width)
            bins[step] += row["bytes"] * inside / (last - first)
    return Activity(
        width / 1e9, bool(own), module, [ActivitySeries(kind, series[kind].tolist()) for kind in sorted(series)]
    )
