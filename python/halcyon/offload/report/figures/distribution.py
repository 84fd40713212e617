"""The distribution over ranks of the time that output blocked them (Dorier 2014, figure 3.5)."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from halcyon.figures.axes import legend_above, scale_time
from halcyon.figures.picture import WIDTH_IN, Absent, Picture, drawing, inline
from halcyon.offload.comparison import Comparison
from halcyon.offload.report.figures.best_and_worst import best_and_worst
from halcyon.offload.report.figures.looks import looks
from halcyon.offload.run_statistics import visible_seconds
from halcyon.quantities import seconds

NAME = "distribution"
POINTS = 1000  # curves of more samples are thinned to so many quantiles


def distribution(comparison: Comparison) -> Picture | Absent:
    """One cumulative curve per run, over all its ranks and phases."""
    samples = [(entry.label, visible_seconds(entry.run)) for entry in comparison.entries]
    drawn = [
        (label, values, look)
        for (label, values), look in zip(samples, looks(comparison), strict=True)
        if len(values) > 0
    ]
    if not drawn:
        return Absent(NAME, "no output phase was recorded")
    title = _title([(label, values) for label, values, _ in drawn])
    with drawing():
        figure = Figure(figsize=(WIDTH_IN, 3.6), layout="constrained")
        axes = figure.subplots()
        everything = [float(value) for _, values, _ in drawn for value in (values[0], values[-1])]
        scale_time(axes, everything, "time that output blocked a rank in a phase")
        right = axes.get_xlim()[1]
        for label, values, look in drawn:
            share = np.arange(1, len(values) + 1) / len(values)
            kept = np.unique(np.linspace(0, len(values) - 1, min(len(values), POINTS)).round().astype(int))
            # From 0 % at the smallest value, and on at 100 % to the edge: a step function, as the samples are.
            x = np.concatenate([[values[0]], values[kept], [right]])
            y = np.concatenate([[0.0], share[kept], [1.0]])
            axes.step(x, y, where="post", color=look.colour, linestyle=look.dash, linewidth=1.8, label=label)
        axes.set_ylim(0, 1.01)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.set_ylabel("share of ranks and phases")
        if len(drawn) > 1:
            legend_above(figure, axes, columns=4)
        caption = (
            "Over all ranks and phases, the share that output blocked no longer than the time on the axis. "
            "Steep is predictable; a long way to 100 % is the tail that everyone waits for."
        )
        return Picture(NAME, title, caption, inline(figure, NAME, title))


def _title(samples: "list[tuple[str, np.ndarray[tuple[int], np.dtype[np.float64]]]]") -> str:
    waits = [(label, (float(values[-1]), float(np.median(values)))) for label, values in samples]
    if len(waits) == 1:
        longest, median = waits[0][1]
        return f"Half of all writes take up to {seconds(median)}, the longest {seconds(longest)}"
    return best_and_worst(
        waits,
        lambda wait: wait[0],
        lambda wait: f"{seconds(wait[0])} (median {seconds(wait[1])})",
        "The longest wait is {}",
    )
