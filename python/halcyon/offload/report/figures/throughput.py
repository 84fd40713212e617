"""Aggregate throughput, as the simulation sees it and as the servers do (Dorier 2014, figure 3.8)."""

from collections.abc import Callable

from halcyon.figures.axes import legend_above, rows, scale_rate
from halcyon.figures.picture import GRID, VISIBLE, WRITE, Absent, Picture, drawing, inline
from halcyon.offload.comparison import Comparison, Entry
from halcyon.offload.report.figures.best_and_worst import best_and_worst
from halcyon.quantities import rate

NAME = "throughput"


def throughput(comparison: Comparison) -> Picture | Absent:
    """One row per run, one mark for each of the two views."""
    entries = [
        entry for entry in comparison.entries if entry.numbers.simulation_throughput or entry.numbers.server_throughput
    ]
    if not entries:
        return Absent(NAME, "no phase moved bytes in a time above 0")
    with drawing():
        figure, axes = rows(len(entries))
        everything = [value for entry in entries for value in _values(entry)]
        scale_rate(axes, everything, "bytes per second")
        for row, entry in enumerate(entries):
            axes.plot([min(_values(entry)), max(_values(entry))], [row, row], color=GRID, linewidth=3, zorder=1)
        for name, colour, marker, pick in _VIEWS:
            points = [(pick(entry), row) for row, entry in enumerate(entries) if pick(entry)]
            if points:
                x, y = zip(*points, strict=True)
                axes.plot(x, y, marker, color=colour, markersize=8, label=name, linestyle="none", zorder=2)
        for row, entry in enumerate(entries):
            text = " / ".join(rate(value) for value in (pick(entry) for *_, pick in _VIEWS) if value)
            axes.annotate(text, (1.01, row), xycoords=("axes fraction", "data"), va="center", fontsize=9)
        axes.set_yticks(range(len(entries)), [entry.label for entry in entries])
        legend_above(figure, axes)
        title = _title(entries)
        caption = (
            "Seen by the simulation: bytes handed over, by the sum of the phases' slowest times. Seen by the "
            "servers: bytes before compression, by the time in which at least one of them was storing."
        )
        return Picture(NAME, title, caption, inline(figure, NAME, title))


_VIEWS: tuple[tuple[str, str, str, Callable[[Entry], float | None]], ...] = (
    ("seen by the simulation", VISIBLE, "o", lambda entry: entry.numbers.simulation_throughput),
    ("seen by the servers", WRITE, "s", lambda entry: entry.numbers.server_throughput),
)


def _values(entry: Entry) -> list[float]:
    return [value for value in (pick(entry) for *_, pick in _VIEWS) if value]


def _title(entries: list[Entry]) -> str:
    seen = [(entry.label, entry.numbers.simulation_throughput) for entry in entries]
    known = [(label, value) for label, value in seen if value]
    if len(known) > 1:
        return best_and_worst(known, lambda value: -value, rate, "The simulation hands over {}")
    numbers = next((entry.numbers for entry in entries if entry.numbers.simulation_throughput), entries[0].numbers)
    if numbers.server_throughput and numbers.simulation_throughput:
        handed, stored = rate(numbers.simulation_throughput), rate(numbers.server_throughput)
        return f"The simulation hands over {handed}, the servers store {stored}"
    return f"Output runs at {rate(numbers.simulation_throughput or numbers.server_throughput)}"
