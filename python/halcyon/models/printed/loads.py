"""Loads of equal jobs and of logs as text, and what is measured beside."""

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console

from halcyon.models.logs_compared import Duel, LogsCompared
from halcyon.models.stripes import Compared, Load, LoadTable, Logs
from halcyon.printed.tables import print_table
from halcyon.quantities import plural, rate


def print_loads(table: LoadTable, console: Console) -> None:
    """As tables 6.2 and 6.4 of Wright 2014, one after another."""
    for request, rows in groupby(table.rows, key=lambda row: row.request):
        title = f"{plural(table.total, 'target')}, {plural(int(request), 'stripe')} per job"
        _print_rows(title, "jobs", list(rows), console)
    print_compared(table.compared, "jobs", console)


def print_logs(logs: Logs, console: Console) -> None:
    """A row per number of ranks, and the ranks at which the load is reached."""
    title = f"{plural(logs.total, 'target')}, a file of {plural(logs.stripes, 'stripe')} per rank"
    _print_rows(title, "ranks", logs.rows, console)
    print_compared(logs.compared, "ranks", console)
    console.print()
    _print_reached(logs, console)


def print_logs_compared(told: LogsCompared, console: Console) -> None:
    """Where logs win and lose, and the load there."""
    rows = [
        [
            f"{row.expected.jobs:,}", f"{row.expected.in_use:,.3f}", f"{row.expected.load:.3f}",
            rate(row.measured.shared_bytes_per_s), rate(row.measured.logs_bytes_per_s), f"{row.logs_over_shared:.2f}",
        ]
        for row in told.rows
    ]  # fmt: skip
    print_table(
        console,
        f"{plural(told.total, 'target')}, a file of {plural(told.stripes, 'stripe')} per rank",
        ["ranks", "targets in use", "load", "shared file", "logs", "logs / shared"],
        rows,
        words=0,
        most=len(rows),
    )
    console.print()
    for line in _crossing(told):
        console.print(line, soft_wrap=True)
    _print_reached(told, console)


def _crossing(told: LogsCompared) -> list[str]:
    won, lost = told.last_win, told.first_loss
    lines = []
    if won is not None:
        lines.append(f"logs are faster up to {plural(won.expected.jobs, 'rank')}: {_there(won)}")
    if lost is not None:
        again = next((row for row in told.rows if row.expected.jobs > lost.expected.jobs and row.logs_win), None)
        most = "" if again is not None else " on"
        lines.append(f"logs are slower from {plural(lost.expected.jobs, 'rank')}{most}: {_there(lost)}")
        if again is not None:
            lines.append(f"logs are faster again with {plural(again.expected.jobs, 'rank')}: {_there(again)}")
    return lines


def _there(row: Duel) -> str:
    return f"load {row.expected.load:.3f}, {row.logs_over_shared:.2f} × the shared file"


def _print_reached(logs: Logs | LogsCompared, console: Console) -> None:
    nodes = f", on whole nodes of {logs.ranks_per_node}" if logs.ranks_per_node > 1 else ""
    between = ", between the two" if isinstance(logs, LogsCompared) and logs.limit_lies_between else ""
    ranks = plural(logs.ranks_at_limit, "rank")
    console.print(f"load {logs.limit:g} is reached with {ranks}{nodes}{between}", soft_wrap=True)


def print_compared(compared: Sequence[Compared], counted: str, console: Console) -> None:
    """Measured beside expected, a line each; nothing without."""
    rows = [
        [
            f"{one.expected.jobs:,}", f"{one.expected.request:,.0f}",
            f"{one.measured_in_use:,.1f}", f"{one.expected.in_use:,.3f}", f"{one.deviation:+.1%}".replace("%", " %"),
            f"{one.measured_load:.3f}", f"{one.expected.load:.3f}",
        ]
        for one in compared
    ]  # fmt: skip
    print_table(
        console,
        "measured, and expected",
        [
            counted,
            "stripes each",
            "in use, measured",
            "in use, expected",
            "deviation",
            "load, measured",
            "load, expected",
        ],
        rows,
        words=0,
        most=len(rows),
    )


def _print_rows(title: str, counted: str, rows: Sequence[Load], console: Console) -> None:
    told = [[f"{row.jobs:,}", f"{row.in_use:,.3f}", f"{row.requested:,.0f}", f"{row.load:.3f}"] for row in rows]
    print_table(console, title, [counted, "targets in use", "stripes", "load"], told, words=0, most=len(told))
