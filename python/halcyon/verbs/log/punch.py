"""`halcyon log punch PATH`"""

import argparse
from pathlib import Path

from halcyon.verbs.log.container_words import add_json, add_path, ended_by_ctrl_c, print_json

SUMMARY = "give back the space of data that later writes have replaced"
DESCRIPTION = (
    "Gives the file system back the blocks of data that synced writes have replaced and no reader reads any more. "
    "Writers and readers may go on. Exit code 1: the file system cannot give blocks back or has no locks, the "
    "container is damaged, or somebody else does the same."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_path(parser)
    parser.add_argument("--wait", action="store_true", help="wait for readers that may still read what is dead")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from halcyon import logfs
    from halcyon.logfs.printed import print_punch
    from halcyon.printed.tables import console_for_tables

    path: Path = arguments.path
    with ended_by_ctrl_c():
        done = logfs.punch(path, wait=arguments.wait)
    if arguments.json:
        print_json(path, done)
    else:
        print_punch(done, path, console_for_tables())
    return 0
