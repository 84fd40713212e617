"""The findings of one run, for people."""

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from halcyon.observe.findings import Finding, Severity
from halcyon.observe.report_tables import ReportTables
from halcyon.quantities import percent, seconds

_STYLE = {Severity.HIGH: "bold red", Severity.MEDIUM: "yellow", Severity.LOW: "cyan"}


def print_findings(tables: ReportTables, console: Console) -> None:
    """Prints the findings of one run, or that there are none; nothing where there was nothing to look at."""
    if not tables.calls and not tables.counters_only:
        return
    console.print()
    if not tables.findings:
        console.print(Text("No findings.", style="green"))
        return
    console.print(Text("Findings", style="bold"))
    names = {file.file: file.name for file in tables.files}
    for finding in tables.findings:
        _finding(tables, finding, names, console)


def _finding(tables: ReportTables, finding: Finding, names: dict[int, str], console: Console) -> None:
    cost = "cost not estimated"
    if finding.seconds_lost is not None:
        share = f", {percent(finding.seconds_lost / tables.io_s)} of the I/O time" if tables.io_s else ""
        cost = f"about {seconds(finding.seconds_lost)}{share}"
    line = Table.grid(padding=(0, 1, 0, 0))
    line.add_column(width=6, no_wrap=True)
    line.add_column()
    line.add_row(
        Text(finding.severity, style=_STYLE[Severity(finding.severity)]),
        Text(f"{finding.title} ({cost})", style="bold"),
    )
    console.print(line)
    where = _some("file", [names.get(file, f"file {file}") for file in finding.files])
    ranks = _some(who(tables), [str(rank) for rank in finding.ranks])
    for text in (
        finding.explanation,
        "; ".join(f"{each.what}: {each.text}" for each in finding.evidence) + ".",
        f"Change: {finding.change}",
        f"Cost: {finding.estimate}.",
        "; ".join(part for part in (where, ranks) if part),
    ):
        if text:
            console.print(Padding(Text(text), (0, 0, 0, 7)))


def _some(what: str, names: list[str], most: int = 5) -> str:
    if not names:
        return ""
    rest = f" and {len(names) - most:,} more" if len(names) > most else ""
    what = what if len(names) == 1 else many(what)
    return f"{what} {', '.join(names[:most])}{rest}"


def who(tables: ReportTables) -> str:
    """What the numbers of processes are: ranks of MPI, or the processes' places in the data set."""
    return "rank" if tables.mpi else "process"


def many(what: str) -> str:
    """The plural of a word."""
    return "processes" if what == "process" else f"{what}s"
