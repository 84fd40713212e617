"""`halcyon log flatten PATH`"""

import argparse
import os
from pathlib import Path

from halcyon.verbs.log.container_words import add_json, add_path, print_json, shown_progress

SUMMARY = "make a plain file of a container"
DESCRIPTION = (
    "Writes what the container holds into a plain file, with its mode: sparse where the container has holes. The file "
    "has its name only when all of it is on the device; Ctrl-C leaves nothing. Containers of PLFS are taken, too. Exit "
    "code 1: the container is damaged, somebody is writing it, or there is no room; then all is as before."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_path(parser)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("-o", "--output", metavar="FILE", type=Path, help="the plain file; the container stays")
    where.add_argument(
        "--in-place",
        action="store_true",
        help="the plain file takes the container's name, when each writer has closed it or is known to have ended",
    )
    parser.add_argument("--force", action="store_true", help="replace FILE where something has that name")
    parser.add_argument(
        "--ignore-writers",
        action="store_true",
        help="in place also where a process may have the container open: what that writes from then on is lost",
    )
    parser.add_argument("--no-verify", action="store_true", help="take data that do not fit the sums over them, too")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from halcyon import logfs
    from halcyon.errors import UsageError
    from halcyon.logfs.printed import say, say_conflicts
    from halcyon.printed.tables import console_for_tables
    from halcyon.quantities import size

    path: Path = arguments.path
    target: Path = path if arguments.in_place else arguments.output
    if not arguments.in_place and not arguments.force and os.path.lexists(target):
        raise UsageError(f"-o {target}: something has that name; --force replaces it, --in-place a container")
    with shown_progress("flattening") as progress:
        done = logfs.flatten(
            path,
            target,
            verify=not arguments.no_verify,
            ignore_writers=arguments.ignore_writers,
            progress=progress,
        )
    if arguments.json:
        print_json(path, done)
    else:
        holes = done.size - done.written_bytes
        console = console_for_tables()
        say(console, f"{target}: {size(done.size)}{f', {size(holes)} of them in holes' if holes else ''}")
        say_conflicts(target, done.conflict_bytes, console, is_plain=True)
    return 0
