"""`halcyon model interference`"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from halcyon.errors import UsageError
from halcyon.verbs.model.option_types import count, percents

if TYPE_CHECKING:
    from halcyon.models.interference import Concurrency, Constant

SUMMARY = "how probable it is that jobs of a machine do I/O at once"
DESCRIPTION = (
    "Reads when jobs of a machine ran, and on how many cores, from a trace in the Standard Workload Format, also "
    "packed with gzip, or from the output of `sacct -P -o JobID,AllocCPUS,Start,End`. Prints how many jobs run at "
    "once, their sizes, and two probabilities for each share of its time that a job spends in I/O: two or more jobs "
    "are in I/O at a moment (Dorier 2014, eq. 6.2), and a job that starts its I/O finds another one in I/O. Both take "
    "jobs as independent of one another. Jobs that slow each other down are in I/O for longer, and meet more often "
    "than this."
)
_SHARES = "1,2,5,10,15,20,30,50"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "workload", metavar="WORKLOAD", type=Path, nargs="?", help="a trace of jobs: SWF, or the output of sacct -P"
    )
    parser.add_argument(
        "--jobs-at-once",
        metavar="N",
        type=count,
        help="instead of a workload: always N jobs run, each of which meets N - 1 others",
    )
    parser.add_argument(
        "--io-share",
        metavar="PERCENT,…",
        type=percents,
        default=_SHARES,
        help="of its time that a job spends in I/O (default: %(default)s)",
    )
    parser.add_argument(
        "-o", "--output", metavar="PICTURE", type=Path, help="draw the distributions into this file, .svg or .png"
    )
    parser.add_argument("--json", action="store_true", help="print everything for machines, in SI units")


_MOST = 100_000
"""Jobs at once; no machine runs more."""


def run(arguments: argparse.Namespace) -> int:
    from halcyon.models.printed.concurrency import print_answer
    from halcyon.printed.plain import as_json
    from halcyon.printed.tables import console_for_tables

    _check(arguments)
    told = _answer(arguments)
    if arguments.json:
        sys.stdout.write(as_json(told))
    else:
        print_answer(told, console_for_tables())
    return 0


def _answer(arguments: argparse.Namespace) -> "Concurrency | Constant":
    from halcyon.models.interference import concurrency, constant
    from halcyon.models.workload import read_workload

    if arguments.jobs_at_once is not None:
        return constant(arguments.jobs_at_once, arguments.io_share)
    told = concurrency(read_workload(arguments.workload), arguments.io_share)
    if arguments.output is not None:
        from halcyon.models.pictures.concurrency import draw_concurrency

        draw_concurrency(told, arguments.workload.name, arguments.output)
    return told


def _check(arguments: argparse.Namespace) -> None:
    if arguments.workload is None and arguments.jobs_at_once is None:
        raise UsageError("WORKLOAD is missing: a trace in the Standard Workload Format, or the output of sacct -P")
    if arguments.workload is not None and arguments.jobs_at_once is not None:
        raise UsageError("--jobs-at-once goes without a workload, from which the number of jobs follows")
    if arguments.jobs_at_once is not None and arguments.jobs_at_once > _MOST:
        raise UsageError(f"--jobs-at-once {arguments.jobs_at_once}; expected {_MOST} or fewer")
    if arguments.output is None:
        return
    if arguments.workload is None:
        raise UsageError("-o goes with a workload, whose distributions it draws")
    from halcyon.figures.picture_path import picture_path

    picture_path(arguments.output)
