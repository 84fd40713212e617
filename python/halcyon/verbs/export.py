"""`halcyon export --to otf2|chrome|csv -o PATH DATASET`"""

import argparse
from pathlib import Path

SUMMARY = "write a data set in another tool's format"
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
    parser.add_argument("dataset", metavar="DATASET", type=Path, help="the data set's folder")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.observe.dataset import Dataset
    from halcyon.observe.writers import writer_of

    with Dataset.open(arguments.dataset) as dataset:
        writer_of(arguments.to)(dataset, arguments.output)
    return 0
