"""`halcyon log remove PATH`"""

import argparse
from pathlib import Path

from halcyon.verbs.log.container_words import add_path

SUMMARY = "remove a container with all that is in it"
DESCRIPTION = (
    "Removes a container. Its name is gone at once; where that is interrupted, a directory .halcyon-removed-… remains "
    "beside it, which `halcyon log drain` of the folder removes. What is no container is left alone. Exit code 1: it "
    "could not be removed."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_path(parser)


def run(arguments: argparse.Namespace) -> int:
    from halcyon import logfs

    path: Path = arguments.path
    logfs.remove(path)
    return 0
