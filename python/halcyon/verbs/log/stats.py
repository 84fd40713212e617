"""`halcyon log stats PATH`"""

import argparse
from pathlib import Path

from halcyon.verbs.log.container_words import add_json, add_path, ended_by_ctrl_c, print_json

SUMMARY = "print figures of a container"
DESCRIPTION = (
    "Prints the size of the file and of its holes, how many writers there were, how large the index is against the "
    "data, how much of the space on the device holds data that nothing reads any more, and how much of the data is "
    "durable: synced by its writer, and on the container's own device. Exit code 1: the container is damaged."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_path(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from halcyon import logfs
    from halcyon.logfs.printed import print_figures
    from halcyon.printed.tables import console_for_tables

    path: Path = arguments.path
    with ended_by_ctrl_c():
        figures = logfs.stats(path)
    if arguments.json:
        print_json(path, figures)
    else:
        print_figures(figures, path, console_for_tables())
    return 0
