"""Writers on one storage target as text."""

from rich.console import Console

from halcyon.models.contention import Contention
from halcyon.models.probe.probing import Probe
from halcyon.printed.tables import print_table
from halcyon.quantities import percent, plural, rate, size


def print_probe(told: Probe, console: Console) -> None:
    """First what forbids a conclusion."""
    for doubt in told.doubts:
        console.print(f"no conclusion: {doubt}", soft_wrap=True)
    how = "direct I/O, and synced" if told.direct else "through the cache, and synced"
    written = f"{size(told.bytes_each)} per writer, {how}; {plural(len(told.control.bytes_per_s), 'round')}"
    console.print(f"{told.directory}: target {told.target}; {written}", soft_wrap=True)
    print_contention(told.contention, console)
    console.print()
    alone, again = told.rounds[0].median_bytes_per_s, told.control.median_bytes_per_s
    console.print(f"one writer, and the same again: {rate(alone)}, {rate(again)}", soft_wrap=True)
    if not told.doubts:
        console.print(conclusion(told.contention), soft_wrap=True)


def print_contention(told: Contention, console: Console) -> None:
    """As table F.2 of Wright 2014, with what all writers get together."""
    rows = [
        [
            f"{step.writers:,}", rate(step.bytes_per_s), _range(step.low_bytes_per_s, step.high_bytes_per_s),
            _range(step.ideal_low_bytes_per_s, step.ideal_high_bytes_per_s), step.standing, percent(step.of_ideal),
            rate(step.total_bytes_per_s),
        ]
        for step in told.steps
    ]  # fmt: skip
    columns = ["writers", "per writer", "range", "ideal band", "range is", "of the ideal", "all together"]
    print_table(console, f"writers on one target: {told.name}", columns, rows, words=0, most=len(rows))


def _range(low: float, high: float) -> str:
    return f"{rate(low)} – {rate(high)}"


def conclusion(told: Contention) -> str:
    """One sentence."""
    lost, most = told.first_loss, told.steps[-1].writers
    if lost is None:
        return f"up to {most:,} writers share the target without loss: each gets its part of one writer's bandwidth"
    before = max(step.writers for step in told.steps if step.writers < lost.writers)
    shared = f"up to {before:,} writers share the target without loss; " if before > 1 else ""
    return f"{shared}of {lost.writers:,} writers, each gets {percent(lost.of_ideal)} of its part of one's bandwidth"
