"""How long output phases last: minimum, mean and maximum for each approach (Dorier 2014, figures 3.3 and 3.4)."""

from halcyon.figures.axes import rows, scale_time
from halcyon.figures.picture import Absent, Picture, drawing, inline
from halcyon.offload.comparison import Comparison
from halcyon.offload.report.figures.best_and_worst import best_and_worst
from halcyon.offload.report.figures.looks import looks
from halcyon.offload.run_statistics import Spread
from halcyon.quantities import seconds, seconds_with_range

NAME = "phase-time"
DOTS = 60  # phases drawn one by one; the range says the rest


def phase_time(comparison: Comparison) -> Picture | Absent:
    """One row per run: a dot for each phase, the range, and the mean with its numbers."""
    drawn = [
        (entry, look, entry.numbers.visible_s)
        for entry, look in zip(comparison.entries, looks(comparison), strict=True)
        if entry.numbers.visible_s
    ]
    if not drawn:
        return Absent(NAME, "no output phase was recorded")
    with drawing():
        figure, axes = rows(len(drawn))
        scale_time(axes, [value for _, _, s in drawn for value in (s.low, s.high)], "duration of an output phase")
        for row, (entry, look, spread) in enumerate(drawn):
            phases = entry.numbers.phases
            if len(phases) <= DOTS:
                durations = [phase.slowest_s for phase in phases]
                axes.plot(durations, [row] * len(phases), "|", color=look.colour, markersize=11, alpha=0.5)
            axes.plot([spread.low, spread.high], [row, row], color=look.colour, linewidth=2.2, solid_capstyle="round")
            axes.plot([spread.mean], [row], look.marker, color=look.colour, markersize=8)
            text = seconds_with_range(spread.mean, spread.low, spread.high)
            axes.annotate(text, (1.01, row), xycoords=("axes fraction", "data"), va="center", fontsize=9)
        axes.set_yticks(range(len(drawn)), [entry.label for entry, _, _ in drawn])
        title = _title([(entry.label, spread) for entry, _, spread in drawn])
        caption = (
            "A phase lasts as long as its slowest rank. Mark: mean over phases; line: minimum to maximum; ticks: "
            "single phases. Numbers: mean (minimum–maximum)."
        )
        return Picture(NAME, title, caption, inline(figure, NAME, title))


def _title(spreads: list[tuple[str, Spread]]) -> str:
    if len(spreads) == 1:
        _, only = spreads[0]
        ends = f"{seconds(only.low)} to {seconds(only.high)}"
        return f"A phase blocks the simulation for {ends}, {seconds(only.mean)} on average"
    means = [(label, spread.mean) for label, spread in spreads]
    return best_and_worst(means, lambda mean: mean, seconds, "A phase lasts {} on average")
