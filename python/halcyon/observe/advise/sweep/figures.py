"""The sweep in pictures: one parameter varied, and two (Wright 2014, figures 6.1 and 6.2)."""

from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from halcyon.errors import HalcyonSystemError
from halcyon.observe.advise.sweep.choice import Choice
from halcyon.observe.advise.sweep.search import BELIEVED, Measured
from halcyon.observe.advise.sweep.space import STRIPE_COUNT, Parameter, Point, cost
from halcyon.quantities import Unit, byte_unit, number

_STYLE: dict[Any, Any] = {
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "savefig.dpi": 150,
}
_LINE, _START, _BEST, _FRUGAL = "#0b67b2", "#1b1f24", "#c2410c", "#15803d"


def draw(measured: Measured, choice: Choice, folder: Path) -> list[Path]:
    """Writes `one-parameter.png`, `speed-over-cost.png`, and a `<name>-<name>.png` for each two parameters of which
    enough was measured."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        figures = {"one-parameter": one_parameter(measured), "speed-over-cost": speed_over_cost(measured, choice)}
        for pair in combinations(measured.space.parameters, 2):
            if grid := two_parameters(measured, choice, *pair):
                figures[f"{pair[0].name}-{pair[1].name}"] = grid
        return [_save(figure, folder / f"{name}.png") for name, figure in figures.items()]


def _save(figure: Figure, path: Path) -> Path:
    try:
        figure.savefig(path, metadata={"Software": None})
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why
    return path


def one_parameter(measured: Measured) -> Figure:
    """Figure 6.1: a panel per parameter, the others at their start; every run a dot, medians joined."""
    parameters = measured.space.parameters
    unit = _unit(measured)
    figure = Figure(figsize=(3.2 * len(parameters) + 0.6, 3.2), layout="constrained")
    panels = figure.subplots(1, len(parameters), sharey=True, squeeze=False)[0]
    for axes, parameter in zip(panels, parameters, strict=True):
        line = [one for one in measured.space.line(parameter, measured.start) if measured.values.get(one)]
        places = [parameter.values.index(dict(one)[parameter.name]) for one in line]
        for place, point in zip(places, line, strict=True):
            own = [value / unit.size for value in measured.values[point]]
            axes.plot([place] * len(own), own, "o", color=_LINE, markersize=3.5, alpha=0.6)
        axes.plot(places, [measured.speed(one) / unit.size for one in line], color=_LINE, linewidth=1.4)
        start = parameter.values.index(dict(measured.start)[parameter.name])
        axes.plot([start], [measured.speed(measured.start) / unit.size], "D", color=_START, markersize=6)
        _values(axes.set_xticks, parameter, 45)
        axes.set_xlim(-0.5, len(parameter.values) - 0.5)
        axes.set_xlabel(parameter.title)
        axes.grid(axis="y", linewidth=0.4)
    panels[0].set_ylabel(f"perceived bandwidth in {unit.name}/s")
    panels[0].set_ylim(bottom=0)
    figure.suptitle("One parameter varied from the start (◆), the others as they were", x=0.01, ha="left", fontsize=10)
    return figure


def speed_over_cost(measured: Measured, choice: Choice) -> Figure:
    """What more storage targets (without striping: memory for buffers) bring: each point with its runs' range, the
    fastest of each cost joined; the chosen ones marked (Wright 2014, section 6.2)."""
    unit = _unit(measured)
    targets = STRIPE_COUNT in dict(measured.start)
    points = [point for point, own in measured.values.items() if own]
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    scale = 1 if targets else 1 << 20
    for point in points:
        own = [value / unit.size for value in measured.values[point]]
        believed = len(own) >= BELIEVED
        place = cost(point) / scale
        axes.plot([place, place], [min(own), max(own)], color=_LINE, linewidth=1, alpha=0.5)
        middle = measured.speed(point) / unit.size
        axes.plot([place], [middle], "o", color=_LINE, markersize=4, fillstyle="full" if believed else "none")
    fastest = {cost(one): measured.speed(one) for one in sorted(measured.repeated(), key=measured.speed)}
    joined = sorted(fastest.items())
    axes.plot(
        [each / scale for each, _ in joined], [value / unit.size for _, value in joined], color=_LINE, linewidth=1.2
    )
    top = measured.speed(choice.best) / unit.size
    axes.axhspan((1 - choice.tolerance) * top, top, color=_FRUGAL, alpha=0.12, linewidth=0)
    for point, mark, colour, name in _marked(measured, choice):
        own_place = cost(point) / scale, measured.speed(point) / unit.size
        axes.plot([own_place[0]], [own_place[1]], mark, color=colour, markersize=8, linestyle="none", label=name)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel("storage targets used" if targets else "memory for aggregators' buffers in MiB")
    axes.set_ylabel(f"perceived bandwidth in {unit.name}/s")
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", linewidth=0.4)
    figure.legend(loc="outside lower left", fontsize=8)
    figure.suptitle(
        f"Speed over what it takes from others (band: within {choice.tolerance:.0%} of the fastest)\n"
        f"filled: median of {BELIEVED} runs or more, the fastest joined; vertical lines: range of the runs",
        x=0.01, ha="left", fontsize=8.5,
    )  # fmt: skip
    return figure


def _marked(measured: Measured, choice: Choice) -> list[tuple[Point, str, str, str]]:
    """Point, marker, colour and text of those that are named."""
    show = measured.space.show
    found = [
        (measured.start, "D", _START, f"start: {show(measured.start)}"),
        (choice.best, "s", _BEST, f"fastest: {show(choice.best)}"),
    ]
    if choice.frugal != choice.best:
        found.append((choice.frugal, "*", _FRUGAL, f"within {choice.tolerance:.0%} for less: {show(choice.frugal)}"))
    return found


def two_parameters(measured: Measured, choice: Choice, across: Parameter, up: Parameter) -> Figure | None:
    """Figure 6.2: the fastest median of each two values, whatever the other parameters; None: one cell or none."""
    cells = _cells(measured, across, up)
    if len(cells) < 2:
        return None
    unit = _unit(measured)
    rows = [[cells.get((x, y), float("nan")) / unit.size for x in across.values] for y in up.values]
    figure = Figure(
        figsize=(max(5.0, 0.75 * len(across.values) + 2.4), max(3.0, 0.42 * len(up.values) + 1.6)), layout="constrained"
    )
    axes = figure.subplots()
    shown = axes.imshow(rows, origin="lower", aspect="auto", cmap="YlGnBu", vmin=0)
    top = max(cells.values())
    for (x, y), value in cells.items():
        colour = "white" if value > 0.6 * top else "#1b1f24"
        place = across.values.index(x), up.values.index(y)
        axes.text(*place, number(value / unit.size), ha="center", va="center", fontsize=8, color=colour)
    _frame(axes, choice.best, across, up, _BEST, "-", f"fastest: {measured.space.show(choice.best)}", 0.46)
    if choice.frugal != choice.best:
        text = f"within {choice.tolerance:.0%} for less: {measured.space.show(choice.frugal)}"
        _frame(axes, choice.frugal, across, up, _FRUGAL, "--", text, 0.40)
    _values(axes.set_xticks, across, 45)
    _values(axes.set_yticks, up)
    axes.set_xlabel(across.title)
    axes.set_ylabel(up.title)
    axes.spines[:].set_visible(False)
    figure.legend(loc="outside lower left", fontsize=8)
    figure.colorbar(shown, label=f"perceived bandwidth in {unit.name}/s")
    figure.suptitle("Two parameters varied; empty: not measured", x=0.01, ha="left", fontsize=10)
    return figure


def _cells(measured: Measured, across: Parameter, up: Parameter) -> dict[tuple[int, int], float]:
    """Points that may be chosen stand for their cell before single runs do."""
    believed = set(measured.repeated())
    cells: dict[tuple[int, int], tuple[bool, float]] = {}
    for point, own in measured.values.items():
        if own:
            values = dict(point)
            key = values[across.name], values[up.name]
            cells[key] = max(cells.get(key, (False, 0.0)), (point in believed, measured.speed(point)))
    return {key: speed for key, (_, speed) in cells.items()}


def _frame(
    axes: Any, point: Point, across: Parameter, up: Parameter, colour: str, style: str, text: str, half: float
) -> None:
    values = dict(point)
    x, y = across.values.index(values[across.name]), up.values.index(values[up.name])
    corners_x, corners_y = (
        [x - half, x + half, x + half, x - half, x - half],
        [y - half, y - half, y + half, y + half, y - half],
    )
    axes.plot(corners_x, corners_y, color=colour, linestyle=style, linewidth=2.2, label=text)


def _values(set_ticks: Any, parameter: Parameter, rotation: int = 0) -> None:
    labels: Iterable[str] = [parameter.show(value) for value in parameter.values]
    set_ticks(range(len(parameter.values)), labels, fontsize=8, rotation=rotation if parameter.in_bytes else 0)


def _unit(measured: Measured) -> Unit:
    return byte_unit([measured.speed(point) for point in measured.values])
