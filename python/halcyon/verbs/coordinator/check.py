"""`halcyon coordinator check FILE`"""

import argparse
import subprocess
from pathlib import Path

SUMMARY = "check a coordinators.yaml without running anything"
DESCRIPTION = (
    "Reads FILE as the daemon would, and prints its coordinators or the first mistake: file, line, key path, the value "
    "and the values expected. Exit code 1: the daemon would refuse it. Warnings name times that are allowed, and with "
    "which two applications may have the turn at once for a moment."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", metavar="FILE", type=Path, help="coordinators.yaml")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.coordinate.configuration import find_program

    return subprocess.run([find_program(), f"--check={arguments.config}"], check=False).returncode
