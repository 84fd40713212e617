"""`halcyon check [--ranks N [--ranks-per-node M]] halcyon.yaml`"""

import argparse
import sys
from pathlib import Path

SUMMARY = "check a configuration without running anything"
DESCRIPTION = (
    "Reads a halcyon.yaml as a simulation would and says what would be refused: file, line, key path, known names, "
    "modules that cannot be loaded. With --ranks also a buffer that is too small. Blocks that overlap or leave holes "
    "and meshes that do not fit are warnings: a run does not stop for them. Exit code 1: it would be refused."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--ranks",
        metavar="N",
        type=int,
        help="also check a run of N ranks: every block, its place, the buffer; and say how much it writes",
    )
    parser.add_argument(
        "--ranks-per-node",
        metavar="M",
        type=int,
        help="how many of them share a node and its buffer (default: all)",
    )
    parser.add_argument("config", metavar="halcyon.yaml", type=Path, help="the configuration")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.compiled import core
    from halcyon.errors import UsageError

    for option, given in (("--ranks", arguments.ranks), ("--ranks-per-node", arguments.ranks_per_node)):
        if given is not None and given < 1:
            raise UsageError(f"{option} {given}: expected 1 or more")
    if arguments.ranks_per_node is not None and arguments.ranks is None:
        raise UsageError("--ranks-per-node needs to know of how many: add --ranks N")
    found = core().check(str(arguments.config), arguments.ranks or 0, arguments.ranks_per_node or 0)
    print(found.summary, flush=True)
    for warning in found.warnings:
        print(f"halcyon: warning: {warning}", file=sys.stderr)
    for refusal in found.refusals:
        print(f"halcyon: {refusal}", file=sys.stderr)
    return 1 if found.refusals else 0
