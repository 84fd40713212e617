"""Figure 6.1 of Dorier 2014 of a workload, and the probabilities of I/O at once over the share of time in I/O."""

from itertools import accumulate
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, PercentFormatter

from halcyon.figures.axes import whole_numbers
from halcyon.figures.picture import MUTED, SERIES, WIDTH_IN
from halcyon.figures.picture_file import save_picture
from halcyon.models.interference import Concurrency, probabilities
from halcyon.quantities import plural

_WIDEST = 0.5
"""Time in I/O, unless more is asked for."""
_STEPS = 100


def draw_concurrency(told: Concurrency, name: str, path: Path) -> None:
    """`name`: of the workload. HalcyonSystemError: the file cannot be written."""
    save_picture(lambda: _figure(told, name), path)


def _figure(told: Concurrency, name: str) -> Figure:
    figure = Figure(figsize=(WIDTH_IN, 3.5), layout="constrained")
    sizes, running, in_io = figure.subplots(1, 3)
    _sizes(sizes, told)
    _running(running, told)
    _in_io(in_io, told)
    for axes in (sizes, in_io):
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
        axes.set_ylim(0, 1.02)
        if axes.lines:
            axes.legend(loc="lower right", fontsize=8.5, handlelength=1.0)
    figure.suptitle(f"{name}: {plural(told.jobs, 'job')}", x=0.01, ha="left", fontsize=10.5)
    return figure


def _sizes(axes: Axes, told: Concurrency) -> None:
    axes.set_title("(a) sizes of jobs")
    axes.set_xlabel("cores, or fewer")
    if not told.sizes:
        axes.text(0.5, 0.5, "no job's number of cores is known", ha="center", transform=axes.transAxes)
        return
    cores = [told.sizes[0].cores, *(one.cores for one in told.sizes), told.sizes[-1].cores * 1.4]
    for colour, label, shares in (
        (SERIES[0], "share of jobs", [one.of_jobs for one in told.sizes]),
        (SERIES[1], "share of job time", [one.of_job_time for one in told.sizes]),
    ):
        axes.step(cores, [0.0, *shares, shares[-1]], where="post", color=colour, label=label, linewidth=1.5)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(LogLocator(base=2, numticks=7))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", labelrotation=30)


def _running(axes: Axes, told: Concurrency) -> None:
    axes.set_title("(b) jobs at once")
    axes.set_xlabel("jobs that run")
    axes.set_ylabel("share of time", color=SERIES[6])
    axes.tick_params(axis="y", labelcolor=SERIES[6])
    places = range(len(told.running))
    axes.bar(places, told.running, width=1.0, color=SERIES[6], linewidth=0)
    sums = axes.twinx()
    sums.step(places, list(accumulate(told.running)), where="post", color=SERIES[4], linewidth=1.5)
    sums.set_ylabel("so many, or fewer", color=SERIES[4])
    sums.tick_params(axis="y", labelcolor=SERIES[4])
    sums.spines["right"].set_visible(True)
    sums.grid(visible=False)
    sums.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
    sums.set_ylim(0, 1.02)
    axes.set_xlim(-0.5, len(told.running) - 0.5)
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=_decimals(max(told.running)), symbol=" %"))
    axes.set_ylim(0, max(told.running) * 1.02)
    whole_numbers(axes.xaxis)


def _decimals(largest: float) -> int:
    return 0 if largest >= 0.05 else 1


def _in_io(axes: Axes, told: Concurrency) -> None:
    axes.set_title("(c) probability of I/O at once")
    axes.set_xlabel("share of its time that a job spends in I/O")
    widest = max(_WIDEST, *(one.io_share for one in told.probabilities))
    curve = probabilities(told.running, told.running, [widest * i / _STEPS for i in range(_STEPS + 1)])
    asked = told.probabilities
    for colour, label, name in (
        (SERIES[2], "two or more are in I/O", "two_or_more"),
        (SERIES[3], "a job that starts finds another", "another"),
    ):
        axes.plot([one.io_share for one in curve], [getattr(one, name) for one in curve], color=colour, label=label)
        axes.plot(
            [one.io_share for one in asked], [getattr(one, name) for one in asked], "o", color=colour, markersize=3.5
        )
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
    axes.set_xlim(0, widest)
    axes.axhline(0, color=MUTED, linewidth=0.7)
