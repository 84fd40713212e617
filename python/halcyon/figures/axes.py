"""Axes with units, and the arrangement of several panels."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from halcyon.figures.picture import WIDTH_IN
from halcyon.quantities import Unit, byte_unit, rate, seconds, time_unit

LOG_FROM = 30.0  # an axis over values further apart than this is logarithmic
MANY = 60  # more bars than this become one filled curve


def label_time(axis: Axis, values_s: Sequence[float], label: str) -> None:
    """A linear axis from 0 over data in seconds, labelled in the unit that suits the values."""
    _label(axis, time_unit(values_s), label)


def label_rate(axis: Axis, values: Sequence[float], label: str) -> None:
    """A linear axis from 0 over data in bytes per second."""
    unit = byte_unit(values)
    _label(axis, Unit(f"{unit.name}/s", unit.size), label)


def scale_time(axes: Axes, values_s: Sequence[float], label: str) -> None:
    """The x axis for these times: logarithmic when they are far apart and none is 0."""
    if not _set_log(axes, values_s):
        label_time(axes.xaxis, values_s, label)
        return
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(seconds(value))))
    axes.set_xlabel(f"{label} (logarithmic)")


def scale_rate(axes: Axes, values: Sequence[float], label: str) -> None:
    """The x axis for these rates: logarithmic when they are far apart."""
    if not _set_log(axes, values):
        label_rate(axes.xaxis, values, label)
        return
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(rate(value))))
    axes.set_xlabel(f"{label} (logarithmic)")


def whole_numbers(axis: Axis) -> None:
    """Ticks at whole numbers, as for iterations and ranks."""
    axis.set_major_locator(MaxNLocator(integer=True, nbins=10, min_n_ticks=1))


def _label(axis: Axis, unit: Unit, label: str) -> None:
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / unit.size:.6g}"))
    axis.set_label_text(f"{label} ({unit.name})")


def _set_log(axes: Axes, values: Sequence[float]) -> bool:
    low, high = min(values, default=0.0), max(values, default=0.0)
    if low <= 0 or high / low < LOG_FROM:
        axes.set_xlim(0, high * 1.04 or 1.0)
        return False
    axes.set_xscale("log")
    axes.set_xlim(low / 1.5, high * 1.5)
    decades = math.ceil(math.log10(high / low))
    axes.xaxis.set_major_locator(LogLocator(base=10, numticks=8, subs=(1.0,) if decades > 2 else (1.0, 3.0)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    return True


def short(text: str) -> str:
    """`1.00 ms` → `1 ms`, for ticks."""
    value, _, unit = text.partition(" ")
    return f"{float(value.replace(',', '')):g} {unit}"


def panels(count: int, height_in: float) -> tuple[Figure, list[Axes]]:
    """`count` panels with common axes, up to three beside one another."""
    columns = 2 if count == 4 else min(count, 3)
    rows = -(-count // columns)
    height = height_in * (1.25 if count == 1 else rows) + 0.5
    figure = Figure(figsize=(WIDTH_IN, height), layout="constrained")
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    flat = [grid[i // columns][i % columns] for i in range(rows * columns)]
    for unused in flat[count:]:
        unused.set_visible(False)
    for above in flat[max(0, count - columns) : count]:
        above.tick_params(labelbottom=True)
    return figure, flat[:count]


def rows(count: int, per_row_in: float = 0.42) -> tuple[Figure, Axes]:
    """One panel with `count` horizontal rows, the first on top."""
    figure = Figure(figsize=(WIDTH_IN, 1.0 + per_row_in * count), layout="constrained")
    axes = figure.subplots()
    axes.set_ylim(count - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return figure, axes


def legend_above(figure: Figure, source: Axes, columns: int = 6) -> None:
    """One legend for all panels, outside of the data."""
    handles, names = source.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper left", ncols=columns, fontsize=9.5, handlelength=1.4)
