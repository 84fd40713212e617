"""Where the time of an iteration goes, as the simulation sees it: computing, and blocked by output."""

import numpy as np
from matplotlib.axes import Axes

from halcyon.figures.axes import MANY, label_time, legend_above, panels, whole_numbers
from halcyon.figures.picture import COMPUTE, VISIBLE, Absent, Picture, drawing, inline
from halcyon.offload.comparison import Comparison, Entry
from halcyon.offload.report.figures.best_and_worst import best_and_worst
from halcyon.offload.run_statistics import Phase
from halcyon.quantities import percent

NAME = "iteration-time"


def iteration_time(comparison: Comparison) -> Picture | Absent:
    """A stacked bar per iteration, one panel per run."""
    entries = [entry for entry in comparison.entries if entry.numbers.phases]
    if not entries:
        return Absent(NAME, "no output phase was recorded")
    with drawing():
        figure, all_axes = panels(len(entries), 2.0)
        for axes, entry in zip(all_axes, entries, strict=True):
            _stack(axes, entry.numbers.phases)
            if len(entries) > 1:
                axes.set_title(entry.label)
            whole_numbers(axes.xaxis)
        tallest = max(phase.compute_s + phase.mean_s for entry in entries for phase in entry.numbers.phases)
        all_axes[0].set_ylim(0, tallest * 1.05 or 1.0)
        label_time(all_axes[0].yaxis, [tallest], "time")
        text = all_axes[0].yaxis.get_label_text()
        all_axes[0].set_ylabel("")
        figure.supylabel(f"{text.replace('time', 'time per iteration', 1)}", fontsize=9.5)
        figure.supxlabel("iteration", fontsize=9.5)
        legend_above(figure, all_axes[0])
        title = _title(entries)
        caption = (
            "Mean over ranks, so that the parts add up to the time of an iteration. The title's share is that of the "
            "table: of the run's time, for the rank that spends most in output. Waiting for slower ranks inside "
            "the simulation's own messages counts as computing."
        )
        return Picture(NAME, title, caption, inline(figure, NAME, title))


def _stack(axes: Axes, phases: list[Phase]) -> None:
    x = np.array([phase.iteration for phase in phases])
    compute = np.array([phase.compute_s for phase in phases])
    visible = np.array([phase.mean_s for phase in phases])
    names = ("computing", "blocked by output")
    if len(phases) > MANY:
        axes.stackplot(x, compute, visible, colors=[COMPUTE, VISIBLE], labels=names, step="mid", linewidth=0)
        axes.set_xlim(x[0], x[-1])
        return
    width = 0.8 * (np.diff(x).min() if len(x) > 1 else 1)
    axes.bar(x, compute, width, color=COMPUTE, label=names[0], linewidth=0)
    axes.bar(x, visible, width, bottom=compute, color=VISIBLE, label=names[1], linewidth=0)


def _title(entries: list[Entry]) -> str:
    known = [(entry.label, entry.numbers.output_share) for entry in entries]
    shares = [(label, share) for label, share in known if share is not None]
    if not shares:
        return "Where the time of an iteration goes"
    return best_and_worst(shares, lambda share: -share, percent, "Output takes {} of the run time")
