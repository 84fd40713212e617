"""`halcyon convert damaris.xml`"""

import argparse
import sys
from pathlib import Path

SUMMARY = "turn a Damaris XML file into halcyon.yaml"
DESCRIPTION = (
    "Prints the halcyon.yaml that says what a Damaris XML file says. What has no counterpart is said on stderr."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("xml", metavar="damaris.xml", type=Path, help="the Damaris configuration")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.damaris_xml import convert

    sys.stdout.write(convert(arguments.xml))
    return 0
