"""Requests as text: what to request, how many targets to buy, and what a sweep shows."""

from rich.console import Console

from halcyon.models.measurements import MeasuredStriping
from halcyon.models.printed.loads import print_compared
from halcyon.models.stripes import Purchase, Recommendation
from halcyon.models.sweep import Sweep
from halcyon.printed.tables import print_table
from halcyon.quantities import binary_size, percent, plural, rate


def print_recommendation(told: Recommendation, console: Console) -> None:
    """The curve of bandwidth over load, and the request to use."""
    rows = [
        [
            f"{one.measured.request:,}", rate(one.measured.bytes_per_s), percent(one.bandwidth_share),
            f"{one.expected.in_use:,.3f}", percent(one.in_use_share), f"{one.expected.load:.3f}",
        ]
        for one in told.curve
    ]  # fmt: skip
    print_table(
        console,
        f"{plural(told.total, 'target')}, {plural(told.jobs, 'job')} at once",
        ["request", "bandwidth of a job", "of the best", "targets in use", "of the best's", "load"],
        rows,
        words=0,
        most=len(rows),
    )
    print_compared(told.compared, "jobs", console)
    console.print()
    console.print(advice(told), soft_wrap=True)


def advice(told: Recommendation) -> str:
    """One sentence."""
    fastest, chosen = told.fastest, told.chosen
    if chosen is fastest:
        return (
            f"request {plural(chosen.measured.request, 'stripe')}: every smaller request loses more than "
            f"{percent(told.accepted_loss)} of the bandwidth"
        )
    return (
        f"request {plural(chosen.measured.request, 'stripe')} instead of {fastest.measured.request:,}: "
        f"{percent(1 - chosen.bandwidth_share)} less bandwidth for a job, {percent(1 - chosen.in_use_share)} fewer "
        f"targets in use, load {chosen.expected.load:.3f} instead of {fastest.expected.load:.3f}"
    )


def print_sweep(told: Sweep, console: Console) -> None:
    """The points that matter, then what to request."""
    points = {
        "start": told.start,
        "best by stripe count alone": told.best_by_count,
        "best by stripe size alone": told.best_by_size,
        "best": told.best,
    }
    rows = [
        [
            name,
            f"{one.stripes:,}",
            _size(one),
            rate(one.bytes_per_s),
            f"{one.bytes_per_s / told.start.bytes_per_s:.1f} ×",
        ]
        for name, one in points.items()
        if one is not None
    ]
    columns = ["", "stripes", "stripe size", "bandwidth", "of the start"]
    print_table(console, f"{plural(len(told.points), 'point')} measured", columns, rows, most=len(rows))
    print_recommendation(told.recommendation, console)


def _size(point: MeasuredStriping) -> str:
    return "–" if point.stripe_bytes is None else size_of_stripe(point.stripe_bytes)


def size_of_stripe(stripe_bytes: int) -> str:
    """`128 MiB`; in bytes where it is no whole number of KiB."""
    return binary_size(stripe_bytes) if stripe_bytes % 1024 == 0 else f"{stripe_bytes:,} B"


def print_purchase(told: Purchase, console: Console) -> None:
    """What keeps the load, and what it is now."""
    now, smaller, limit = told.now, told.request_for_limit, told.load_limit
    jobs = f"{plural(told.jobs, 'job')} with {plural(told.request, 'stripe')} each on {plural(told.total, 'target')}"
    request = f"request for load {limit:g}: {plural(int(smaller.request), 'stripe')} per job (load {smaller.load:.3f})"
    if not told.limit_is_kept:
        request += f"; no request keeps load {limit:g}"
    lines = [
        f"{jobs}: load {now.load:.3f}, {now.in_use:,.3f} targets in use",
        request,
        targets_to_buy(told.total, told.targets_for_limit, limit),
    ]
    for line in lines:
        console.print(line, soft_wrap=True)


def targets_to_buy(total: int, needed: int, limit: float) -> str:
    """One line."""
    more = needed - total
    rest = f" ({more:,} more)" if more > 0 else "; the file system has enough"
    return f"targets for load {limit:g}: {needed:,}{rest}"
