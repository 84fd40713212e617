"""`halcyon log repair PATH`"""

import argparse
from pathlib import Path

from halcyon.verbs.log.container_words import add_json, add_path, print_json

SUMMARY = "make a damaged container one that can be read"
DESCRIPTION = (
    "Cuts torn ends, takes the sound records of damaged indexes into new ones, cuts from indexes what their data "
    "droppings do not hold, and puts aside data that no index names. A copy of each file that is replaced stays beside "
    "it, as damaged.…; sound droppings are left alone. Lost bytes stay lost: where a lost write had replaced older "
    "bytes, those are read again. Exit code 1: it could not be repaired; with --dry-run: there is something to repair."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_path(parser)
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument(
        "--ignore-writers",
        action="store_true",
        help="also what a process of this node may still be writing: what that writes from then on is lost",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from halcyon import logfs
    from halcyon.logfs.printed import say
    from halcyon.printed.tables import console_for_tables
    from halcyon.quantities import plural, size

    path: Path = arguments.path
    done = logfs.repair(path, dry_run=arguments.dry_run, ignore_writers=arguments.ignore_writers)
    if arguments.json:
        print_json(path, done)
    else:
        console = console_for_tables()
        for line in done.done:
            say(console, line)
        lost = [
            f"{size(done.cut_bytes)} of data are lost" if done.cut_bytes else "",
            f"synced records are lost in {plural(done.lost_records_in, 'index', 'indexes')}"
            if done.lost_records_in
            else "",
        ]
        known = [each for each in lost if each]
        what = "there is something to repair" if arguments.dry_run else "repaired"
        say(console, f"{path}: {'; '.join([what, *known]) if done.done else 'nothing to repair'}")
    return 1 if arguments.dry_run and done.done else 0
