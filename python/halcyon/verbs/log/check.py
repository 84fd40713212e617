"""`halcyon log check PATH`"""

import argparse
from pathlib import Path

from halcyon.verbs.log.container_words import add_json, add_path, ended_by_ctrl_c, print_json
from halcyon.verbs.rows_option import add_rows

SUMMARY = "say what is wrong with a container, and which bytes that concerns"
DESCRIPTION = (
    "Reads the indexes of a container, and its data where their writers left sums of them; changes nothing. A finding "
    "is a note (nothing is wrong), a loss (as a crash leaves it: nothing that was synced is missing) or damage (reads "
    "fail, or would give wrong bytes). Exit code 1: there is damage, or it could not be checked."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_path(parser)
    parser.add_argument("--no-data", action="store_true", help="do not compare data with their sums: much quicker")
    parser.add_argument("--no-conflicts", action="store_true", help="do not look for bytes that several writers wrote")
    add_rows(parser, "findings shown")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from halcyon import logfs
    from halcyon.logfs.printed import print_check
    from halcyon.printed.tables import console_for_tables

    path: Path = arguments.path
    with ended_by_ctrl_c():
        report = logfs.check(path, data=not arguments.no_data, conflicts=not arguments.no_conflicts)
    if arguments.json:
        print_json(path, report)
    else:
        print_check(report, path, console_for_tables(), arguments.rows)
    return 0 if report.is_sound else 1
