"""`halcyon check halcyon.yaml`"""

import argparse
from pathlib import Path

SUMMARY = "check a configuration without running anything"
DESCRIPTION = (
    "Reads a halcyon.yaml as a simulation would and says where it is wrong: file, line, key path, known names."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", metavar="halcyon.yaml", type=Path, help="the configuration")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.compiled import core

    print(core().check(str(arguments.config)))
    return 0
