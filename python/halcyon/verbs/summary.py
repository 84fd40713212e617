"""`halcyon summary RUN…`"""

import argparse
import sys
from pathlib import Path

SUMMARY = "print what happened in a run, or compare several"
DESCRIPTION = (
    "Prints what runs left behind: first the counts of whatever was dropped, skipped, spilled, inlined, switched, "
    "incomplete, restarted or lost, then times, bytes and throughput. Several runs are compared side by side."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="+", type=Path, help="directory of a run (holds run.json)")
    parser.add_argument("--json", action="store_true", help="print numbers for machines, in SI units")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.comparison import open_comparison
    from halcyon.summary.machine import as_json
    from halcyon.summary.text import print_summary

    comparison = open_comparison(arguments.runs)
    if arguments.json:
        sys.stdout.write(as_json(comparison))
    else:
        print_summary(comparison)
    return 0
