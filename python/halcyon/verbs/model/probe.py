"""`halcyon model probe`"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from halcyon.errors import UsageError
from halcyon.verbs.model.option_types import count, counts

if TYPE_CHECKING:
    from halcyon.models.probe.probing import Probe

SUMMARY = "measure how writers share one storage target"
DESCRIPTION = (
    "Writers write at once, each to a file of its own, and all files lie on one storage target (Wright 2014, figure "
    "6.3). Prints the bandwidth per writer beside that of an ideal target, which divides what one writer gets. Needs "
    "Lustre, or GlusterFS as root. The files are in a directory of their own in DIR, which is removed in the end."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", metavar="DIR", nargs="?", type=Path, help="on the file system to measure")
    parser.add_argument(
        "--writers", metavar="N,N…", type=counts, help="so many at once, besides one alone (default: 2,4,8)"
    )
    parser.add_argument("--rounds", metavar="N", type=count, help="in each, every number takes its turn (default: 7)")
    parser.add_argument("--bytes", metavar="SIZE", help="that each writer writes, each time (default: 32 MiB)")
    parser.add_argument(
        "--target", metavar="NAME", help="the target: OST001a or 26, or the host or brick of GlusterFS (default: any)"
    )
    parser.add_argument(
        "--points",
        metavar="SOURCE",
        help="print what was measured elsewhere beside it, or alone: wright:F.2, or a CSV file with the columns "
        "writers, bytes_per_s and, for intervals, low_bytes_per_s and high_bytes_per_s",
    )
    parser.add_argument(
        "-o", "--output", metavar="PICTURE", type=Path, help="draw it too: a file that ends in .svg or .png"
    )
    parser.add_argument("--json", action="store_true", help="print everything for machines, in SI units")


_WRITERS, _ROUNDS, _BYTES = [2, 4, 8], 7, "32 MiB"
_MEASURES = ("writers", "rounds", "bytes", "target")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.figures.picture_path import picture_path
    from halcyon.models.contention import contention
    from halcyon.models.measurements import read_writers
    from halcyon.printed.plain import as_json
    from halcyon.printed.tables import console_for_tables

    _check(arguments)
    picture = None if arguments.output is None else picture_path(arguments.output)
    points = None if arguments.points is None else contention(arguments.points, read_writers(arguments.points))
    probed = None if arguments.directory is None else _probe(arguments)
    if arguments.json:
        sys.stdout.write(as_json({"probe": probed, "points": points}))
    else:
        from halcyon.models.printed.probe import print_contention, print_probe

        console = console_for_tables()
        if probed is not None:
            print_probe(probed, console)
        if points is not None:
            print_contention(points, console)
    if picture is not None:
        from halcyon.figures.picture_file import save_picture
        from halcyon.models.pictures.contention import draw_contention

        told = [one for one in (None if probed is None else probed.contention, points) if one is not None]
        doubts = "; ".join(probed.doubts) if probed is not None else ""
        save_picture(lambda: draw_contention(told, f"no conclusion: {doubts}" if doubts else ""), picture)
    return 0


def _check(arguments: argparse.Namespace) -> None:
    if arguments.directory is None:
        if arguments.points is None:
            raise UsageError("expected DIR, a directory on the file system to measure, or --points SOURCE")
        for name in _MEASURES:
            if getattr(arguments, name) is not None:
                raise UsageError(f"--{name} goes with DIR, a directory on the file system to measure")


def _probe(arguments: argparse.Namespace) -> "Probe":
    from halcyon.models.probe.probing import probe
    from halcyon.process_session import ended_in_order
    from halcyon.quantities import parse_bytes

    with ended_in_order():
        return probe(
            arguments.directory,
            arguments.writers or _WRITERS,
            arguments.rounds or _ROUNDS,
            parse_bytes(arguments.bytes or _BYTES, "--bytes"),
            arguments.target,
            lambda line: print(line, file=sys.stderr),
        )
