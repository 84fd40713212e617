"""Targets by their stripes, beside the exact distribution of placement at random (Wright 2014, figure 6.7)."""

from matplotlib.figure import Figure

from halcyon.figures.picture import SERIES, WIDTH_IN
from halcyon.models.fit import Fit
from halcyon.models.histogram import classes_of
from halcyon.quantities import plural

_BAND = 2.0
"""Standard deviations."""


def draw_histogram(told: Fit, name: str, actual: str) -> Figure:
    """Bars are what is, the line what is expected; the band holds two standard deviations to either side."""
    classes = classes_of(told)
    places = range(len(classes))
    figure = Figure(figsize=(WIDTH_IN * 0.8, 4.0), layout="constrained")
    axes = figure.subplots()
    axes.bar(places, [each.actual for each in classes], color=SERIES[0], alpha=0.55, width=0.8, label=actual)
    expected = [each.expected for each in classes]
    axes.plot(places, expected, ".-", color=SERIES[1], label="expected at random (exact)")
    spread = [each.spread for each in classes]
    known = [each for each in spread if each is not None]
    if len(known) == len(classes):
        low = [max(mean - _BAND * own, 0.0) for mean, own in zip(expected, known, strict=True)]
        high = [mean + _BAND * own for mean, own in zip(expected, known, strict=True)]
        axes.fill_between(places, low, high, color=SERIES[1], alpha=0.15, linewidth=0, label="± 2 standard deviations")
    every = -(-len(classes) // 20)
    axes.set_xticks(list(places)[::every], [each.name for each in classes][::every])
    axes.set_xlabel("stripes on a target (collisions: one less)")
    axes.set_ylabel("targets")
    load = f"load {told.actual_load:.3f} {actual}, {told.expected_load:.3f} expected"
    axes.set_title(f"{name}: {plural(told.stripes, 'stripe')} on {plural(told.total, 'target')}; {load}")
    axes.legend(loc="upper right", fontsize=8.5)
    return figure
