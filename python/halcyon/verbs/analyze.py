"""`halcyon analyze RUN|DIR`"""

import argparse
import shlex
import sys
from pathlib import Path

from halcyon.errors import UsageError

SUMMARY = "say how a run did its I/O, what is wrong with it, and what to change"
DESCRIPTION = (
    "Reads a run that `halcyon run --trace` recorded, a data set, or another tool's trace, and prints what was not "
    "seen or lost, findings with their cost and the change to make, and tables: bandwidths, time, what MPI-IO calls "
    "are made of, phases, sizes and patterns, files, metadata, servers. Given a folder with several, it compares them: "
    "runs, users, programs, months, servers, and variability over the parameters of an experiment (X=value in names "
    "of folders, or facts called parameter.X)."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", metavar="RUN|DIR", type=Path, help="a recorded run, a data set, a trace, or a folder of several"
    )
    parser.add_argument("others", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument(
        "--engine",
        metavar="NAME",
        default="duckdb",
        help="duckdb, local-spark or spark://HOST:PORT (default: %(default)s)",
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="of a folder: keep what is packed of its recordings within them (quicker the next time); "
        "without it nothing is written below the folder",
    )
    parser.add_argument("--json", action="store_true", help="print everything for machines, in SI units")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.observe.open_run import names_a_run

    path = arguments.path
    if arguments.others:
        raise UsageError(
            f"{arguments.others[0]}: one run at a time, or a folder of several; a page that compares them: "
            f"halcyon report {shlex.join([str(path), *arguments.others])}"
        )
    if names_a_run(path):
        return _one(arguments)
    if (path / "run.json").is_file():
        raise UsageError(
            f"{path}: the output of a run, not a recording of its calls: `halcyon summary {path}` prints what happened "
            f"in it, `halcyon report {path}` writes its page"
        )
    return _many(arguments)


def _one(arguments: argparse.Namespace) -> int:
    from halcyon.observe.open_run import open_run
    from halcyon.observe.printed.run import print_run
    from halcyon.observe.recording.folder import say_of_newer_run
    from halcyon.observe.report_tables import report_tables
    from halcyon.printed.plain import as_json

    say_of_newer_run(arguments.path)
    with open_run(arguments.path, arguments.engine) as dataset:
        tables = report_tables(dataset)
    if arguments.json:
        sys.stdout.write(as_json(tables))
    else:
        print_run(tables)
    return 0


def _many(arguments: argparse.Namespace) -> int:
    from halcyon.observe.analysis.machine import read_machine
    from halcyon.observe.printed.machine import print_machine, reading_runs
    from halcyon.printed.plain import as_json

    with reading_runs() as told:
        machine = read_machine(arguments.path, arguments.engine, told=told, keep=arguments.keep)
    if arguments.json:
        sys.stdout.write(as_json(machine))
    else:
        print_machine(machine)
    return 0
