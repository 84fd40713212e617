"""`halcyon model delta`"""

import argparse
import sys
from pathlib import Path

from halcyon.errors import UsageError
from halcyon.verbs.model.option_types import above_zero, count, share, time_above_zero

SUMMARY = "what two applications whose I/O overlaps cost each other"
DESCRIPTION = (
    "Computes the expected Δ-graph of two I/O phases: A starts at 0, and B later by each of several delays, or earlier "
    "where the delay is negative. Prints how long both take where they share the bandwidth by their weights "
    "(interfere), where the second waits for the first (fcfs), and where the first stops for the second (interrupt); "
    "then the core seconds that are spent in I/O, and the best policy for each delay (Dorier 2014, sections 6.1.2 and "
    "6.3.4)."
)
_POINTS = 9
_MOST = 1000
"""More rows than this are not for a reader."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for name in ("a", "b"):
        _add_phase(parser, name)
    parser.add_argument(
        "--points", metavar="N", type=count, default=_POINTS,
        help="delays to print, evenly spaced, and 0 (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="PICTURE", type=Path, help="draw the Δ-graph into this file, .svg or .png"
    )
    parser.add_argument("--json", action="store_true", help="print everything for machines, in SI units")


def _add_phase(parser: argparse.ArgumentParser, name: str) -> None:
    who = name.upper()
    add = parser.add_argument_group(f"application {who}").add_argument
    add(f"--{name}", metavar="TIME", type=time_above_zero, required=True, help=f"I/O time of {who} alone, such as 8s")
    add(f"--{name}-cores", metavar="N", type=count, default=1, help=f"cores that wait for {who}'s I/O (default: 1)")
    add(f"--{name}-demand", metavar="SHARE", type=share, default=1.0,
        help=f"of the storage's bandwidth that {who} takes alone, above 0 up to 1 (default: 1)")  # fmt: skip
    add(f"--{name}-weight", metavar="W", type=above_zero,
        help=f"bandwidth that {who} gets in relation to the other's weight, such as its requests under way "
        f"(default: --{name}-cores)")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    from halcyon.models.interference import Phase, delta_graph, deltas
    from halcyon.models.printed.delta import print_delta
    from halcyon.printed.plain import as_json
    from halcyon.printed.tables import console_for_tables

    _check(arguments)
    one = arguments
    a = Phase(one.a, one.a_demand, one.a_weight or float(one.a_cores), float(one.a_cores))
    b = Phase(one.b, one.b_demand, one.b_weight or float(one.b_cores), float(one.b_cores))
    graph = delta_graph(a, b, deltas(a, b, one.points))
    if one.output is not None:
        from halcyon.models.pictures.delta import draw_delta

        draw_delta(graph, one.output)
    if one.json:
        sys.stdout.write(as_json(graph))
    else:
        print_delta(graph, console_for_tables())
    return 0


def _check(arguments: argparse.Namespace) -> None:
    if not 2 <= arguments.points <= _MOST:
        raise UsageError(f"--points {arguments.points}; expected 2 to {_MOST}")
    if arguments.output is not None:
        from halcyon.figures.picture_path import picture_path

        picture_path(arguments.output)
