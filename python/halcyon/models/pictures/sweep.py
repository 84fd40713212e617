"""A sweep over stripe count and stripe size as a picture (Wright 2014, figures 6.1 and 6.2)."""

import math
from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from halcyon.figures.axes import label_rate
from halcyon.figures.picture import GRID, INK, SERIES, WIDTH_IN
from halcyon.models.measurements import MeasuredStriping
from halcyon.models.pictures.requests import draw_bandwidth
from halcyon.models.printed.requests import size_of_stripe
from halcyon.models.sweep import Sweep
from halcyon.quantities import byte_unit, number, plural

_MAP = "YlGnBu"


def draw_sweep(told: Sweep) -> Figure:
    """One parameter varied on the left, both on the right; without a size, what to request in its place."""
    varied = told.best_by_size is not None
    figure = Figure(figsize=(WIDTH_IN, 7.0 if varied else 4.0), layout="constrained")
    best = plural(told.best.stripes, "stripe")
    if told.best.stripe_bytes is not None:
        best += f" of {size_of_stripe(told.best.stripe_bytes)}"
    figure.suptitle(f"{best}: {told.speed_up:.1f} × the bandwidth of the start (◆)", x=0.01, ha="left")
    if not varied:
        count, request = figure.subplots(1, 2)
        _line(count, told, "stripes", _same_size(told), lambda one: one.stripes, "{:,}".format)
        draw_bandwidth(request, told.recommendation)
        return figure
    (count, size), (grid, request) = figure.subplots(2, 2, width_ratios=(1.25, 1))
    _line(count, told, "stripes", _same_size(told), lambda one: one.stripes, "{:,}".format)
    same_count = [one for one in told.points if one.stripes == told.start.stripes]
    _line(size, told, "stripe size", same_count, lambda one: one.stripe_bytes or 0, size_of_stripe)
    _grid(figure, grid, told)
    draw_bandwidth(request, told.recommendation)
    return figure


def _same_size(told: Sweep) -> list[MeasuredStriping]:
    return [one for one in told.points if one.stripe_bytes == told.start.stripe_bytes]


def _line(
    axes: Axes,
    told: Sweep,
    name: str,
    points: Sequence[MeasuredStriping],
    value: Callable[[MeasuredStriping], int],
    text: Callable[[int], str],
) -> None:
    """Figure 6.1: one panel; values that were measured stand at equal distances."""
    own = sorted(points, key=value)
    values = [value(one) for one in own]
    rates = [one.bytes_per_s for one in own]
    axes.plot(range(len(own)), rates, "o-", color=SERIES[0], markersize=4)
    axes.plot([values.index(value(told.start))], [told.start.bytes_per_s], "D", color=INK, markersize=6)
    best = max(range(len(own)), key=lambda place: rates[place])
    axes.plot([best], [rates[best]], "s", color=SERIES[1], markersize=6)
    axes.annotate(
        number(rates[best] / byte_unit(rates).size) + f" {byte_unit(rates).name}/s", (best, rates[best]), (0, 7),
        textcoords="offset points", ha="right", va="bottom", fontsize=8.5,
    )  # fmt: skip
    axes.set_xticks(range(len(own)), [text(each).replace(" ", "\n") for each in values], fontsize=8.5)
    axes.set_xlabel(name)
    label_rate(axes.yaxis, [*rates, told.best_by_count.bytes_per_s], "write bandwidth")
    axes.set_ylim(0, told.best_by_count.bytes_per_s * 1.15)
    axes.set_title(f"{name} alone varied")


def _grid(figure: Figure, axes: Axes, told: Sweep) -> None:
    """Figure 6.2: both varied; the best point and the start are framed."""
    counts = sorted({one.stripes for one in told.points})
    sizes = sorted({one.stripe_bytes or 0 for one in told.points})
    cells = {(one.stripes, one.stripe_bytes or 0): one.bytes_per_s for one in told.points}
    unit = byte_unit(cells.values())
    rows = [[cells.get((count, size), math.nan) / unit.size for count in counts] for size in sizes]
    shown = axes.imshow(rows, origin="lower", aspect="auto", cmap=_MAP, vmin=0)
    for (count, size), rate in cells.items():
        colour = "white" if rate > 0.6 * told.best.bytes_per_s else INK
        place = counts.index(count), sizes.index(size)
        axes.text(*place, number(rate / unit.size), ha="center", va="center", fontsize=7.5, color=colour)
    for one, colour in ((told.start, INK), (told.best, SERIES[1])):
        x, y = counts.index(one.stripes) - 0.46, sizes.index(one.stripe_bytes or 0) - 0.46
        axes.plot([x, x + 0.92, x + 0.92, x, x], [y, y, y + 0.92, y + 0.92, y], color=colour, linewidth=1.8)
    axes.set_xticks(range(len(counts)), [f"{count:,}" for count in counts], fontsize=8.5)
    axes.set_yticks(range(len(sizes)), [size_of_stripe(size) for size in sizes], fontsize=8.5)
    axes.set_xlabel("stripes")
    axes.set_ylabel("stripe size")
    axes.set_title(f"both varied: write bandwidth in {unit.name}/s; framed: start and best")
    axes.grid(visible=False)
    figure.colorbar(shown, ax=axes).outline.set_edgecolor(GRID)
