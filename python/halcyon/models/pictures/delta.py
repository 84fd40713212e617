"""An expected Δ-graph: times over the delay for each policy as in figures 6.2 and 6.10 of Dorier 2014, and core
seconds as in figure 6.14."""

import math
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from halcyon.figures.axes import label_time
from halcyon.figures.picture import INK, MUTED, SERIES, WIDTH_IN
from halcyon.figures.picture_file import save_picture
from halcyon.models.interference import DeltaGraph, Phase, Point, delta_graph, deltas
from halcyon.quantities import percent, plural, seconds

_POINTS = 400
_TITLES = {
    "interfere": "interfere: both share the bandwidth",
    "fcfs": "fcfs: the second waits for the first",
    "interrupt": "interrupt: the first stops for the second",
}
_COLOURS = dict(zip(_TITLES, (SERIES[3], SERIES[2], SERIES[4]), strict=True))
_STYLES = dict(zip(_TITLES, ("-", (0, (6, 2)), (0, (2, 1.5))), strict=True))


def draw_delta(graph: DeltaGraph, path: Path) -> None:
    """Over all delays, whichever of them the graph has. HalcyonSystemError: the file cannot be written."""
    a, b = graph.a, graph.b
    whole = delta_graph(a, b, sorted({*deltas(a, b, _POINTS), *_jumps(a, b)}))
    save_picture(lambda: _figure(whole), path)


def _jumps(a: Phase, b: Phase) -> list[float]:
    """Both sides of the delays at which who is first changes, or at which the phases no longer overlap."""
    jumps = (-b.alone_s, 0.0, a.alone_s)
    return [near for at in jumps for near in (math.nextafter(at, -math.inf), at, math.nextafter(at, math.inf))]


def _figure(graph: DeltaGraph) -> Figure:
    figure = Figure(figsize=(WIDTH_IN, 6.0), layout="constrained")
    grid = figure.add_gridspec(2, 3, height_ratios=(1.15, 1))
    first = figure.add_subplot(grid[0, 0])
    panels = [first, *(figure.add_subplot(grid[0, i], sharex=first, sharey=first) for i in (1, 2))]
    for (name, curve), axes in zip(graph.curves.items(), panels, strict=True):
        _times(axes, graph, curve)
        axes.set_title(_TITLES[name])
    times = [value for curve in graph.curves.values() for one in curve for value in (one.a_s, one.b_s)]
    first.set_ylim(0, max(times) * 1.2)
    label_time(first.yaxis, times, "time in I/O")
    first.legend(loc="upper right", fontsize=8.5, ncols=2, handlelength=1.6)
    _costs(figure.add_subplot(grid[1, :]), graph)
    figure.suptitle(f"Expected Δ-graph: A {_phase(graph.a)}; B {_phase(graph.b)}", x=0.01, ha="left", fontsize=10.5)
    return figure


def _phase(phase: Phase) -> str:
    told = f"{seconds(phase.alone_s)} alone on {plural(int(phase.cores), 'core')}"
    return told if phase.demand == 1 else f"{told} with {percent(phase.demand)} of the bandwidth"


def _times(axes: Axes, graph: DeltaGraph, curve: Sequence[Point]) -> None:
    delays = [one.delta_s for one in curve]
    for label, colour, values, alone_s in (
        ("A", SERIES[1], [one.a_s for one in curve], graph.a.alone_s),
        ("B", SERIES[0], [one.b_s for one in curve], graph.b.alone_s),
    ):
        axes.axhline(alone_s, color=colour, linewidth=0.8, linestyle=(0, (1, 2)))
        axes.plot(delays, values, color=colour, label=label, linewidth=1.6)
    axes.axvline(0, color=MUTED, linewidth=0.7)
    axes.set_xlim(delays[0], delays[-1])
    label_time(axes.xaxis, [graph.a.alone_s, graph.b.alone_s], "delay of B after A")


def _costs(axes: Axes, graph: DeltaGraph) -> None:
    highest = 0.0
    for name, curve in graph.curves.items():
        values = [one.core_seconds for one in curve]
        highest = max(highest, *values)
        axes.plot(
            [one.delta_s for one in curve], values, color=_COLOURS[name], linestyle=_STYLES[name], label=name,
            linewidth=1.6,
        )  # fmt: skip
    axes.axvline(0, color=MUTED, linewidth=0.7)
    for at_s, text in (
        (graph.b_interrupts_before_s, "B interrupts A up to here"),
        (-graph.a_interrupts_before_s, "A interrupts B from here on"),
    ):
        if at_s:
            axes.axvline(at_s, color=INK, linewidth=1, linestyle=(0, (4, 3)))
            axes.annotate(
                f"{text} ({seconds(abs(at_s))})", (at_s, 0), xycoords=("data", "axes fraction"),
                xytext=(4, 5), textcoords="offset points", fontsize=8.5,
            )  # fmt: skip
    axes.set_xlim(graph.curves["fcfs"][0].delta_s, graph.curves["fcfs"][-1].delta_s)
    axes.set_ylim(0, highest * 1.22)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.12g}"))
    axes.set_ylabel("core seconds in I/O")
    axes.set_title("cost of both together")
    axes.legend(loc="upper right", fontsize=8.5, ncols=3, handlelength=2.4)
    label_time(axes.xaxis, [graph.a.alone_s, graph.b.alone_s], "delay of B after A")
