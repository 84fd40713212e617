"""`halcyon testbed check`"""

import argparse
import sys

SUMMARY = "measure what the test bed does, and whether experiments on it will mean anything"
DESCRIPTION = (
    "Measures, in each round, a small application (one writer) alone, beside processes that compute, and beside a "
    "large application (a writer on each of the other mounts). The exit code is 1 where the storage hosts' links were "
    "not the limit, or where the applications hardly disturb each other: measurements on such a bed say nothing about "
    "interference."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", metavar="N", type=int, default=3, help="rounds (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print everything for machines, in SI units")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.printed.plain import as_json
    from halcyon.printed.tables import console_for_tables
    from halcyon.process_session import ended_in_order
    from halcyon.testbed.bed import Bed
    from halcyon.testbed.check import check
    from halcyon.testbed.status import print_checked

    with ended_in_order():
        checked = check(Bed.standing(), arguments.rounds)
    if arguments.json:
        sys.stdout.write(as_json(checked.to_dict()))
    else:
        print_checked(checked, console_for_tables())
    return 1 if checked.refusals else 0
