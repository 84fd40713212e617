"""The summary for people: departures from the normal path first, then one table."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from halcyon.offload.comparison import Comparison
from halcyon.offload.departures import messages_of
from halcyon.offload.metrics import Metric, metrics_of
from halcyon.quantities import plural
from halcyon.terminal import VisibleConsole

NARROWEST = 14  # of a run's column; as many runs as fit stand beside one another
MOST_STEERED = 20  # lines of a run


def print_summary(comparison: Comparison, console: Console | None = None) -> None:
    """Prints the summary; in colour on a terminal, plain otherwise."""
    console = console or VisibleConsole(highlight=False)
    console.print(_heading(comparison), soft_wrap=True)
    for line in _departures(comparison):
        console.print(line, soft_wrap=True)
    for line in _steering(comparison):
        console.print(line, soft_wrap=True)
    metrics = metrics_of(comparison)
    for first, last in _columns_that_fit(metrics, len(comparison.entries), console.width):
        console.print()
        console.print(_table(comparison, metrics, first, last))


def _heading(comparison: Comparison) -> Text:
    names = sorted({entry.run.manifest.simulation for entry in comparison.entries} - {""})
    text = Text(" and ".join(names) or "run", style="bold")
    if comparison.several:
        over = f" over {', '.join(comparison.differing)}" if comparison.differing else ""
        return text.append(f": {len(comparison.entries)} runs{over}", style="not bold")
    return text.append(f": {comparison.entries[0].run.directory}", style="not bold")


def _departures(comparison: Comparison) -> list[Text]:
    lines: list[Text] = []
    for verdict in comparison.verdicts():
        # One verdict for all runs needs no names.
        name = f"{', '.join(verdict.labels)}: " if len(verdict.labels) < len(comparison.entries) else ""
        if verdict.nothing:
            lines.append(Text(f"{name}{verdict.nothing}", style="green" if verdict.calm else ""))
        for item in verdict.departures:
            lines.append(Text(f"{name}{item.text}", style="bold red" if item.lost else "yellow"))
    for entry in comparison.entries:
        for message in messages_of(entry.run):
            lines.append(Text(f"{entry.label}: {message}" if comparison.several else message, style="dim"))
    return lines


def _steering(comparison: Comparison) -> list[Text]:
    lines: list[Text] = []
    for entry in comparison.entries:
        name = f"{entry.label}: " if comparison.several else ""
        lines += [Text(f"{name}{steered.text}") for steered in entry.run.steering[:MOST_STEERED]]
        if (more := len(entry.run.steering) - MOST_STEERED) > 0:
            lines.append(Text(f"{name}steered {plural(more, 'more time')}: steering-*.csv"))
    return lines


def _columns_that_fit(metrics: list[Metric], runs: int, width: int) -> list[tuple[int, int]]:
    """Splits the runs into tables that are not wider than the terminal."""
    if not metrics:
        return []
    left = width - max(len(metric.name) for metric in metrics) - 2
    widths = [max(NARROWEST, *(len(metric.values[i]) for metric in metrics)) + 2 for i in range(runs)]
    tables: list[tuple[int, int]] = []
    first, used = 0, 0
    for i, own in enumerate(widths):
        if i > first and used + own > left:
            tables.append((first, i))
            first, used = i, 0
        used += own
    return [*tables, (first, runs)]


def _table(comparison: Comparison, metrics: list[Metric], first: int, last: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_header=comparison.several, pad_edge=False, show_edge=False)
    table.add_column("", no_wrap=True)
    for entry in comparison.entries[first:last]:
        table.add_column(Text(entry.label), overflow="fold")
    for metric in metrics:
        table.add_row(Text(metric.name), *(Text(value) for value in metric.values[first:last]))
    return table
