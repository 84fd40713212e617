"""The scalability factor S = N·C/T_N of several runs (Dorier 2014, eq. 3.1 and figure 3.6)."""

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from halcyon.figures.axes import legend_above, rows, whole_numbers
from halcyon.figures.picture import MUTED, WIDTH_IN, Absent, Picture, drawing, inline
from halcyon.offload.comparison import REFERENCE_APPROACH, Comparison, Scaling, Scalings, scalings_of
from halcyon.offload.report.figures.looks import looks
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
        ordered = sorted(runs, key=lambda run: run.cores)
        alike = len({run.cores for run in ordered}) == len(ordered)
        # A line joins runs of one kind; several on as many cores are of different kinds and have names of their own.
        for name, line in [(approach, ordered)] if alike else [(run.entry.label, [run]) for run in ordered]:
            look = look_of[line[0].entry.label]
            x, y = [run.cores for run in line], [run.factor for run in line]
            marker = "o" if alike else look.marker
            axes.plot(x, y, marker=marker, markersize=6, linewidth=1.6, color=look.colour, label=name)
            if name == approach:  # labels of single runs have their marks
                for run in line:
                    at, beside = (run.cores, run.factor), (-8, 4)
                    axes.annotate(run.entry.mark, at, beside, textcoords="offset points", ha="right", fontsize=8.5)
    axes.set_xlabel("cores N, those of servers included")
    axes.set_ylabel("scalability factor S (weak scaling assumed)")
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
    axes.set_xlabel("S / N (weak scaling assumed)")
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
    first = f"{_name(best, scalings)} reaches {percent(best.factor / most)} of perfect scaling on {most} cores"
    return first if worst is best else f"{first}, {_name(worst, scalings)} {percent(worst.factor / most)}"


def _name(run: Scaling, scalings: Scalings) -> str:
    """The approach where it tells runs on as many cores apart, else what does."""
    alike = [r for r in scalings.runs if (r.cores, r.entry.approach) == (run.cores, run.entry.approach)]
    return f"{run.entry.approach} {run.entry.mark}".rstrip() if len(alike) == 1 else run.entry.label


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
    return f"Weak scaling assumed: the same work for each core. S = N·C/T: N cores, T the run time, C {what}.{per}"
