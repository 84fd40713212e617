"""`halcyon log drain PATH`"""

import argparse
import sys
from pathlib import Path

from halcyon.verbs.log.container_words import add_json, print_json, shown_progress

SUMMARY = "wait until data that lie on disks of nodes are in their containers"
DESCRIPTION = (
    "After `halcyon run --log … --stage …`, data may lie on disks of nodes. Brings those of this node into their "
    "containers, and waits until other nodes have done the same: all of it is durable then. With --flatten, makes "
    "plain files of the containers behind that, and waits until nobody has them open. Whatever ends the command, the "
    "next one goes on where it was. Exit code 1: something is left, and standard error says why."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=Path, help="the container, or a directory with containers")
    parser.add_argument("--flatten", action="store_true", help="make plain files of the containers, in their place")
    how_long = parser.add_mutually_exclusive_group()
    how_long.add_argument(
        "--timeout", metavar="SECONDS", type=float, help="wait no longer (default: as long as it takes)"
    )
    how_long.add_argument("--no-wait", action="store_true", help="do what can be done here and now")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from halcyon.logfs.draining import drain
    from halcyon.logfs.printed import say
    from halcyon.printed.tables import console_for_tables
    from halcyon.quantities import plural, size

    path: Path = arguments.path

    def tell(left: dict[str, str]) -> None:
        for container, why in left.items():
            print(f"halcyon: {container}: {_without_path(why, container)}", file=sys.stderr)

    with shown_progress("draining") as progress:
        done = drain(
            path,
            flatten=arguments.flatten,
            wait_s=0 if arguments.no_wait else arguments.timeout,
            progress=progress,
            on_wait=tell,
        )
    if arguments.json:
        print_json(path, done)
    else:
        plain = f"; {plural(done.flattened, 'container')} made plain" if arguments.flatten else ""
        say(
            console_for_tables(),
            f"{path}: {plural(done.containers, 'container')}; {size(done.brought_bytes)} brought from this node{plain}",
        )
    tell(done.left)
    return 1 if done.left else 0


def _without_path(why: str, container: str) -> str:
    return why.removeprefix(f"{container}: ")
