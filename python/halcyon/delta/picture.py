"""A measured Δ-graph: interference factors over the delay for each policy (as figures 6.2, 6.10 and 6.12 of Dorier
2014), the sum of factors and the core seconds of both (as figure 6.14), and the best policy of each delay."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from halcyon.delta.estimate import Estimate
from halcyon.delta.graph import Graph, Measured
from halcyon.delta.printed import delay
from halcyon.delta.turns import policies
from halcyon.figures.axes import label_time
from halcyon.figures.picture import INK, MUTED, SERIES, WIDTH_IN
from halcyon.figures.picture_file import save_picture
from halcyon.models.interference import Point, delta_graph
from halcyon.quantities import seconds

_A, _B = SERIES[1], SERIES[0]


@dataclass(frozen=True)
class Look:
    colour: str
    mark: str
    line: Any = "-"
    """As matplotlib says it: a name, or lengths."""


_LOOKS = (
    Look(SERIES[5], "o"),
    Look(SERIES[3], "s", (0, (5, 1))),
    Look(SERIES[2], "^"),
    Look(SERIES[4], "v"),
    Look(SERIES[6], "P", (0, (6, 2, 1, 2))),
    Look(SERIES[0], "X", (0, (1, 1))),
    Look(SERIES[1], "*", (0, (1, 2))),
    Look(SERIES[7], "D", (0, (3, 3))),
)
"""Of policies, in their order."""
_TITLES = {"none": "uncoordinated"}
_COLUMNS = 3
_KEY_HEIGHT = 0.1
_OVER_LINES: dict[str, Any] = {"frameon": True, "framealpha": 0.9, "edgecolor": "none"}
"""Of legends, so that they can be read where lines are under them."""
_DENSE = 400
"""Delays of the expected curves."""


def look_of(policy: str) -> Look:
    """How its points and lines are drawn."""
    return _LOOKS[policies().index(policy) % len(_LOOKS)]


def draw_graph(graph: Graph, path: Path) -> None:
    """HalcyonSystemError: the file cannot be written."""
    save_picture(lambda: drawn(graph), path)


def drawn(graph: Graph) -> Figure:
    """The picture, not yet in a file."""
    names = graph.policies
    columns = 2 if len(names) == 4 else min(len(names), _COLUMNS)
    rows = -(-len(names) // columns)
    several = len(names) > 1
    heights = [1.15] * rows + ([_KEY_HEIGHT, 1.0, 0.16 + 0.09 * len(names)] if several else [])
    figure = Figure(figsize=(WIDTH_IN if several else 0.62 * WIDTH_IN, 0.4 + 2.6 * sum(heights)), layout="constrained")
    grid = figure.add_gridspec(len(heights), 2 * columns, height_ratios=heights)
    first: Axes | None = None
    for i, name in enumerate(names):
        place = grid[i // columns, 2 * (i % columns) : 2 * (i % columns) + 2]
        axes = figure.add_subplot(place, sharex=first, sharey=first)
        first = first or axes
        _factors(axes, graph, name)
    assert first is not None
    _limits(first, graph)
    _legend(first)
    if several:
        _policies(figure.add_subplot(grid[rows, :]), graph)
        _costs(figure, grid, rows + 1, columns, graph)
        best = figure.add_subplot(grid[rows + 2, :])
        best.set_xlim(first.get_xlim())
        _best(best, graph)
    first.xaxis.set_major_locator(_ticks(9 if columns == 1 else 14 // columns))
    figure.suptitle(_title(graph), x=0.01, ha="left", fontsize=10.5)
    return figure


def _title(graph: Graph) -> str:
    """In a second line, points that are not there."""
    said = f"Δ-graph: A {seconds(graph.a_alone.mean)} in I/O alone, B {seconds(graph.b_alone.mean)}"
    lacking: dict[str, list[str]] = {}
    for one in graph.unmeasured:
        lacking.setdefault(one.policy, []).append(delay(one.dt_ns))
    where = "; ".join(f"{_TITLES.get(name, name)} at {', '.join(delays)}" for name, delays in lacking.items())
    return fill(f"{said}\nno run counts: {where}", 130, replace_whitespace=False) if where else said


def _ticks(most: int) -> MaxNLocator:
    return MaxNLocator(most, steps=[1, 2, 5, 10])


def _factors(axes: Axes, graph: Graph, name: str) -> None:
    expected = graph.expected_of(name)
    if expected is not None:
        curve = _dense(graph)[expected]
        for colour, values in ((_A, [one.a_factor for one in curve]), (_B, [one.b_factor for one in curve])):
            axes.plot([one.delta_s for one in curve], values, color=colour, linewidth=1.1, linestyle=(0, (4, 2)))
    points = graph.of(name)
    _with_intervals(axes, points, [one.a_factor for one in points], Look(_A, "o"))
    _with_intervals(axes, points, [one.b_factor for one in points], Look(_B, "s"))
    axes.axhline(1, color=MUTED, linewidth=0.8, linestyle=(0, (1, 2)))
    axes.axvline(0, color=MUTED, linewidth=0.7)
    axes.set_title(_TITLES.get(name, name))
    axes.set_ylabel("interference factor")
    label_time(axes.xaxis, _reach(graph), "B's start after A's")


def _with_intervals(axes: Axes, points: Sequence[Measured], values: Sequence[Estimate], look: Look) -> None:
    """Points that are not known as well as wanted are hollow."""
    axes.plot(
        [one.dt_s for one in points], [one.mean for one in values], color=look.colour, linestyle=look.line,
        linewidth=1.2,
    )  # fmt: skip
    for point, value in zip(points, values, strict=True):
        axes.errorbar(
            [point.dt_s], [value.mean], yerr=value.half, color=look.colour, elinewidth=1.0, capsize=2.5,
            marker=look.mark, markersize=5, markerfacecolor=look.colour if point.met else "white", linestyle="none",
        )  # fmt: skip


def _limits(axes: Axes, graph: Graph) -> None:
    delays = [one.dt_s for one in graph.points]
    room = 0.05 * ((max(delays) - min(delays)) or 1.0)
    axes.set_xlim(min(delays) - room, max(delays) + room)
    curves = [one for name in graph.policies if (of := graph.expected_of(name)) for one in _dense(graph)[of]]
    highest = max(
        *(one.high for point in graph.points for one in (point.a_factor, point.b_factor)),
        *(value for one in curves for value in (one.a_factor, one.b_factor)), 1.0,
    )  # fmt: skip
    axes.set_ylim(0, highest * 1.25)


def _legend(axes: Axes) -> None:
    handles = [
        Line2D([], [], color=_A, marker="o", markersize=5, label="A"),
        Line2D([], [], color=_B, marker="s", markersize=5, label="B"),
        Line2D([], [], color=INK, linewidth=1.1, linestyle=(0, (4, 2)), label="expected"),
    ]
    axes.legend(handles=handles, loc="upper right", fontsize=8.5, ncols=3, handlelength=1.8, **_OVER_LINES)


def _policies(axes: Axes, graph: Graph) -> None:
    """Their looks in the panels of sums, in a place without lines."""
    axes.axis("off")
    handles = [
        Line2D([], [], color=look.colour, marker=look.mark, markersize=5, linestyle=look.line,
               label=_TITLES.get(name, name))
        for name in graph.policies for look in [look_of(name)]
    ]  # fmt: skip
    axes.legend(handles=handles, loc="center", fontsize=9, ncols=len(handles), handlelength=2.4, frameon=False)


def _costs(figure: Figure, grid: GridSpec, row: int, columns: int, graph: Graph) -> None:
    parts = (
        (grid[row, :columns], "factors", "sum of interference factors"),
        (grid[row, columns:], "core_seconds", "core seconds of both in I/O"),
    )
    for place, what, title in parts:
        axes = figure.add_subplot(place)
        for name in graph.policies:
            points = graph.of(name)
            _with_intervals(axes, points, [getattr(one, what) for one in points], look_of(name))
        highest = max(getattr(one, what).high for one in graph.points)
        axes.set_ylim(0, highest * 1.08)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.12g}"))
        axes.axvline(0, color=MUTED, linewidth=0.7)
        axes.set_title(title)
        label_time(axes.xaxis, _reach(graph), "B's start after A's")


def _best(axes: Axes, graph: Graph) -> None:
    """A mark for each policy that is best at a delay: filled by the core seconds, a ring by the sum of factors."""
    names = graph.policies
    where = {(one.policy, one.dt_ns): one.dt_s for one in graph.points}
    for one in graph.best:
        for i, name in enumerate(names):
            at = where.get((name, one.dt_ns))
            if at is None:
                continue
            if name in one.core_seconds:
                axes.plot([at], [i], marker="o", markersize=6, color=look_of(name).colour, linestyle="none")
            if name in one.factors:
                axes.plot(
                    [at], [i], marker="o", markersize=11, markerfacecolor="none", color=look_of(name).colour,
                    linestyle="none", markeredgewidth=1.4,
                )  # fmt: skip
    axes.set_yticks(range(len(names)), [_TITLES.get(name, name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.xaxis.set_major_locator(_ticks(13))
    axes.set_title("best policy: filled by core seconds, rings by the sum of factors; several where intervals meet")
    label_time(axes.xaxis, _reach(graph), "B's start after A's")


def _dense(graph: Graph) -> dict[str, list[Point]]:
    delays = [one.dt_s for one in graph.points]
    low, high = min(delays), max(delays)
    room = 0.05 * ((high - low) or 1.0)
    steps = [low - room + (high - low + 2 * room) * i / (_DENSE - 1) for i in range(_DENSE)]
    return delta_graph(graph.expected.a, graph.expected.b, steps).curves


def _reach(graph: Graph) -> list[float]:
    return [abs(one.dt_s) for one in graph.points]
