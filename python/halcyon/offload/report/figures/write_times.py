"""The ranks' write times of each output phase as sorted lines, coloured by throughput (Dorier 2014, figure 2.3)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, ListedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from halcyon.figures.axes import LOG_FROM, label_time, short
from halcyon.figures.picture import MUTED, WIDTH_IN, Absent, Picture, drawing, inline
from halcyon.offload.comparison import Comparison, Entry
from halcyon.offload.report.figures.best_and_worst import best_and_worst
from halcyon.offload.run_directory import Run
from halcyon.offload.run_statistics import NS, Phase
from halcyon.quantities import byte_unit, rate, seconds

NAME = "write-times"
ACROSS, DOWN = 6, 4  # panels of one run
BANDS = 5  # phases in the cell of a grid
SEPARATE_LINES = 24  # more ranks than this in a panel are drawn as one area
SEPARATE_IN_BAND = 6  # and more than this in a band
STEPS = 800  # and more than this many are thinned

# The ends of viridis vanish on a white and on a black page; the middle does not.
_COLOURS = ListedColormap(colormaps["viridis"](np.linspace(0.12, 0.9, 24)))

Times = np.ndarray[Any, np.dtype[np.float64]]


def write_times(comparison: Comparison) -> Picture | Absent:
    """Small multiples: over phases for one run, else over runs."""
    entries = [entry for entry in comparison.entries if entry.numbers.phases]
    if not entries:
        return Absent(NAME, "no output phase was recorded")
    scale = _Scale.over(entries)
    with drawing():
        if len(entries) == 1:
            figure, note = _phases_of_one(entries[0], scale)
        elif _fills_a_grid(comparison, entries):
            figure, note = _grid(comparison, entries, scale)
        else:
            figure, note = _row_per_run(entries, scale)
        _key(figure, scale)
        title = _title(entries)
        return Picture(NAME, title, f"{_HOW_TO_READ} {note}".strip(), inline(figure, NAME, title))


_HOW_TO_READ = (
    "One line per rank, sorted, as long as output blocked the rank in the phase; the longest of all spans its panel. "
    "An even block is calm output, a long tail is jitter that all ranks wait for. Colour: bytes of the phase over "
    "the time of its slowest rank."
)


@dataclass(frozen=True)
class _Scale:
    """What all panels share: the longest time, and the colours of throughputs."""

    longest_s: float
    colours: Colormap
    norm: Normalize
    throughputs: list[float]

    @classmethod
    def over(cls, entries: list[Entry]) -> "_Scale":
        phases = [phase for entry in entries for phase in entry.numbers.phases]
        throughputs = [phase.throughput for phase in phases if phase.throughput]
        low, high = min(throughputs, default=0.0), max(throughputs, default=1.0)
        norm: Normalize
        if low > 0 and high / low > LOG_FROM:
            norm = LogNorm(low, high)
        elif low == high:  # one throughput only: the middle of the scale, not an end
            norm = Normalize(0, 2 * high)
        else:
            norm = Normalize(low, high)
        return cls(max(phase.slowest_s for phase in phases), _COLOURS, norm, throughputs)

    def colour(self, phase: Phase) -> Any:
        """Grey where there is no throughput: nothing was written, or in no time."""
        return self.colours(self.norm(phase.throughput)) if phase.throughput else MUTED


def _title(entries: list[Entry]) -> str:
    spreads = [(entry.label, entry.numbers.rank_spread_s) for entry in entries if entry.run.manifest.ranks > 1]
    known = [(label, spread) for label, spread in spreads if spread]
    if not known:  # ranks alone cannot differ
        slowest = max(entries, key=lambda entry: max(phase.slowest_s for phase in entry.numbers.phases))
        worst = max(phase.slowest_s for phase in slowest.numbers.phases)
        return f"A phase blocks the simulation for {seconds(worst)} at worst"
    if len(known) == 1:
        median, worst = known[0][1].median, known[0][1].high
        return f"Within a phase, ranks differ by {seconds(median)} (median), by {seconds(worst)} at worst"
    medians = [(label, spread.median) for label, spread in known]
    differ = best_and_worst(medians, lambda s: -s, lambda s: f"by {seconds(s)}", "Ranks of a phase differ {}")
    return f"{differ} (medians)"


def _phases_of_one(entry: Entry, scale: _Scale) -> tuple[Figure, str]:
    phases = entry.numbers.phases
    shown = _chosen(phases, ACROSS * DOWN)
    across = min(ACROSS, len(shown))
    down = -(-len(shown) // across)
    figure = Figure(figsize=(WIDTH_IN, 0.9 + 1.35 * down), layout="constrained")
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    times = _times(entry.run, shown)
    for i in range(down * across):
        axes = grid[i // across][i % across]
        if i >= len(shown):
            axes.set_visible(False)
            continue
        _bare(axes, scale)
        _lines(axes, times[shown[i].iteration], scale.colour(shown[i]))
        axes.set_ylim(0, entry.run.manifest.ranks)
        axes.set_title(f"iteration {shown[i].iteration} · {seconds(shown[i].slowest_s)}", fontsize=8.5)
        axes.tick_params(labelbottom=i + across >= len(shown))
    _outer_labels(figure, scale)
    return figure, _left_out(len(shown), len(phases))


def _row_per_run(entries: list[Entry], scale: _Scale) -> tuple[Figure, str]:
    across = min(ACROSS, max(len(entry.numbers.phases) for entry in entries))
    figure = Figure(figsize=(WIDTH_IN, 0.9 + 1.3 * len(entries)), layout="constrained")
    grid = figure.subplots(len(entries), across, sharex=True, squeeze=False)
    for row, entry in enumerate(entries):
        shown = _chosen(entry.numbers.phases, across)
        times = _times(entry.run, shown)
        for column in range(across):
            axes = grid[row][column]
            if column >= len(shown):
                axes.set_visible(False)
                continue
            _bare(axes, scale)
            _lines(axes, times[shown[column].iteration], scale.colour(shown[column]))
            axes.set_ylim(0, entry.run.manifest.ranks)
            axes.tick_params(labelleft=column == 0, labelbottom=row == len(entries) - 1)
            title = f"it. {shown[column].iteration} · {seconds(shown[column].slowest_s)}"
            axes.set_title(title, fontsize=8)
        grid[row][0].set_ylabel(_wrapped(entry.label), fontsize=8.5)
    _outer_labels(figure, scale)
    most = max(len(entry.numbers.phases) for entry in entries)
    return figure, _left_out(across, most)


def _fills_a_grid(comparison: Comparison, entries: list[Entry]) -> bool:
    """Two or more dimensions, one run per cell, and most cells taken."""
    if len(comparison.dimensions) < 2 or len({entry.values for entry in entries}) < len(entries):
        return False
    rows = {entry.values[0] for entry in entries}
    columns = {entry.values[1:] for entry in entries}
    return len(rows) > 1 and len(columns) > 1 and 3 * len(entries) >= 2 * len(rows) * len(columns)


def _grid(comparison: Comparison, entries: list[Entry], scale: _Scale) -> tuple[Figure, str]:
    rows = list(dict.fromkeys(entry.values[0] for entry in entries))
    columns = list(dict.fromkeys(entry.values[1:] for entry in entries))
    figure = Figure(figsize=(WIDTH_IN, 0.9 + 1.9 * len(rows)), layout="constrained")
    grid = figure.subplots(len(rows), len(columns), sharex=True, squeeze=False)
    cells = {(entry.values[0], entry.values[1:]): entry for entry in entries}
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            axes = grid[i][j]
            axes.tick_params(labelbottom=i == len(rows) - 1)
            if i == 0:
                names = zip(comparison.dimensions[1:], column, strict=True)
                axes.set_title(", ".join(f"{name} {value}" for name, value in names))
            if j == 0:
                axes.set_ylabel(_wrapped(row))
            _bare(axes, scale)
            axes.set_yticks([])
            if (row, column) in cells:
                _bands(axes, cells[row, column], scale)
                mark = cells[row, column].mark  # rows and columns name values, not runs
                axes.set_title(mark, loc="right", fontsize=8.5)
            else:
                axes.text(0.5, 0.5, "no run", transform=axes.transAxes, ha="center", va="center", color=MUTED)
    _outer_labels(figure, scale)
    return figure, f"Each cell is a run, with up to {BANDS} of its phases one above the other, the first on top."


def _bands(axes: Axes, entry: Entry, scale: _Scale) -> None:
    """Phases below one another, each as high as the others whatever its number of ranks."""
    shown = _chosen(entry.numbers.phases, BANDS)
    times = _times(entry.run, shown)
    for place, phase in enumerate(shown):
        height = 0.86 / max(1, len(times[phase.iteration]))
        _lines(
            axes,
            times[phase.iteration],
            scale.colour(phase),
            bottom=-place - 0.93,
            height=height,
            separate=SEPARATE_IN_BAND,
        )
    axes.set_ylim(-max(len(shown), 1), 0)


def _lines(
    axes: Axes, times_s: Times, colour: Any, bottom: float = 0.0, height: float = 1.0, separate: int = SEPARATE_LINES
) -> None:
    """Sorted horizontal lines that start at 0; more than `separate` become one area. None is too short to be seen."""
    ranks = len(times_s)
    if ranks <= separate:
        places = bottom + height * (np.arange(ranks) + 0.5)
        axes.barh(places, times_s, height=height * 0.72, color=colour, edgecolor=colour, linewidth=1.4)
        return
    edges = bottom + height * np.linspace(0, ranks, min(ranks, STEPS) + 1)
    if ranks > STEPS:
        times_s = times_s[np.round(np.linspace(0, ranks - 1, STEPS)).astype(int)]
    axes.stairs(times_s, edges, orientation="horizontal", fill=True, facecolor=colour, edgecolor=colour, linewidth=1.4)


def _times(run: Run, phases: list[Phase]) -> dict[int, Times]:
    """Each phase's times, ascending, in seconds."""
    wanted = [phase.iteration for phase in phases]
    table = run.phases.filter(run.phases.iteration.isin(wanted)).select("iteration", "visible_ns").to_pyarrow()
    iterations, times = table["iteration"].to_numpy(), table["visible_ns"].to_numpy()
    return {iteration: np.sort(times[iterations == iteration]) * NS for iteration in wanted}


