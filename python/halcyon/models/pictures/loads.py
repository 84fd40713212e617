"""Load of storage targets over jobs: a curve per request, and jobs by requests as a map."""

from itertools import groupby

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from halcyon.figures.axes import whole_numbers
from halcyon.figures.picture import GRID, INK, MUTED, SERIES, WIDTH_IN
from halcyon.models.stripes import LoadTable, load_table
from halcyon.quantities import plural

_STEPS = 48
"""Of the map, at most, along each axis."""
_LEVELS = (1.2, 1.5, 2.0, 3.0, 5.0, 8.0)
_MAP = "YlGnBu"


def draw_loads(table: LoadTable) -> Figure:
    """Measured loads are points, in the colour of their request's curve."""
    figure = Figure(figsize=(WIDTH_IN, 4.3), layout="constrained")
    curves, map_ = figure.subplots(1, 2)
    figure.suptitle(f"Load of {plural(table.total, 'storage target')}", x=0.01, ha="left")
    _curves(curves, table)
    _map(figure, map_, table)
    return figure


def _curves(axes: Axes, table: LoadTable) -> None:
    colours: dict[float, str] = {}
    requests = {}
    for place, (request, rows) in enumerate(groupby(table.rows, key=lambda row: row.request)):
        colours[request] = SERIES[place % len(SERIES)]
        requests[request] = list(rows)
    for request, own in sorted(requests.items(), reverse=True):
        jobs = [row.jobs for row in own]
        label = f"{request:g} stripes per job"
        axes.plot(
            jobs, [row.load for row in own], color=colours[request], label=label, marker="." if len(own) == 1 else ""
        )
    for place, one in enumerate(table.compared):
        colour = colours.get(one.expected.request, MUTED)
        axes.plot(
            [one.expected.jobs], [one.measured_load], "o", color=colour, markeredgecolor=INK, markeredgewidth=0.6,
            markersize=6, label="" if place else "measured",
        )  # fmt: skip
    axes.set_xlabel("jobs")
    axes.set_ylabel("load: stripes on a target in use")
    axes.set_title("load over jobs")
    axes.set_ylim(bottom=1)
    whole_numbers(axes.xaxis)
    axes.legend(loc="upper left", fontsize=8.5)


def _map(figure: Figure, axes: Axes, table: LoadTable) -> None:
    most_jobs = max([row.jobs for row in table.rows] + [one.expected.jobs for one in table.compared])
    asked = [row.request for row in table.rows] + [one.expected.request for one in table.compared]
    jobs = _steps(1, max(most_jobs, 2))
    requests = _steps(1, min(table.total, round(max(asked) * 1.25)))
    loads = np.array([[row.load for row in load_table(table.total, request, jobs)] for request in requests])
    shown = axes.pcolormesh(jobs, requests, loads, cmap=_MAP, shading="nearest", vmin=1)
    inside = [level for level in _LEVELS if loads.min() < level < loads.max()]
    if inside and min(loads.shape) > 1:
        lines = axes.contour(jobs, requests, loads, levels=inside, colors=INK, linewidths=0.9)
        axes.clabel(lines, fmt=lambda level: f"{level:g}", fontsize=8)
    for one in table.compared:
        axes.plot(
            [one.expected.jobs], [one.expected.request], "o", color="white", markeredgecolor=INK, markersize=5,
            markeredgewidth=0.8, clip_on=False,
        )  # fmt: skip
    axes.set_xlabel("jobs")
    axes.set_ylabel("stripes per job")
    axes.set_title("load by jobs and request" + ("; dots: measured there" if table.compared else ""))
    axes.grid(visible=False)
    whole_numbers(axes.xaxis)
    figure.colorbar(shown, ax=axes, label="load").outline.set_edgecolor(GRID)


def _steps(first: int, last: int) -> list[int]:
    """Whole numbers, evenly."""
    return sorted({round(value) for value in np.linspace(first, last, min(last - first + 1, _STEPS))})
