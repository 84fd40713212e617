"""`halcyon export --to otf2|chrome|csv -o PATH RUN`"""

import argparse
from pathlib import Path

SUMMARY = "write a run in another tool's format"
DESCRIPTION = (
    "otf2: a folder with an OTF2 archive, for Vampir and otf2-print. chrome: a JSON file of trace events for Perfetto "
    "and chrome://tracing, compressed when its name ends in .gz. csv: a folder with one CSV file for each table."
)
FORMATS = ("otf2", "chrome", "csv")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", choices=FORMATS, required=True, help="the format")
    parser.add_argument(
        "-o", "--output", metavar="PATH", type=Path, required=True, help="file or folder to write; must not exist"
    )
    parser.add_argument("path", metavar="RUN", type=Path, help="a recorded run, a data set, or another tool's trace")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.observe.open_run import open_run
    from halcyon.observe.writers import writer_of

    with open_run(arguments.path) as dataset:
        writer_of(arguments.to)(dataset, arguments.output)
    return 0
