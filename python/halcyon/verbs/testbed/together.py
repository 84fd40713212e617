"""`halcyon testbed together`"""

import argparse
import sys
from pathlib import Path

from halcyon.verbs.two_commands import two_commands

SUMMARY = "run two programs, each alone and both at once, and print how much they slow each other down"
DESCRIPTION = (
    "Runs A alone, B alone, both at once, and B again, and counts what crosses the links. Prints for both how long "
    "they moved data, and the interference factor: the time beside the other over the time alone. A command runs on "
    "each of its hosts, as with `halcyon testbed exec`; it writes into $TESTBED_MOUNT, or all of $TESTBED_MOUNTS (name "
    "them in a shell: sh -c '…'). The exit code is 1 where the storage hosts' links were not the limit, or where B "
    "differs from itself: such times say nothing about interference."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "halcyon testbed together --a-on HOST,… --b-on HOST,… [--rounds N] [-o PICTURE] [--json] -- A … -- B …"
    )
    parser.add_argument("--a-on", metavar="HOST,…", required=True, help="hosts of A, such as c1,c2,c3")
    parser.add_argument("--b-on", metavar="HOST,…", required=True, help="hosts of B; none of A's")
    parser.add_argument("--rounds", metavar="N", type=int, default=3, help="rounds (default: %(default)s)")
    parser.add_argument("-o", "--output", metavar="PICTURE", type=Path, help="draw both into this file, .svg or .png")
    parser.add_argument("--json", action="store_true", help="print everything for machines, in SI units")
    parser.add_argument("commands", metavar="COMMAND", nargs="+", help="A, --, and B, after --")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.figures.picture_path import picture_path
    from halcyon.printed.plain import as_json
    from halcyon.printed.tables import console_for_tables
    from halcyon.process_session import ended_in_order
    from halcyon.testbed.bed import Bed
    from halcyon.testbed.metered import Program
    from halcyon.testbed.together import compare
    from halcyon.testbed.together_text import as_dict, print_compared

    if arguments.output is not None:
        picture_path(arguments.output)
    a_command, b_command = two_commands(arguments.commands, "halcyon testbed together")
    bed = Bed.standing()
    a = Program("A", _hosts(arguments.a_on), a_command)
    b = Program("B", _hosts(arguments.b_on), b_command)
    with ended_in_order():
        compared = compare(bed, a, b, arguments.rounds)
    if arguments.output is not None:
        from halcyon.testbed.together_picture import draw_compared

        draw_compared(compared, arguments.output)
    if arguments.json:
        sys.stdout.write(as_json(as_dict(compared)))
    else:
        print_compared(compared, console_for_tables())
    return 1 if compared.refusals else 0


def _hosts(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))
