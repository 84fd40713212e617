"""Files on storage targets as text: those of a directory, and those of recorded jobs."""

from rich.console import Console

from halcyon.models.fit import Fit
from halcyon.models.histogram import classes_of
from halcyon.models.mix import Job, Mix
from halcyon.models.placed import Placed
from halcyon.models.printed.requests import targets_to_buy
from halcyon.printed.tables import print_table
from halcyon.quantities import plural

_BUSIEST = 8


def print_placed(told: Placed, console: Console) -> None:
    """First what is not counted."""
    for reason, count in told.left_out.items():
        console.print(f"not counted: {reason}: {count:,}", soft_wrap=True)
    where = f"{told.source}: {plural(told.files, 'file')} with {plural(told.fit.stripes, 'stripe')}"
    console.print(f"{where} on {plural(told.fit.total, 'target')} (as {told.total_from} says)", soft_wrap=True)
    _print_histogram(told.fit, "actual", console)
    busiest = sorted(told.stripes_on.items(), key=lambda one: (-one[1], one[0]))[:_BUSIEST]
    rows = [[name, f"{stripes:,}", f"{told.fit.mean_stripes:,.1f}"] for name, stripes in busiest]
    print_table(console, "the busiest targets", ["target", "stripes", "expected"], rows, most=len(rows))
    _print_fit(told.fit, "actual", console)


def print_mix(told: Mix, console: Console) -> None:
    """First the jobs without a known layout."""
    for job in told.unknown:
        console.print(f"no layout known, not counted: {job.name}: {_unknown(job)}", soft_wrap=True)
    rows = [
        [
            job.name,
            f"{len(job.requests):,}",
            f"{job.stripes:,}",
            f"{max(job.requests):,}",
            f"{sum(job.unknown.values()):,}",
        ]
        for job in told.jobs
    ]
    print_table(
        console,
        f"{plural(len(told.jobs), 'job')} with known layouts",
        ["job", "files", "stripes", "most of a file", "files of unknown layout"],
        rows,
        most=len(rows),
    )
    _print_histogram(told.fit, "recorded", console)
    _print_fit(told.fit, "recorded", console)
    limit = told.load_limit
    if told.capped is None:
        console.print(f"no request keeps load {limit:g}", soft_wrap=True)
    elif told.capped.request == told.largest_request:
        console.print(f"these requests keep load {limit:g}", soft_wrap=True)
    else:
        most = plural(told.capped.request, "stripe")
        console.print(
            f"request for load {limit:g}: at most {most} per file (load {told.capped.load:.3f})", soft_wrap=True
        )
    console.print(targets_to_buy(told.total, told.targets_for_limit, limit), soft_wrap=True)


def _unknown(job: Job) -> str:
    files = ", ".join(f"{plural(count, 'file')} on {kind}" for kind, count in job.unknown.items())
    return files or "it read and wrote no file"


def _print_histogram(told: Fit, actual: str, console: Console) -> None:
    classes = classes_of(told)
    rows = [
        [
            each.name, f"{each.actual:,}", f"{each.expected:,.1f}",
            "" if each.spread is None else f"± {each.spread:.1f}",
        ]
        for each in classes
    ]  # fmt: skip
    print_table(
        console, "targets by their stripes", ["stripes", actual, "expected", "std. dev."], rows, words=0, most=len(rows)
    )


def _print_fit(told: Fit, actual: str, console: Console) -> None:
    console.print()
    chance = _chance(told.chance_in_use)
    scatter = f"{told.actual_scatter:,.2f} {actual}, {told.expected_scatter:,.2f} expected"
    lines = [
        f"targets in use: {told.actual_in_use:,} {actual}, {told.expected_in_use:,.3f} expected at random",
        f"load: {told.actual_load:.3f} {actual}, {told.expected_load:.3f} expected",
        f"targets in use deviate by {told.deviation_in_use:+.2f} standard deviations; chance of as much: {chance}",
        f"stripes on a target: at most {told.most_stripes:,}; standard deviation {scatter}",
    ]
    for line in lines:
        console.print(line, soft_wrap=True)


def _chance(chance: float) -> str:
    return f"{chance:.3f}" if chance >= 0.0005 else f"{chance:.1g}"
