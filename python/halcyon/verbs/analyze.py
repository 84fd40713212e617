"""`halcyon analyze RUN|DIR`"""

import argparse
import sys
from pathlib import Path

SUMMARY = "say how a run did its I/O, what is wrong with it, and what to change"
DESCRIPTION = (
    "Reads one data set (made by `halcyon pack`) and prints what was not seen or lost, findings with their cost "
    "and the "
    "change to make, and tables: bandwidths, time, what MPI-IO calls are made of, phases, sizes and patterns, files, "
    "metadata, servers. Given a folder with several data sets, it compares them: runs, users, programs, months, "
    "servers, "
    "and variability over the parameters of an experiment (X=value in names of folders, or facts called parameter.X)."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="RUN|DIR", type=Path, help="a data set, or a folder of them")
    parser.add_argument(
        "--engine",
        metavar="NAME",
        default="duckdb",
        help="duckdb, local-spark or spark://HOST:PORT (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print everything for machines, in SI units")
    parser.add_argument(
        "--verify", action="store_true", help="compare all files to their checksums first (about a second per GB)"
    )


def run(arguments: argparse.Namespace) -> int:
    from halcyon.observe.analysis.machine import find_datasets

    found = find_datasets(arguments.path)
    return _one(arguments) if found == [arguments.path] else _many(arguments)


def _one(arguments: argparse.Namespace) -> int:
    from halcyon.observe.dataset import Dataset
    from halcyon.observe.printed.plain import as_json
    from halcyon.observe.printed.run import print_run
    from halcyon.observe.report_tables import report_tables

    with Dataset.open(arguments.path, arguments.engine, verify=arguments.verify) as dataset:
        tables = report_tables(dataset)
    if arguments.json:
        sys.stdout.write(as_json(tables))
    else:
        print_run(tables)
    return 0


def _many(arguments: argparse.Namespace) -> int:
    from halcyon.observe.analysis.machine import read_machine
    from halcyon.observe.printed.machine import print_machine
    from halcyon.observe.printed.plain import as_json

    machine = read_machine(arguments.path, arguments.engine)
    if arguments.json:
        sys.stdout.write(as_json(machine))
    else:
        print_machine(machine)
    return 0
