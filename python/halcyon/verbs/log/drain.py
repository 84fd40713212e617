"""`halcyon log drain PATH`"""

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path

from halcyon.verbs.coordination_words import add_coordination, coordination_of
from halcyon.verbs.log.container_words import add_json, ended_by_ctrl_c, print_json, shown_progress

SUMMARY = "wait until data that lie on disks of nodes are in their containers"
DESCRIPTION = (
    "After `halcyon run --log … --stage …`, data may lie on disks of nodes. Brings those of this node into their "
    "containers, and waits until other nodes have done the same: all of it is durable then. With --flatten, makes "
    "plain files of the containers behind that, and waits until nobody has them open. With --coordinate it takes turns "
    "with other jobs, as an application of its own. What killed processes have left of removed containers goes. "
    "Whatever ends the command, the next one goes on where it was. Exit code 1: something is left, and standard error "
    "says why."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=Path, help="the container, or a directory with containers")
    parser.add_argument("--flatten", action="store_true", help="make plain files of the containers, in their place")
    how_long = parser.add_mutually_exclusive_group()
    how_long.add_argument(
        "--timeout", metavar="SECONDS", type=float, help="wait no longer (default: as long as it takes)"
    )
    how_long.add_argument("--no-wait", action="store_true", help="do what can be done here and now")
    parser.add_argument(
        "--rate", metavar="SIZE", help="bytes that are written per second, at most (default: as many as can be)"
    )
    parser.add_argument(
        "--coordinate", action="store_true", help="take turns with other jobs at file systems that have a coordinator"
    )
    add_coordination(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from halcyon.logfs.draining import drain
    from halcyon.logfs.pace import Pace
    from halcyon.logfs.printed import say, say_conflicts
    from halcyon.printed.tables import console_for_tables
    from halcyon.quantities import parse_bytes, plural, size

    path: Path = arguments.path
    coordination = coordination_of(arguments)
    rate = parse_bytes(arguments.rate, "--rate") if arguments.rate else 0

    def tell(left: dict[str, str]) -> None:
        for container, why in left.items():
            print(f"halcyon: {container}: {_without_path(why, container)}", file=sys.stderr)

    # Who waits for a turn looks at no signal: Ctrl-C ends the process at once then, without a bar on the terminal.
    waits = ended_by_ctrl_c() if coordination else nullcontext()
    with waits, shown_progress("draining", is_shown=coordination is None) as progress:
        pace = Pace(rate, coordination) if rate or coordination else None
        done = drain(
            path,
            flatten=arguments.flatten,
            wait_s=0 if arguments.no_wait else arguments.timeout,
            progress=progress,
            pace=pace,
            on_wait=tell,
        )
    for remark in pace.take_remarks() if pace else ():
        print(f"halcyon: {remark}", file=sys.stderr)
    if arguments.json:
        print_json(path, done)
    else:
        plain = f"; {plural(done.flattened, 'container')} made plain" if arguments.flatten else ""
        say(
            console_for_tables(),
            f"{path}: {plural(done.containers, 'container')}; {size(done.brought_bytes)} brought from this node{plain}",
        )
        for container, conflict_bytes in done.conflicts.items():
            say_conflicts(Path(container), conflict_bytes, console_for_tables(), is_plain=True)
    tell(done.left)
    return 1 if done.left else 0


def _without_path(why: str, container: str) -> str:
    return why.removeprefix(f"{container}: ")