def _chosen(phases: list[Phase], most: int) -> list[Phase]:
    """At most so many phases, in order: the slowest, the fastest, and others evenly between the first and last."""
    if len(phases) <= most:
        return phases
    slowest = max(range(len(phases)), key=lambda i: phases[i].slowest_s)
    fastest = min(range(len(phases)), key=lambda i: phases[i].slowest_s)
    chosen = {slowest, fastest}
    even = np.linspace(0, len(phases) - 1, most).round().astype(int).tolist()
    outward = sorted(even, key=lambda i: -min(abs(i - other) for other in chosen))  # those near the two go first
    chosen |= set(outward[: most - len(chosen)])
    return [phases[i] for i in sorted(chosen)]


def _left_out(shown: int, phases: int) -> str:
    return "" if shown >= phases else f"Shown: {shown} of {phases} phases, the fastest and the slowest among them."


def _bare(axes: Axes, scale: _Scale) -> None:
    axes.grid(visible=False, axis="y")
    # Room left of 0, and no spine there, so that lines too short for the scale are still seen.
    longest = scale.longest_s or 1.0
    axes.set_xlim(-0.015 * longest, longest)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=4))
    label_time(axes.xaxis, [scale.longest_s], "")
    axes.set_xlabel("")
    axes.yaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))
    axes.tick_params(labelsize=8)


