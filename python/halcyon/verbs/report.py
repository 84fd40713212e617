"""`halcyon report RUN…`"""

import argparse
from pathlib import Path

from halcyon.errors import UsageError

SUMMARY = "write one self-contained HTML page about a run, or about several"
DESCRIPTION = (
    "Writes one HTML page that needs no network. Of runs with Halcyon's servers: the counts of whatever was not the "
    "normal path, figures of the output phases, the servers and the throughput, and the numbers behind them; several "
    "are compared over whatever differs between them: approach, ranks, parameters. Of a recorded run, a data set or "
    "another tool's trace: what was not seen, findings, phases, a timeline of all calls, files, servers."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="+", type=Path, help="directory of a run, or a recorded run")
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, default=Path("report.html"), help="default: %(default)s"
    )


def run(arguments: argparse.Namespace) -> int:
    from halcyon.observe.open_run import names_a_run

    recorded = [path for path in arguments.runs if path.exists() and names_a_run(path)]
    if not recorded:
        return _of_servers(arguments)
    if len(arguments.runs) > 1:
        raise UsageError(
            f"{recorded[0]}: the page of recorded calls is of one run; `halcyon analyze DIR` compares those of a folder"
        )
    return _of_calls(recorded[0], arguments.output)


def _of_calls(path: Path, output: Path) -> int:
    from halcyon.observe.open_run import open_run
    from halcyon.observe.report_tables import report_tables
    from halcyon.observe.viewer import render

    with open_run(path) as dataset:
        written = render(dataset, report_tables(dataset), output)
    print(f"{output} ({written / 1e3:.0f} kB)")
    return 0


def _of_servers(arguments: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from halcyon.comparison import open_comparison
    from halcyon.report import write_report

    columns = (TextColumn("{task.description:<28}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        reading = progress.add_task("reading runs", total=len(arguments.runs))
        comparison = open_comparison(arguments.runs, lambda: progress.advance(reading))
        drawing = progress.add_task("drawing", total=None)

        def drawn(name: str, done: int, total: int) -> None:
            progress.update(drawing, description=name, completed=done, total=total)

        size = write_report(comparison, arguments.output, drawn)
    print(f"{arguments.output} ({size / 1e3:.0f} kB)")
    return 0
