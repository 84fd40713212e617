"""`halcyon diff A B`"""

import argparse
import re
import sys
from pathlib import Path

SUMMARY = "compare the stored data of two runs or files, value for value"
DESCRIPTION = (
    "Compares datasets and attributes, never file bytes. Prints each difference, then how large those of each dataset "
    "are at most; exit code 0 when there is none, 1 when there are some, 2 when there is nothing to compare."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", type=Path, help="directory of a run, or an HDF5 file")
    parser.add_argument("b", metavar="B", type=Path, help="what to compare it with")
    parser.add_argument(
        "--iterations",
        metavar="FIRST:LAST",
        type=iteration_range,
        help="compare only these; either end may be left out",
    )


def iteration_range(text: str) -> range:
    """`3:7` is 3 to 7, both included; `:7` begins with 0, `3:` does not end."""
    found = re.fullmatch(r"(\d*):(\d*)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not FIRST:LAST, as in 0:9, :9 or 5:")
    first, last = found.groups()
    if last and int(first or 0) > int(last):
        raise argparse.ArgumentTypeError(f"{text!r} ends before it begins; FIRST:LAST, as in {last}:{first}")
    return range(int(first or 0), int(last) + 1 if last else sys.maxsize)


def run(arguments: argparse.Namespace) -> int:
    from halcyon.offload.diff import diff, largest_differences

    differences = diff(arguments.a, arguments.b, arguments.iterations)
    for difference in differences:
        print(difference)
    for dataset, size in largest_differences(differences).items():
        print(f"{dataset}: {size}")
    return 1 if differences else 0
