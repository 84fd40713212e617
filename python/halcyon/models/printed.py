"""Answers of the models as text."""

from collections.abc import Sequence

from rich.console import Console

from halcyon.models.stripes import Load, LoadTable, Logs, Purchase, Recommendation
from halcyon.observe.printed.tables import print_table
from halcyon.quantities import percent, plural, rate


def print_answer(answer: LoadTable | Logs | Recommendation | Purchase, console: Console) -> None:
    """Each in its own form."""
    match answer:
        case LoadTable():
            print_loads(answer, console)
        case Logs():
            print_logs(answer, console)
        case Recommendation():
            print_recommendation(answer, console)
        case Purchase():
            print_purchase(answer, console)


def print_loads(table: LoadTable, console: Console) -> None:
    """As tables 6.2 and 6.4 of Wright 2014."""
    request = table.rows[0].request
    _print_rows(
        f"{plural(table.total, 'target')}, {plural(int(request), 'stripe')} per job", "jobs", table.rows, console
    )


def print_logs(logs: Logs, console: Console) -> None:
    """A row per number of ranks, and the ranks at which the load is reached."""
    title = f"{plural(logs.total, 'target')}, a file of {plural(logs.stripes, 'stripe')} per rank"
    _print_rows(title, "ranks", logs.rows, console)
    nodes = f", on whole nodes of {logs.ranks_per_node}" if logs.ranks_per_node > 1 else ""
    console.print(f"\nload {logs.limit:g} is reached with {plural(logs.ranks_at_limit, 'rank')}{nodes}", soft_wrap=True)


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
    fastest, chosen = told.fastest, told.chosen
    console.print()
    if chosen is fastest:
        console.print(
            f"request {plural(chosen.measured.request, 'stripe')}: every smaller request loses more than "
            f"{percent(told.accepted_loss)} of the bandwidth",
            soft_wrap=True,
        )
        return
    console.print(
        f"request {plural(chosen.measured.request, 'stripe')} instead of {fastest.measured.request:,}: "
        f"{percent(1 - chosen.bandwidth_share)} less bandwidth for a job, {percent(1 - chosen.in_use_share)} fewer "
        f"targets in use, load {chosen.expected.load:.3f} instead of {fastest.expected.load:.3f}",
        soft_wrap=True,
    )


def print_purchase(told: Purchase, console: Console) -> None:
    """What keeps the load, and what it is now."""
    now, smaller, limit = told.now, told.request_for_limit, told.load_limit
    jobs = f"{plural(told.jobs, 'job')} with {plural(told.request, 'stripe')} each on {plural(told.total, 'target')}"
    request = f"request for load {limit:g}: {plural(int(smaller.request), 'stripe')} per job (load {smaller.load:.3f})"
    if smaller.load > limit:
        request += f"; no request keeps load {limit:g}"
    more = told.targets_for_limit - told.total
    lines = [
        f"{jobs}: load {now.load:.3f}, {now.in_use:,.3f} targets in use",
        request,
        f"targets for load {limit:g}: {told.targets_for_limit:,}"
        + (f" ({more:,} more)" if more > 0 else "; the file system has enough"),
    ]
    for line in lines:
        console.print(line, soft_wrap=True)


def _print_rows(title: str, counted: str, rows: Sequence[Load], console: Console) -> None:
    told = [[f"{row.jobs:,}", f"{row.in_use:,.3f}", f"{row.requested:,.0f}", f"{row.load:.3f}"] for row in rows]
    print_table(console, title, [counted, "targets in use", "stripes", "load"], told, words=0, most=len(told))
