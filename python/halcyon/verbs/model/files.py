"""`halcyon model files`"""

import argparse
import sys

from halcyon.verbs.model.option_types import counts

SUMMARY = "how many files the ranks of a job create"
DESCRIPTION = (
    "Prints how many files a job creates where all ranks write one shared file, where each rank writes a file of its "
    "own, and where each rank writes a log, which is two files: its data and its index."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ranks", metavar="N,N…", type=counts, required=True, help="print these numbers of ranks")
    parser.add_argument("--json", action="store_true", help="print everything for machines")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.models.interference import files
    from halcyon.models.printed.files import print_files
    from halcyon.printed.plain import as_json
    from halcyon.printed.tables import console_for_tables

    rows = files(arguments.ranks)
    if arguments.json:
        sys.stdout.write(as_json({"rows": rows}))
    else:
        print_files(rows, console_for_tables())
    return 0
