"""Two programs alone and together, as bytes per second over time (as Dorier 2014, figures 6.3 and 6.4)."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from halcyon.figures.axes import label_rate, label_time, legend_above
from halcyon.figures.picture import MUTED, SERIES, WIDTH_IN
from halcyon.figures.picture_file import save_picture
from halcyon.quantities import seconds
from halcyon.testbed.metered import Run
from halcyon.testbed.together import Compared

_STEP_S = 0.1
"""Rates are means over this long: a look's own length would show the buckets of the links."""
_A, _B = SERIES[1], SERIES[0]


def draw_compared(compared: Compared, path: Path) -> None:
    """The round with the median factor, into a file of the format that its name ends in."""
    save_picture(lambda: _figure(compared), path)


def _figure(compared: Compared) -> Figure:
    shown = compared.typical
    figure = Figure(figsize=(WIDTH_IN, 6.4), layout="constrained")
    above, middle, below = figure.subplots(3, 1, sharex=True, sharey=True)
    _panel(above, [("A", _A, shown.a_alone)], f"A alone: {seconds(shown.a_alone.moving_s)}")
    _panel(middle, [("B", _B, shown.b_alone)], f"B alone: {seconds(shown.b_alone.moving_s)}")
    _panel(
        below,
        [("A", _A, shown.a), ("B", _B, shown.b)],
        f"A and B at once: A {seconds(shown.a.moving_s)}, {shown.a_factor:.2f} times as long as alone; "
        f"B {seconds(shown.b.moving_s)}, {shown.b_factor:.2f} times as long as alone",
    )
    limit = compared.link_bytes_per_s * compared.storage_links
    for axes in (above, middle, below):
        if limit:
            axes.axhline(limit, color=MUTED, linewidth=0.9, linestyle="--", label="rate of the storage links")
    label_rate(middle.yaxis, [limit, *(rate for run in (shown.a_alone, shown.a) for rate in _rates(run)[1])], "sent")
    label_time(below.xaxis, [shown.a.seconds], "since the start of the commands")
    below.set_xlim(0, max(shown.a.seconds, shown.b.seconds, shown.a_alone.seconds) * 1.02)
    below.set_ylim(bottom=0)
    legend_above(figure, below)
    return figure


def _panel(axes: Axes, runs: Sequence[tuple[str, str, Run]], title: str) -> None:
    """Rates on top of one another; runs of one scene share their looks."""
    times_s, _ = _rates(runs[0][2])
    names, colours = [name for name, _, _ in runs], [colour for _, colour, _ in runs]
    rates = [_rates(run)[1] for _, _, run in runs]
    axes.stackplot(times_s, rates, colors=colours, labels=names, step="post", linewidth=0)
    axes.set_title(title)


def _rates(run: Run) -> tuple[list[float], list[float]]:
    """Times at which steps begin, and the bytes/s of each."""
    kept = [0]
    for i, look_s in enumerate(run.looks_s):
        if look_s - run.looks_s[kept[-1]] >= _STEP_S:
            kept.append(i)
    steps = [
        (run.looks_s[i], (run.sent_bytes[j] - run.sent_bytes[i]) / (run.looks_s[j] - run.looks_s[i]))
        for i, j in pairwise(kept)
    ]
    return [time_s for time_s, _ in steps], [rate for _, rate in steps]
