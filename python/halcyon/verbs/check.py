"""`halcyon check [--ranks N [--ranks-per-node M]] [--set NAME=VALUE …] halcyon.yaml`"""

import argparse
import sys
from pathlib import Path

SUMMARY = "check a configuration without running anything"
DESCRIPTION = (
    "Reads a halcyon.yaml as a simulation would and says what would be refused: file, line, key path, known names, "
    "modules that cannot be loaded, an output or log directory that cannot be made or written, a buffer beyond the "
    "memory of this machine. With --ranks also a buffer that is too small. No stores, blocks that overlap or leave "
    "holes and meshes that do not fit are warnings: a run does not stop for them. The last line says OK, and "
    "what was looked at. Exit code 1: it would be refused."
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
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        type=setting,
        action="append",
        default=[],
        dest="parameters",
        help="a parameter that the simulation sets before it opens its session; may be given several times",
    )
    parser.add_argument("config", metavar="halcyon.yaml", type=Path, help="the configuration")


def setting(text: str) -> tuple[str, float]:
    """`nx=64`"""
    name, equals, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = None
    if not name or not equals or number is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE with a number, as in nx=64")
    return name, number


def run(arguments: argparse.Namespace) -> int:
    from halcyon.compiled import core
    from halcyon.errors import UsageError

    for option, given in (("--ranks", arguments.ranks), ("--ranks-per-node", arguments.ranks_per_node)):
        if given is not None and given < 1:
            raise UsageError(f"{option} {given}: expected 1 or more")
    if arguments.ranks_per_node is not None and arguments.ranks is None:
        raise UsageError("--ranks-per-node needs to know of how many: add --ranks N")
    found = core().check(
        str(arguments.config), arguments.ranks or 0, arguments.ranks_per_node or 0, dict(arguments.parameters)
    )
    print(found.summary, flush=True)
    for warning in found.warnings:
        print(f"halcyon: warning: {warning}", file=sys.stderr)
    for refusal in found.refusals:
        print(f"halcyon: {refusal}", file=sys.stderr)
    if found.refusals:
        return 1
    sys.stderr.flush()
    print(found.verdict)
    return 0
