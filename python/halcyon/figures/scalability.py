"""The scalability factor S = N·C/T_N of several runs (Dorier 2014, eq. 3.1 and figure 3.6)."""

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from halcyon.comparison import REFERENCE_APPROACH, Comparison, Scaling, Scalings, scalings_of
from halcyon.figures.axes import legend_above, looks, rows, whole_numbers
from halcyon.figures.picture import MUTED, WIDTH_IN, Absent, Picture, drawing, inline
from halcyon.quantities import number, percent, seconds

NAME = "scalability"


def scalability(comparison: Comparison) -> Picture | Absent:
    """S over N with the perfect line; runs on the same number of cores: S/N as rows."""
    scalings = scalings_of(comparison)
    if scalings is None:
        return Absent(NAME, "the scalability factor compares several runs with known run and compute times")
    with drawing():
        several_sizes = len({run.cores for run in scalings.runs}) > 1
        figure = _over_cores(comparison, scalings) if several_sizes else _rows(comparison, scalings)
        title = _title(scalings)
        return Picture(NAME, title, _caption(scalings), inline(figure, NAME, title))


def _over_cores(comparison: Comparison, scalings: Scalings) -> Figure:
    figure = Figure(figsize=(WIDTH_IN, 3.6), layout="constrained")
    axes = figure.subplots()
    most = max(run.cores for run in scalings.runs)
    axes.plot(
        [0, most * 1.05], [0, most * 1.05], color=MUTED, linewidth=1, linestyle=(0, (2, 2)), label="perfect: S = N"
    )
    look_of = {entry.label: look for entry, look in zip(comparison.entries, looks(comparison), strict=True)}
    for approach, runs in _by_approach(scalings).items():
        colour = look_of[runs[0].entry.label].colour
        ordered = sorted(runs, key=lambda run: run.cores)
        alike = len({run.cores for run in ordered}) == len(ordered)  # else a line would join runs of different kinds
        x, y = [run.cores for run in ordered], [run.factor for run in ordered]
        style = "-" if alike else "none"
        axes.plot(x, y, marker="o", markersize=6, linestyle=style, linewidth=1.6, color=colour, label=approach)
    axes.set_xlabel("cores N, those of servers included")
    axes.set_ylabel("scalability factor S")
    axes.set_xlim(0, most * 1.05)
    axes.set_ylim(0, max(most, *(run.factor for run in scalings.runs)) * 1.05)
    whole_numbers(axes.xaxis)
    legend_above(figure, axes)
    return figure


def _rows(comparison: Comparison, scalings: Scalings) -> Figure:
    figure, axes = rows(len(scalings.runs))
    look_of = {entry.label: look for entry, look in zip(comparison.entries, looks(comparison), strict=True)}
    shares = [run.factor / run.cores for run in scalings.runs]
    axes.axvline(1.0, color=MUTED, linewidth=1, linestyle=(0, (2, 2)))
    for row, (run, share) in enumerate(zip(scalings.runs, shares, strict=True)):
        look = look_of[run.entry.label]
        axes.plot([0, share], [row, row], color=look.colour, linewidth=2.2)
        axes.plot([share], [row], look.marker, color=look.colour, markersize=8)
        text = f"S = {number(run.factor)} of {run.cores}"
        axes.annotate(text, (1.01, row), xycoords=("axes fraction", "data"), va="center", fontsize=9)
    axes.set_yticks(range(len(scalings.runs)), [run.entry.label for run in scalings.runs])
    axes.set_xlim(0, max(1.0, *shares) * 1.05)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("S / N")
    return figure


def _by_approach(scalings: Scalings) -> dict[str, list[Scaling]]:
    grouped: dict[str, list[Scaling]] = {}
    for run in scalings.runs:
        grouped.setdefault(run.entry.approach, []).append(run)
    return grouped


def _title(scalings: Scalings) -> str:
    with_output = [run for run in scalings.runs if run.entry.approach != REFERENCE_APPROACH]
    candidates = with_output or scalings.runs
    most = max(run.cores for run in candidates)
    largest = [run for run in candidates if run.cores == most]
    best = max(largest, key=lambda run: run.factor)
    worst = min(largest, key=lambda run: run.factor)
    first = f"{best.entry.approach} reaches {percent(best.factor / most)} of perfect scaling on {most} cores"
    return first if worst is best else f"{first}, {worst.entry.approach} {percent(worst.factor / most)}"


def _caption(scalings: Scalings) -> str:
    reference = scalings.reference
    if scalings.reference_is_without_output:
        what = f"the run time of {reference.label}, without output ({seconds(reference.numbers.run_s)})"
    else:
        what = (
            f"the compute time of {reference.label}, on the fewest cores "
            f"({seconds(reference.numbers.compute_s)}; no run without output was given)"
        )
    per = " Runs differ in iterations: C and T are taken per iteration." if scalings.per_iteration else ""
    return f"S = N·C/T: N cores, T the run time, C {what}. Supposes the same work for each core.{per}"
