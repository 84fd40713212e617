"""Pictures of what logs.py measured: bandwidths, and how many transfers were in progress over time."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from logged_patterns import PATTERNS, Key, Run, counted
from matplotlib.figure import Figure

from halcyon.figures.axes import label_rate, label_time, legend_above
from halcyon.figures.picture import SERIES, WIDTH_IN
from halcyon.figures.picture_file import save_picture

CURVES = ("n1", "n1_views", "bt_full", "flash_independent")
"""Patterns whose transfers are drawn over time."""
_COLOURS = {"plain": SERIES[1], "log": SERIES[0]}


def draw_bandwidths(runs: Sequence[Run], path: Path) -> None:
    """Of all ranks together: medians, plain and log, durable and cached."""
    save_picture(lambda: _bars(runs), path)


def draw_in_progress(runs: Sequence[Run], path: Path) -> None:
    """Of the last durable run of each way (Wright 2014, figure 5.1)."""
    save_picture(lambda: _curves(runs), path)


def _bars(runs: Sequence[Run]) -> Figure:
    found = counted(runs)
    figure = Figure(figsize=(WIDTH_IN, 6.4), layout="constrained")
    both = figure.subplots(2, 1, sharex=True)
    names = list(PATTERNS)
    for axes, durable in zip(both, (True, False), strict=True):
        values = []
        for i, way in enumerate(("plain", "log")):
            of_way = [[run.bandwidth for run in found[Key(name, way, durable)].runs] for name in names]
            heights = [median(each) if each else 0.0 for each in of_way]
            axes.bar([k + 0.4 * i for k in range(len(names))], heights, 0.38, color=_COLOURS[way], label=way)
            values += heights
        axes.set_title("durable: synced within the time" if durable else "cached: not synced")
        label_rate(axes.yaxis, values, "all ranks")
    both[-1].set_xticks([k + 0.2 for k in range(len(names))], names, rotation=20)
    legend_above(figure, both[0])
    return figure


def _curves(runs: Sequence[Run]) -> Figure:
    found = counted(runs)
    figure = Figure(figsize=(WIDTH_IN, 5.0), layout="constrained")
    each = list(figure.subplots(2, 2).flat)
    for axes, name in zip(each, CURVES, strict=True):
        longest = []
        for way, colour in _COLOURS.items():
            if not (of_key := found[Key(name, way)].runs):
                continue
            last = of_key[-1]
            width = last.transfers_s / max(len(last.in_progress), 1)
            edges = [i * width for i in range(len(last.in_progress) + 1)]
            axes.stairs(last.in_progress, edges, color=colour, label=way)
            longest.append(last.transfers_s)
        axes.set_title(PATTERNS[name].what)
        axes.set_ylabel("writes in progress")
        label_time(axes.xaxis, longest, "since the first write")
    legend_above(figure, each[-1])
    return figure
