"""`halcyon report RUN…|DIR`"""

import argparse
import sys
from pathlib import Path

from halcyon.errors import UsageError

SUMMARY = "write one self-contained HTML page about a run, or about several"
DESCRIPTION = (
    "Writes one HTML page that needs no network. Of runs with Halcyon's servers: the counts of whatever was not the "
    "normal path, figures of the output phases, the servers and the throughput, and the numbers behind them; several "
    "are compared over whatever differs between them: approach, ranks, parameters. Of a recorded run, a data set or "
    "another tool's trace: what was not seen, findings, phases, a timeline of all calls, files, servers, and how well "
    "the calls of rank 0 can be forecast. Of several of these, or of a folder with several: a grid of pictures of how "
    "evenly their ranks wrote, over the parameters in which the runs differ."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs", metavar="RUN", nargs="+", type=Path, help="directory of a run, a recorded run, or a folder of several"
    )
    parser.add_argument("--rows", metavar="NAME", help="of several recorded runs: the parameter that makes the rows")
    parser.add_argument("--columns", metavar="NAME", help="and the one that makes the columns")
    parser.add_argument(
        "--keep",
        action="store_true",
        help="of a folder: keep what is packed of its recordings within them (quicker the next time); "
        "without it nothing is written below the folder",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, default=Path("report.html"), help="default: %(default)s"
    )


def run(arguments: argparse.Namespace) -> int:
    from halcyon.observe.open_run import names_a_run

    for path in arguments.runs:
        if not path.exists():
            raise UsageError(
                f"{path}: no such file or directory; expected a recorded run, another tool's trace, or the directory "
                "of a run's output, which has a run.json"
            )
    recorded = [path for path in arguments.runs if names_a_run(path)]
    if recorded and len(recorded) < len(arguments.runs):
        other = next(path for path in arguments.runs if path not in recorded)
        raise UsageError(f"{other}: no recorded run, as {recorded[0]} is; a page compares runs of one kind")
    if len(recorded) > 1 or _is_folder_of_many(arguments.runs, recorded):
        return _of_many(arguments)
    if arguments.rows or arguments.columns:
        raise UsageError(f"{arguments.runs[0]}: --rows and --columns are of the page of several recorded runs")
    return _of_calls(recorded[0], arguments.output) if recorded else _of_servers(arguments)


def _is_folder_of_many(runs: list[Path], recorded: list[Path]) -> bool:
    from halcyon.observe.analysis.find_runs import find_runs

    if recorded or len(runs) > 1 or not runs[0].is_dir():
        return False
    try:
        return bool(find_runs(runs[0]).runs)
    except UsageError:
        return False


def _of_calls(path: Path, output: Path) -> int:
    from halcyon.errors import UnavailableError
    from halcyon.observe.open_run import open_run
    from halcyon.observe.recording.folder import say_of_newer_run
    from halcyon.observe.report_tables import report_tables
    from halcyon.observe.viewer import render
    from halcyon.predict.page import predictability

    say_of_newer_run(path)
    with open_run(path) as dataset:
        try:
            forecasts = predictability(dataset)
        except UnavailableError as why:  # all else of the page stands without forecasts
            print(f"halcyon: warning: the page tells nothing of forecasts: {why}", file=sys.stderr)
            forecasts = None
        written = render(dataset, report_tables(dataset), output, forecasts)
    print(f"{output} ({written / 1e3:.0f} kB)")
    return 0


def _of_many(arguments: argparse.Namespace) -> int:
    from halcyon.observe.analysis.machine import read_machine, read_runs
    from halcyon.observe.printed.machine import reading_runs
    from halcyon.observe.viewer import render_experiment

    with reading_runs() as told:
        if len(arguments.runs) == 1:
            machine = read_machine(arguments.runs[0], told=told, keep=arguments.keep)
        else:
            machine = read_runs([(path, str(path)) for path in arguments.runs], told=told)
    title = arguments.runs[0].absolute().name if len(arguments.runs) == 1 else f"{len(machine.runs)} runs"
    written = render_experiment(machine, title, arguments.output, row=arguments.rows, column=arguments.columns)
    for one in machine.unread:
        print(f"left out: {one.name}: {one.why}", file=sys.stderr)
    print(f"{arguments.output} ({written / 1e3:.0f} kB)")
    return 0


def _of_servers(arguments: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from halcyon.offload.comparison import open_comparison
    from halcyon.offload.report import write_report

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
