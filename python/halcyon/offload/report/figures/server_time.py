"""What servers do while the simulation computes: compress, store, wait, idle (Dorier 2014, figure 3.7)."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes

from halcyon.figures.axes import MANY, label_time, legend_above, panels, whole_numbers
from halcyon.figures.picture import COMPRESS, IDLE, OTHER, WAIT, WRITE, Absent, Picture, drawing, inline
from halcyon.offload.comparison import Comparison, Entry
from halcyon.offload.report.figures.best_and_worst import best_and_worst
from halcyon.offload.run_statistics import ServerWork
from halcyon.quantities import percent

NAME = "server-time"


def server_time(comparison: Comparison) -> Picture | Absent:
    """A stacked bar per stored file, mean over the servers; one panel per run that had servers."""
    entries = [entry for entry in comparison.entries if entry.numbers.work]
    if not entries:
        return Absent(NAME, "no server stored anything (no lines in server-n*.csv)")
    with drawing():
        figure, all_axes = panels(len(entries), 2.0)
        names = _parts_seen(entries)
        for axes, entry in zip(all_axes, entries, strict=True):
            _stack(axes, entry.numbers.work, names)
            if len(entries) > 1:
                axes.set_title(entry.label)
            whole_numbers(axes.xaxis)
        tallest = max(sum(_PARTS[name][1](item) for name in names) for entry in entries for item in entry.numbers.work)
        all_axes[0].set_ylim(0, tallest * 1.05 or 1.0)
        label_time(all_axes[0].yaxis, [tallest], "time since the file before")
        text = all_axes[0].yaxis.get_label_text()
        all_axes[0].set_ylabel("")
        figure.supylabel(text, fontsize=9.5)
        figure.supxlabel("iteration (the first of its file)", fontsize=9.5)
        legend_above(figure, all_axes[0])
        title = _title(entries)
        caption = (
            "Mean over servers. Idle time is what is left for compression, pictures or analysis; without any, "
            "servers fall behind and the buffer fills."
        )
        return Picture(NAME, title, caption, inline(figure, NAME, title))


# In stacking order; idle last, so that the work stands on the axis.
_PARTS: dict[str, tuple[str, Callable[[ServerWork], float]]] = {
    "compress": (COMPRESS, lambda item: item.compress_s),
    "store": (WRITE, lambda item: item.write_s),
    "other work on the file": (OTHER, lambda item: item.other_s),
    "wait for the turn": (WAIT, lambda item: item.slot_wait_s),
    "idle": (IDLE, lambda item: item.idle_s),
}


def _parts_seen(entries: list[Entry]) -> list[str]:
    """Parts that any of the runs has, so that the legend names nothing invisible."""
    whole = sum(part(item) for entry in entries for item in entry.numbers.work for _, part in _PARTS.values())
    return [
        name
        for name, (_, part) in _PARTS.items()
        if name in ("store", "idle") or sum(part(item) for e in entries for item in e.numbers.work) > 1e-3 * whole
    ]


def _stack(axes: Axes, work: list[ServerWork], names: list[str]) -> None:
    x = np.array([item.first_iteration for item in work])
    heights = [np.array([_PARTS[name][1](item) for item in work]) for name in names]
    colours = [_PARTS[name][0] for name in names]
    if len(work) > MANY:
        axes.stackplot(x, *heights, colors=colours, labels=names, step="mid", linewidth=0)
        axes.set_xlim(x[0], x[-1])
        return
    width = 0.8 * (np.diff(x).min() if len(x) > 1 else 1)
    bottom = np.zeros(len(work))
    for name, colour, height in zip(names, colours, heights, strict=True):
        axes.bar(x, height, width, bottom=bottom, color=colour, label=name, linewidth=0)
        bottom = bottom + height


def _title(entries: list[Entry]) -> str:
    known = [(entry.label, entry.numbers.server_busy) for entry in entries]
    busy = [(label, share) for label, share in known if share is not None]
    if not busy:
        return "What servers did"
    return best_and_worst(busy, lambda share: -share, percent, "Servers were busy {} of the time")
