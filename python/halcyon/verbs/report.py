"""`halcyon report RUN…`"""

import argparse
from pathlib import Path

SUMMARY = "write one self-contained HTML page about a run, or about several"
DESCRIPTION = (
    "Writes one HTML page that needs no network: the counts of whatever was not the normal path, figures of the "
    "output phases, the servers and the throughput, and the numbers behind them. Several runs are compared over "
    "whatever differs between them: approach, ranks, parameters."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="+", type=Path, help="directory of a run (holds run.json)")
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, default=Path("report.html"), help="default: %(default)s"
    )


def run(arguments: argparse.Namespace) -> int:
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
