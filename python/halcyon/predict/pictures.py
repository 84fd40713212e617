"""Figures 7.2 to 7.7 of Dorier 2014 as pictures."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter

from halcyon.figures.axes import short
from halcyon.predict.curves import Curve
from halcyon.predict.figures import LARGEST_ERROR, LAST, SLIDES, Arrivals, Figures
from halcyon.quantities import seconds
from halcyon.whole_file import whole_file

_STYLE: dict[Any, Any] = {
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dfe4ea",
    "legend.frameon": False,
    "savefig.dpi": 150,
}
_OWN, _NAIVE, _MARK, _INK = "#005f95", "#d55e00", "#8d97a1", "#1b1f24"
LEAST_S = 1e-9
"""What a logarithmic axis shows instead of 0."""


def draw(figures: Figures, name: str, folder: Path) -> list[Path]:
    """Writes six pictures of the stream called `name` into `folder`; returns their paths."""
    drawers: dict[str, Callable[[Figures], Figure]] = {
        "context": _context,
        "grammar": _grammar,
        "size-error": _size_error,
        "hit-ratio": _hit,
        "interarrival": _arrivals,
        "interarrival-difference": _differences,
    }
    paths = []
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        for file, drawn in drawers.items():
            figure = drawn(figures)
            axes = figure.axes[0]
            axes.set_title(f"{name}: {axes.get_title(loc='left')}")
            paths.append(folder / f"{file}.png")
            with whole_file(paths[-1]) as hidden:
                figure.savefig(hidden, format="png", metadata={"Software": None})
    return paths


def _axes(figures: Figures, title: str, y: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8.6, 3.1), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title)
    axes.set_ylabel(y)
    axes.set_xlabel("call")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlim(1, max(figures.calls, 2))
    return figure, axes


def _lines(axes: Axes, figures: Figures, curves: Sequence[Curve]) -> None:
    """The first curve is Halcyon's, on top; a line where the second iteration begins."""
    for place, curve in reversed(list(enumerate(curves))):
        look: dict[str, Any] = {"color": _NAIVE, "linewidth": 0.7} if place else {"color": _OWN, "linewidth": 1.2}
        axes.plot(curve.x, curve.y, label=curve.name, **look)
    if figures.learnt is not None:
        axes.axvline(figures.learnt + 1, color=_MARK, linewidth=0.9, linestyle=(0, (4, 3)), label="second iteration")
    if len(curves) > 1 or figures.learnt is not None:
        axes.figure.legend(loc="outside lower right", ncols=4, fontsize=8.5)


def _context(figures: Figures) -> Figure:
    figure, axes = _axes(figures, f"call sites forecast, of the last {SLIDES}", "share")
    _lines(axes, figures, figures.context)
    axes.set_ylim(-0.02, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    return figure


def _grammar(figures: Figures) -> Figure:
    figure, axes = _axes(figures, "size of the grammar", "symbols")
    _lines(axes, figures, figures.grammar)
    axes.set_ylim(bottom=0)
    return figure


def _size_error(figures: Figures) -> Figure:
    figure, axes = _axes(figures, f"relative error of sizes, cut at {LARGEST_ERROR:g}", "error")
    _lines(axes, figures, figures.size_error)
    axes.set_ylim(-0.05, LARGEST_ERROR * 1.02)
    return figure


def _hit(figures: Figures) -> Figure:
    figure, axes = _axes(figures, f"hit ratio, mean of the last {SLIDES} calls", "hit ratio")
    _lines(axes, figures, figures.hit)
    axes.set_ylim(-0.02, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    return figure


def _times(figures: Figures, title: str, y: str, series: Sequence[tuple[str, list[float], str, str]]) -> Figure:
    figure, axes = _axes(figures, title, y)
    arrivals = figures.arrivals
    axes.set_yscale("log")
    for label, values, colour, marker in series:
        drawn = [max(value, LEAST_S) for value in values]
        axes.plot(arrivals.x, drawn, marker, color=colour, markersize=3, label=label, alpha=0.75)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(seconds(value))))
    if arrivals.x:
        axes.set_xlim(arrivals.x[0], max(arrivals.x[-1], arrivals.x[0] + 1))
    figure.legend(loc="outside lower right", ncols=4, fontsize=8.5, markerscale=2)
    return figure


def _arrivals(figures: Figures) -> Figure:
    a = figures.arrivals
    series = [("observed", a.observed, _NAIVE, "o"), ("expected", a.expected, _OWN, "x")]
    return _times(figures, f"interarrival times of the last {LAST:,} calls", "time since the call before", series)


def _differences(figures: Figures) -> Figure:
    a: Arrivals = figures.arrivals
    series = [
        ("immediate re-access", a.observed, _MARK, "."),
        ("last value", differences(a.observed, a.last_value), _NAIVE, "."),
        ("Halcyon", differences(a.observed, a.expected), _OWN, "x"),
    ]
    return _times(figures, f"observed less expected, the last {LAST:,} calls", "difference", series)


def differences(observed: Sequence[float], expected: Sequence[float]) -> list[float]:
    """Without their signs."""
    return [abs(one - other) for one, other in zip(observed, expected, strict=True)]