def _outer_labels(figure: Figure, scale: _Scale) -> None:
    probe = figure.axes[0].xaxis
    label_time(probe, [scale.longest_s], "time that output blocked the rank")
    text = probe.get_label_text()
    probe.set_label_text("")
    figure.supxlabel(text, fontsize=9.5)
    figure.supylabel("ranks, sorted by time", fontsize=9.5)


def _wrapped(label: str) -> str:
    return label.replace(" ", "\n")


def _key(figure: Figure, scale: _Scale) -> None:
    """The colour scale, or nothing where no phase has a throughput."""
    if not scale.throughputs:
        return
    if min(scale.throughputs) == max(scale.throughputs):
        figure.suptitle(f"throughput of every phase: {rate(scale.throughputs[0])}", fontsize=9, x=0.99, ha="right")
        return
    bar = figure.colorbar(ScalarMappable(scale.norm, scale.colours), ax=figure.axes, aspect=36, fraction=0.03, pad=0.01)
    unit = byte_unit(scale.throughputs)
    if isinstance(scale.norm, LogNorm):
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(rate(value))))
        bar.set_label("throughput of the phase (logarithmic)", fontsize=9, labelpad=8)
    else:
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / unit.size:.4g}"))
        bar.set_label(f"throughput of the phase ({unit.name}/s)", fontsize=9)
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8)
    if bar.solids is not None:
        bar.solids.set_edgecolor("face")  # or hair lines show between the colours
