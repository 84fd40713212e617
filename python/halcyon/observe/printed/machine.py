"""Many runs of a machine, for people."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from halcyon.observe.analysis.machine import Grid, Machine, server_totals, totals, variability_grid
from halcyon.observe.analysis.run_load import RunLoad
from halcyon.printed.tables import console_for_tables, print_table
from halcyon.quantities import ABSENT, percent, plural, rate, seconds, size


@contextmanager
def reading_runs() -> Iterator[Callable[[int, int], None]]:
    """Shows on a terminal how many runs are read: to be called with how many are done, and how many there are."""
    columns = (TextColumn("reading runs"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def print_machine(machine: Machine, console: Console | None = None) -> None:
    """Prints the runs, who made them, the servers, and the grid of an experiment where there is one."""
    console = console or console_for_tables()
    console.print(Text(plural(len(machine.runs), "run"), style="bold"))
    if machine.unread:
        console.print(Text(f"{plural(len(machine.unread), 'run')} could not be read", style="bold red"))
    for one in machine.unread:
        console.print(Text(f"left out: {one.name}: {one.why}", style="bold red"), soft_wrap=True)
    for name in machine.exports:
        text = f"not read: {name}: an export that `halcyon export` made of a run, and no run of its own"
        console.print(Text(text, style="dim"), soft_wrap=True)
    heads = (
        "run",
        "user",
        "program",
        "start (UTC)",
        "processes",
        "duration",
        "written",
        "read",
        "I/O time",
        "throughput",
    )
    print_table(console, "Runs", heads, [_run(run) for run in machine.runs], words=4)
    for title, of in (
        ("Users", lambda run: run.user),
        ("Programs", lambda run: run.program),
        ("Months", lambda run: run.month),
    ):
        groups = totals(machine.runs, of)
        if title == "Months":
            groups.sort(key=lambda one: one.name)
        rows = [
            (
                one.name,
                f"{one.runs:,}",
                size(one.bytes_written),
                size(one.bytes_read),
                percent(one.io_s / one.process_s) if one.process_s else ABSENT,
            )
            for one in groups
        ]
        print_table(console, title, ("", "runs", "written", "read", "time in I/O"), rows)
    servers = [(one.name, f"{one.runs:,}", size(one.bytes), str(one.most_at_once)) for one in server_totals(machine)]
    print_table(console, "Servers", ("server", "runs", "bytes", "most runs at once"), servers)
    grid = variability_grid(machine)
    if grid is not None:
        _grid(grid, console)


def _run(run: RunLoad) -> tuple[str, ...]:
    start = datetime.fromtimestamp(run.start, UTC).strftime("%Y-%m-%d %H:%M") if run.start is not None else ABSENT
    return (
        run.name,
        run.user or ABSENT,
        run.program or ABSENT,
        start,
        f"{run.ranks:,}",
        seconds(run.duration_s),
        size(run.bytes_written),
        size(run.bytes_read),
        percent(run.io_s / (run.duration_s * run.ranks)) if run.duration_s and run.ranks else ABSENT,
        rate(run.write_throughput),
    )


def _grid(grid: Grid, console: Console) -> None:
    cells = {(cell.row, cell.column): cell for cell in grid.cells}

    def told(row: str, column: str) -> str:
        cell = cells.get((row, column))
        return percent(cell.across_ranks) if cell else ABSENT

    title = f"Variation of ranks' write times within phases, over {grid.column_parameter}"
    if grid.row_parameter:
        title += f" and {grid.row_parameter}"
    rows = [(row, *(told(row, column) for column in grid.columns)) for row in grid.rows]
    heads = [f"{grid.column_parameter}={column}" for column in grid.columns]
    print_table(console, title, (grid.row_parameter, *heads), rows)
