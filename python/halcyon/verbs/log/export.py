"""`halcyon log export --plfs PATH DEST`"""

import argparse
from pathlib import Path

from halcyon.verbs.log.container_words import add_json, add_path, print_json, shown_progress

SUMMARY = "write what a container holds in the format of another program"
DESCRIPTION = (
    "Writes a container of PLFS 2.x: DEST is the file's path below a backend of PLFS; nothing may have that name yet. "
    "It has its name only when all of it is on the device; Ctrl-C leaves nothing. Exit code 1: DEST exists, the "
    "container is damaged, somebody is writing it, or there is no room."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plfs", action="store_true", required=True, help="for PLFS 2.x, the only format so far")
    add_path(parser)
    parser.add_argument("target", metavar="DEST", type=Path, help="the new container of PLFS")
    parser.add_argument("--no-verify", action="store_true", help="take data that do not fit the sums over them, too")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from halcyon import logfs
    from halcyon.logfs.printed import say
    from halcyon.printed.tables import console_for_tables
    from halcyon.quantities import plural, size

    path: Path = arguments.path
    target: Path = arguments.target
    with shown_progress("exporting") as progress:
        done = logfs.export_plfs(path, target, verify=not arguments.no_verify, progress=progress)
    if arguments.json:
        print_json(path, done)
    else:
        records = plural(done.records, "record")
        say(console_for_tables(), f"{target}: {size(done.size)} as a container of PLFS, with {records} in its index")
    return 0
