"""`halcyon testbed status`"""

import argparse
import sys

SUMMARY = "show the test bed, and what is wrong with it"
DESCRIPTION = (
    "Prints hosts, addresses, links, mounts and capacity of the test bed. The exit code is 1 where a daemon of it has "
    "ended, such as a brick: files on that host cannot be reached then."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print everything for machines")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.printed.plain import as_json
    from halcyon.printed.tables import console_for_tables
    from halcyon.testbed.bed import Bed
    from halcyon.testbed.status import print_status, status_of

    told = status_of(Bed.standing())
    if arguments.json:
        sys.stdout.write(as_json(told))
    else:
        print_status(told, console_for_tables())
    return 1 if told.ended else 0
