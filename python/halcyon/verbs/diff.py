"""`halcyon diff A B`"""

import argparse
from pathlib import Path

SUMMARY = "compare the stored data of two runs or files, value for value"
DESCRIPTION = (
    "Compares datasets and attributes, never file bytes. Prints each difference; exit code 0 when there is none, "
    "1 when there are some."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", type=Path, help="directory of a run, or an HDF5 file")
    parser.add_argument("b", metavar="B", type=Path, help="what to compare it with")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.diff import diff

    differences = diff(arguments.a, arguments.b)
    for difference in differences:
        print(difference)
    return 1 if differences else 0
