"""Bandwidth per writer over writers on one storage target (Wright 2014, figure 6.3)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from halcyon.figures.axes import label_rate, whole_numbers
from halcyon.figures.picture import SERIES, WIDTH_IN
from halcyon.models.contention import Contention

PANEL_IN = 5.2
_POINTS = 200
"""Of the ideal's curve."""


def draw_contention(told: Sequence[Contention], title: str = "") -> Figure:
    """A panel each: medians with their ranges, and the band of an ideal target."""
    figure = Figure(figsize=(min(PANEL_IN * len(told) + 1.2, WIDTH_IN), 3.9), layout="constrained")
    if title:
        figure.suptitle(title, x=0.01, ha="left")
    for axes, one in zip(figure.subplots(1, len(told), squeeze=False)[0], told, strict=True):
        _panel(axes, one)
    return figure


def _panel(axes: Axes, told: Contention) -> None:
    writers = [step.writers for step in told.steps]
    alone = told.steps[0]
    along = np.linspace(1, writers[-1], _POINTS)
    low, high = alone.ideal_low_bytes_per_s / along, alone.ideal_high_bytes_per_s / along
    axes.fill_between(along, low, high, color=SERIES[0], alpha=0.18, linewidth=0, label="ideal: one writer's, divided")
    axes.plot(along, alone.ideal_bytes_per_s / along, color=SERIES[0], linewidth=0.9, linestyle=(0, (4, 3)))
    rates = [step.bytes_per_s for step in told.steps]
    ends = [
        [step.bytes_per_s - step.low_bytes_per_s for step in told.steps],
        [step.high_bytes_per_s - step.bytes_per_s for step in told.steps],
    ]
    look: dict[str, Any] = {"marker": "o", "markersize": 4, "capsize": 2.5, "linestyle": "none"}
    axes.errorbar(writers, rates, ends, color=SERIES[1], label="measured", **look)
    label_rate(axes.yaxis, [alone.high_bytes_per_s], "bandwidth per writer")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("writers on one target")
    axes.set_title(told.name)
    whole_numbers(axes.xaxis)
    axes.legend(loc="upper right", fontsize=8.5)
