"""A measured Δ-graph: interference factors over the delay for each policy (as figures 6.2, 6.10 and 6.12 of Dorier
2014), the sum of factors and the core seconds of both (as figure 6.14), and the best policy of each delay."""

from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from halcyon.delta.estimate import Estimate
from halcyon.delta.graph import Graph, Measured
from halcyon.figures.axes import label_time
from halcyon.figures.picture import INK, MUTED, SERIES, WIDTH_IN
from halcyon.figures.picture_file import save_picture
from halcyon.models.interference import Point, delta_graph
from halcyon.quantities import seconds

_A, _B = SERIES[1], SERIES[0]
_COLOURS = {
    "none": SERIES[5], "interfere": SERIES[3], "fcfs": SERIES[2], "interrupt": SERIES[4], "dynamic": SERIES[7],
    "delay": SERIES[6], "fair-share": SERIES[0], "set-10": SERIES[1],
}  # fmt: skip
_MARKS = {"none": "o", "interfere": "s", "fcfs": "^", "interrupt": "v", "dynamic": "D", "delay": "P",
          "fair-share": "X", "set-10": "*"}  # fmt: skip
_TITLES = {"none": "uncoordinated"}
_COLUMNS = 3
_DENSE = 400
"""Delays of the expected curves."""


def draw_graph(graph: Graph, path: Path) -> None:
    """HalcyonSystemError: the file cannot be written."""
    save_picture(lambda: _figure(graph), path)


def _figure(graph: Graph) -> Figure:
    names = graph.policies
    columns = min(len(names), _COLUMNS)
    rows = -(-len(names) // columns)
    several = len(names) > 1
    heights = [1.15] * rows + ([1.0, 0.16 + 0.09 * len(names)] if several else [])
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
        _costs(figure, grid, rows, columns, graph)
        _best(figure.add_subplot(grid[rows + 1, :], sharex=first), graph)
    figure.suptitle(
        f"Δ-graph: A {seconds(graph.a_alone.mean)} in I/O alone, B {seconds(graph.b_alone.mean)}", x=0.01, ha="left",
        fontsize=10.5,
    )  # fmt: skip
    return figure


def _factors(axes: Axes, graph: Graph, name: str) -> None:
    expected = graph.expected_of(name)
    if expected is not None:
        curve = _dense(graph)[expected]
        for colour, values in ((_A, [one.a_factor for one in curve]), (_B, [one.b_factor for one in curve])):
            axes.plot([one.delta_s for one in curve], values, color=colour, linewidth=1.1, linestyle=(0, (4, 2)))
    for colour, mark, what in ((_A, "o", "a_factor"), (_B, "s", "b_factor")):
        _with_intervals(axes, graph.of(name), lambda one, of=what: getattr(one, of), colour, mark)  # type: ignore[misc]
    axes.axhline(1, color=MUTED, linewidth=0.8, linestyle=(0, (1, 2)))
    axes.axvline(0, color=MUTED, linewidth=0.7)
    axes.set_title(_TITLES.get(name, name))
    axes.set_ylabel("interference factor")
    label_time(axes.xaxis, _reach(graph), "B's start after A's")


def _with_intervals(
    axes: Axes, points: Sequence[Measured], of: Callable[[Measured], Estimate], colour: str, mark: str, label: str = ""
) -> None:
    """Points that are not known as well as wanted are hollow."""
    estimates = [of(one) for one in points]
    delays = [one.dt_s for one in points]
    axes.errorbar(
        delays, [one.mean for one in estimates], yerr=[one.half or 0.0 for one in estimates], color=colour,
        linewidth=1.2, elinewidth=1.0, capsize=2.5, label=label or None,
    )  # fmt: skip
    for point, estimate in zip(points, estimates, strict=True):
        axes.plot(
            [point.dt_s], [estimate.mean], marker=mark, markersize=5, color=colour,
            markerfacecolor=colour if point.met else "white", linestyle="none",
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
    axes.legend(handles=handles, loc="upper right", fontsize=8.5, ncols=3, handlelength=1.8)


def _costs(figure: Figure, grid: GridSpec, row: int, columns: int, graph: Graph) -> None:
    parts = (
        (grid[row, :columns], "factors", "sum of interference factors"),
        (grid[row, columns:], "core_seconds", "core seconds of both in I/O"),
    )
    for place, what, title in parts:
        axes = figure.add_subplot(place)
        for name in graph.policies:
            label = _TITLES.get(name, name)
            _with_intervals(
                axes, graph.of(name), lambda one, of=what: getattr(one, of), _COLOURS[name], _MARKS[name], label  # type: ignore[misc]
            )  # fmt: skip
        highest = max(getattr(one, what).high for one in graph.points)
        axes.set_ylim(0, highest * 1.3)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.12g}"))
        axes.axvline(0, color=MUTED, linewidth=0.7)
        axes.set_title(title)
        axes.legend(loc="upper right", fontsize=8.5, ncols=min(len(graph.policies), 4), handlelength=1.8)
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
                axes.plot([at], [i], marker="o", markersize=6, color=_COLOURS[name], linestyle="none")
            if name in one.factors:
                axes.plot(
                    [at], [i], marker="o", markersize=11, markerfacecolor="none", color=_COLOURS[name],
                    linestyle="none", markeredgewidth=1.4,
                )  # fmt: skip
    axes.set_yticks(range(len(names)), [_TITLES.get(name, name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.xaxis.set_major_locator(MaxNLocator(9))
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
