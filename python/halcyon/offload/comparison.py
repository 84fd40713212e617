"""Several runs side by side: what differs between them, how to name them, and how well they scale."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from halcyon.offload.departures import Departure, Verdict, departures_of, mark_of, verdicts_of
from halcyon.offload.run_directory import Run, open_run
from halcyon.offload.run_statistics import RunStatistics, statistics_of
from halcyon.quantities import ABSENT

REFERENCE_APPROACH = "none"  # a run without output


@dataclass(frozen=True)
class Entry:
    """One run of a comparison. `name` tells it from the others; `values` are its values along the dimensions."""

    run: Run
    numbers: RunStatistics
    departures: list[Departure]
    name: str
    values: tuple[str, ...]

    @property
    def mark(self) -> str:
        """Of a run with losses, or one that did not finish: nobody may take its numbers for those of a whole run."""
        return mark_of(self.departures)

    @property
    def label(self) -> str:
        """The name with its mark, for people."""
        return f"{self.name} {self.mark}".rstrip()

    @property
    def approach(self) -> str:
        return self.run.manifest.approach


@dataclass(frozen=True)
class Comparison:
    """Runs and what differs between them: approach, ranks, nodes, dedicated cores, parameters.

    `dimensions` are as many of the `differing` names, in their order, as it takes to tell the runs apart: in a
    weak-scaling study the ranks, and not the domain that grows with them.
    """

    entries: list[Entry]
    differing: tuple[str, ...]
    dimensions: tuple[str, ...]

    @property
    def several(self) -> bool:
        return len(self.entries) > 1

    def verdicts(self) -> list[Verdict]:
        """What a summary or report of these runs opens with."""
        return verdicts_of([(entry.label, entry.run, entry.departures) for entry in self.entries])


def open_comparison(paths: Sequence[Path], opened: Callable[[], None] = lambda: None) -> Comparison:
    """Opens the runs; `opened` is called after each."""
    entries: list[tuple[Run, RunStatistics]] = []
    for path in paths:
        run = open_run(path)
        entries.append((run, statistics_of(run)))
        opened()
    return compare(entries)


def compare(runs: Sequence[tuple[Run, RunStatistics]]) -> Comparison:
    """Finds the dimensions and names each run by its values along them, and by its directory where they are alike.

    Approaches keep the order in which they were given; runs of one approach go up along the other dimensions.
    """
    coordinates = [_coordinates(run) for run, _ in runs]
    names = list(dict.fromkeys(name for values in coordinates for name in values))
    differing = [name for name in names if len({values.get(name) for values in coordinates}) > 1]
    dimensions = _telling(coordinates, differing)
    labels = [_label(values, dimensions) for values in coordinates]
    repeated = Counter(labels)
    entries = [
        Entry(
            run=run,
            numbers=numbers,
            departures=departures_of(run),
            name=f"{label} ({_short_path(run, runs)})" if repeated[label] > 1 else label,
            values=tuple(values.get(name, ABSENT) for name in dimensions),
        )
        for (run, numbers), label, values in zip(runs, labels, coordinates, strict=True)
    ]
    approaches = list(dict.fromkeys(entry.approach for entry in entries))
    entries.sort(key=lambda entry: (approaches.index(entry.approach), [_numeric(value) for value in entry.values]))
    return Comparison(entries, tuple(differing), dimensions)


def _numeric(value: str) -> tuple[float, str]:
    """Sorts numbers as numbers and before words."""
    try:
        return (float(value), "")
    except ValueError:
        return (math.inf, value)


def _coordinates(run: Run) -> dict[str, str]:
    manifest = run.manifest
    own = {"approach": manifest.approach, "ranks": str(manifest.ranks), "nodes": str(manifest.nodes)}
    own["dedicated cores"] = str(manifest.dedicated_cores)
    return own | {
        name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in manifest.parameters.items()
    }


def _telling(coordinates: Sequence[dict[str, str]], differing: Sequence[str]) -> tuple[str, ...]:
    """Keeps a name only when it tells runs apart that the names before it do not."""
    kept: list[str] = []
    told_apart = 1
    for name in differing:
        distinct = len({tuple(values.get(key) for key in [*kept, name]) for values in coordinates})
        if distinct > told_apart:
            kept.append(name)
            told_apart = distinct
    return tuple(kept)


def _label(values: dict[str, str], dimensions: Sequence[str]) -> str:
    """What tells the run apart; the approach where nothing does."""
    own = [values["approach"]] if "approach" in dimensions or not dimensions else []
    others = [name for name in dimensions if name != "approach"]
    return " ".join([*own, *(f"{name}={values.get(name, ABSENT)}" for name in others)])


def _short_path(run: Run, runs: Sequence[tuple[Run, RunStatistics]]) -> str:
    """The directory's name, or its whole path where other runs have the same name."""
    names = [other.directory.resolve().name for other, _ in runs]
    own = run.directory.resolve()
    return own.name if names.count(own.name) == 1 else str(run.directory)


@dataclass(frozen=True)
class Scaling:
    """The scalability factor of one run, S = N·C/T_N; perfect is S = N (Dorier 2014, eq. 3.1)."""

    entry: Entry
    cores: int
    factor: float


@dataclass(frozen=True)
class Scalings:
    """The factors of several runs, and the run whose compute time is their C."""

    reference: Entry
    reference_is_without_output: bool
    per_iteration: bool  # the runs differ in iterations: C and T_N are times per iteration
    runs: list[Scaling]


def scalings_of(comparison: Comparison) -> Scalings | None:
    """None for a single run, or where no run can be the reference.

    The reference is the run without output (approach `none`) on the fewest cores; without one, the compute time of
    the run on the fewest cores. The factor supposes weak scaling: the same work for each core.
    """
    timed = [entry for entry in comparison.entries if entry.numbers.run_s]
    bare = [entry for entry in timed if entry.approach == REFERENCE_APPROACH]
    computed = [entry for entry in timed if entry.numbers.compute_s]
    if len(timed) < 2 or not (bare or computed):
        return None
    reference = min(bare or computed, key=lambda entry: (entry.run.manifest.cores, _reference_time(entry)))
    reference_s = _reference_time(reference)
    iterations = [len(entry.numbers.phases) for entry in timed]
    per_iteration = len(set(iterations)) > 1 and all(iterations)
    factors = []
    for entry, count in zip(timed, iterations, strict=True):
        alike = count / len(reference.numbers.phases) if per_iteration else 1.0
        assert entry.numbers.run_s  # `timed` holds no run without it
        cores = entry.run.manifest.cores
        factors.append(Scaling(entry, cores, cores * reference_s * alike / entry.numbers.run_s))
    return Scalings(reference, bool(bare), per_iteration, factors)


def _reference_time(entry: Entry) -> float:
    """C of eq. 3.1 as this run would give it: the time without output."""
    numbers = entry.numbers
    return (numbers.run_s if entry.approach == REFERENCE_APPROACH else numbers.compute_s) or math.inf
