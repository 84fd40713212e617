"""Logs of ranks as pictures: their load, and their bandwidth beside that of a shared file (Wright 2014, figure 6.6)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from halcyon.figures.axes import label_rate
from halcyon.figures.picture import INK, MUTED, SERIES, WIDTH_IN
from halcyon.models.logs_compared import LogsCompared
from halcyon.models.stripes import Load, Logs, load_table
from halcyon.quantities import plural

_POINTS = 200
"""Of a curve."""


def draw_logs(told: Logs) -> Figure:
    """Targets in use, and load; measured ones as points."""
    figure = Figure(figsize=(WIDTH_IN, 3.9), layout="constrained")
    use, load = figure.subplots(1, 2)
    figure.suptitle(_title(told), x=0.01, ha="left")
    ranks = [row.jobs for row in told.rows]
    use.axhline(told.total, color=MUTED, linewidth=0.9, linestyle=(0, (4, 3)))
    use.annotate("all targets", (ranks[0], told.total), (2, 3), textcoords="offset points", fontsize=8.5)
    curve = _curve(told, ranks)
    use.plot([row.jobs for row in curve], [row.in_use for row in curve], color=SERIES[0], label="expected")
    load.plot([row.jobs for row in curve], [row.load for row in curve], color=SERIES[0], label="expected")
    measured = [one.expected.jobs for one in told.compared]
    for axes, values in (
        (use, [one.measured_in_use for one in told.compared]), (load, [one.measured_load for one in told.compared]),
    ):  # fmt: skip
        if values:
            axes.plot(measured, values, "o", color=SERIES[1], markersize=4, alpha=0.7, label="measured")
            axes.legend(loc="upper left", bbox_to_anchor=(0, 0.93), fontsize=8.5)
    use.set_ylabel("targets in use")
    use.set_ylim(0, told.total * 1.1)
    _load_axis(load, told)
    for axes in (use, load):
        _ranks(axes, ranks)
    return figure


def draw_logs_compared(told: LogsCompared) -> Figure:
    """Bandwidths above, the expected load below."""
    figure = Figure(figsize=(WIDTH_IN * 0.75, 5.6), layout="constrained")
    rates, load = figure.subplots(2, 1, sharex=True, height_ratios=(1.4, 1))
    figure.suptitle(_title(told), x=0.01, ha="left")
    ranks = [row.expected.jobs for row in told.rows]
    shared = [row.measured.shared_bytes_per_s for row in told.rows]
    logs = [row.measured.logs_bytes_per_s for row in told.rows]
    rates.plot(ranks, logs, "o-", color=SERIES[0], markersize=4, label="a log per rank")
    rates.plot(ranks, shared, "s-", color=SERIES[1], markersize=4, label="shared file")
    label_rate(rates.yaxis, [*shared, *logs], "write bandwidth")
    rates.set_ylim(bottom=0)
    rates.legend(loc="upper left", fontsize=8.5)
    curve = _curve(told, ranks)
    load.plot([row.jobs for row in curve], [row.load for row in curve], color=SERIES[0])
    _load_axis(load, told)
    for axes in (rates, load):
        if told.last_win is not None and told.first_loss is not None:
            axes.axvspan(
                told.last_win.expected.jobs, told.first_loss.expected.jobs, color=MUTED, alpha=0.15, linewidth=0
            )
        _ranks(axes, ranks)
    rates.set_xlabel("")
    return figure


def _title(told: Logs | LogsCompared) -> str:
    stripes, targets = plural(told.stripes, "stripe"), plural(told.total, "storage target")
    return f"A file of {stripes} per rank, on {targets}"


def _curve(told: Logs | LogsCompared, ranks: Sequence[int]) -> list[Load]:
    """Expected, at equal distances on the logarithmic axis."""
    dense = {round(each) for each in np.geomspace(min(ranks), max(ranks), _POINTS)}
    return load_table(told.total, told.stripes, sorted(dense))


def _load_axis(axes: Axes, told: Logs | LogsCompared) -> None:
    """With the ranks that reach the limit."""
    at = load_table(told.total, told.stripes, [told.ranks_at_limit])[0]
    axes.plot([at.jobs], [at.load], "D", color=INK, markersize=5)
    axes.annotate(
        f"load {told.limit:g}: {plural(told.ranks_at_limit, 'rank')}", (at.jobs, at.load), (-8, 8), ha="right",
        textcoords="offset points", fontsize=8.5,
    )  # fmt: skip
    axes.set_ylabel("load")
    axes.set_ylim(bottom=0)


def _ranks(axes: Axes, ranks: Sequence[int]) -> None:
    """Logarithmic, with a tick at each number of ranks."""
    axes.set_xscale("log", base=2)
    every = -(-len(ranks) // 10)
    axes.xaxis.set_major_locator(FixedLocator([float(each) for each in ranks[::every]]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlabel("ranks (logarithmic)")
