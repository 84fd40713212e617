"""`halcyon check [--ranks N] halcyon.yaml`"""

import argparse
from pathlib import Path

SUMMARY = "check a configuration without running anything"
DESCRIPTION = (
    "Reads a halcyon.yaml as a simulation would and says where it is wrong: file, line, key path, known names."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--ranks",
        metavar="N",
        type=int,
        help="also evaluate every block of a run of N ranks, and say how much it writes",
    )
    parser.add_argument("config", metavar="halcyon.yaml", type=Path, help="the configuration")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.compiled import core
    from halcyon.errors import UsageError

    if arguments.ranks is not None and arguments.ranks < 1:
        raise UsageError(f"--ranks {arguments.ranks}: a run has at least one rank")
    print(core().check(str(arguments.config), arguments.ranks or 0))
    return 0
