"""The rows of the table that the summary prints and the report shows: names, values as text, and what they mean."""

from collections.abc import Callable
from dataclasses import dataclass

from halcyon.offload.comparison import Comparison, Entry, scalings_of
from halcyon.quantities import ABSENT, number, percent, rate, seconds, seconds_with_range, size


@dataclass(frozen=True)
class Metric:
    """One row: a value per run, in the order of the comparison."""

    name: str
    meaning: str
    values: list[str]


def metrics_of(comparison: Comparison) -> list[Metric]:
    """The rows for which at least one run has a value."""
    rows = [Metric(name, meaning, [value(entry) for entry in comparison.entries]) for name, meaning, value in _ROWS]
    rows += _differing(comparison)
    rows += _scalability(comparison)
    if "approach" in comparison.dimensions:  # then the heads of the table begin with it
        rows = [row for row in rows if row.name != "approach"]
    return [row for row in rows if set(row.values) - {ABSENT}]


def _visible(entry: Entry) -> str:
    spread = entry.numbers.visible_s
    return seconds_with_range(spread.median, spread.low, spread.high) if spread else ABSENT


def _rank_spread(entry: Entry) -> str:
    spread = entry.numbers.rank_spread_s
    if not spread or entry.run.manifest.ranks == 1:
        return ABSENT
    return f"{seconds(spread.median)}, worst {seconds(spread.high)}"


def _phase_spread(entry: Entry) -> str:
    spread = entry.numbers.visible_s
    return seconds(spread.width) if spread else ABSENT


def _visible_total(entry: Entry) -> str:
    numbers = entry.numbers
    if not numbers.phases:
        return ABSENT
    share = f" ({percent(numbers.output_share)})" if numbers.output_share is not None else ""
    return f"{seconds(numbers.visible_total_s)}{share}"


def _stored(entry: Entry) -> str:
    stored, raw = entry.numbers.stored_bytes, entry.numbers.raw_bytes
    if stored is None or raw is None:
        return ABSENT
    if stored == raw:
        return size(stored)
    return f"{size(stored)} of {size(raw)}" if stored < raw else f"{size(stored)} for {size(raw)} of data"


_ROWS: tuple[tuple[str, str, Callable[[Entry], str]], ...] = (
    ("approach", "how the run's output was done", lambda entry: entry.approach),
    (
        "ranks, cores",
        "processes of the simulation; cores with those left to servers",
        lambda entry: f"{entry.run.manifest.ranks}, {entry.run.manifest.cores}",
    ),
    ("output phases", "iterations that ended with output", lambda entry: str(len(entry.numbers.phases))),
    ("run time", "from start to end", lambda entry: seconds(entry.numbers.run_s)),
    (
        "compute time",
        "of it, between output phases, without opening and closing the output",
        lambda entry: seconds(entry.numbers.compute_s),
    ),
    (
        "visible time, all",
        "slowest rank of each phase, summed; in brackets: the share of the run that output takes from the busiest rank",
        _visible_total,
    ),
    (
        "opening and closing",
        "of the output: starting servers, and waiting at the end until all is stored",
        lambda entry: seconds(entry.numbers.open_close_s),
    ),
    ("visible time, a phase", "slowest rank: median (minimum–maximum) over phases", _visible),
    ("spread over ranks", "slowest minus fastest rank in a phase: median, worst", _rank_spread),
    ("spread over phases", "longest minus shortest phase", _phase_spread),
    (
        "longest wait for room",
        "of a rank in one phase, because the buffer was full",
        lambda entry: seconds(entry.numbers.blocked_s) if entry.numbers.blocked_s else ABSENT,
    ),
    (
        "bytes handed over",
        "by the simulation",
        lambda entry: size(entry.numbers.bytes) if entry.numbers.phases else ABSENT,
    ),
    (
        "bytes stored",
        "size of the files, with what their format itself needs; of, or for, so much data before compression",
        _stored,
    ),
    ("servers busy", "share of their time", lambda entry: percent(entry.numbers.server_busy)),
    (
        "store / compute time",
        "mean time to store an iteration over mean time to compute one; above 100 % servers fall behind",
        lambda entry: percent(entry.numbers.store_over_compute),
    ),
    (
        "throughput, simulation",
        "bytes handed over by the visible time",
        lambda entry: rate(entry.numbers.simulation_throughput),
    ),
    (
        "throughput, servers",
        "bytes before compression by the time in which any server was storing",
        lambda entry: rate(entry.numbers.server_throughput),
    ),
)


def _differing(comparison: Comparison) -> list[Metric]:
    """Parameters that differ between the runs; approach, ranks and cores have rows of their own."""
    names = [name for name in comparison.differing if name not in ("approach", "ranks", "nodes", "dedicated cores")]
    return [
        Metric(
            name,
            "parameter that differs between the runs",
            [str(entry.run.manifest.parameters.get(name, ABSENT)) for entry in comparison.entries],
        )
        for name in names
    ]


def _scalability(comparison: Comparison) -> list[Metric]:
    scalings = scalings_of(comparison)
    if scalings is None:
        return []
    factors = {scaling.entry.label: scaling.factor for scaling in scalings.runs}
    values = [number(factors[e.label]) if e.label in factors else ABSENT for e in comparison.entries]
    meaning = f"N·C/T, perfect is N, weak scaling assumed; C from {scalings.reference.label}"
    return [Metric("scalability factor", meaning, values)]
