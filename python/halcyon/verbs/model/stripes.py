"""`halcyon model stripes`"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from halcyon.errors import UsageError

if TYPE_CHECKING:
    from halcyon.models.stripes import LoadTable, Logs, Purchase, Recommendation

SUMMARY = "how many storage targets jobs use, and how many stripes meet on one"
DESCRIPTION = (
    "Jobs whose files a file system spreads over random storage targets meet on some of them. Prints how many of "
    "--total targets N jobs with --request stripes each use on average, and their load: the stripes on a target in "
    "use (Wright 2014, section 6.2). With --logs, each rank of one job writes a file of its own (section 6.3). With "
    "--recommend, prints the request and the number of targets that keep the load; with --measured, the smallest "
    "request that costs little bandwidth."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--total", metavar="N", type=_count, required=True, help="storage targets of the file system")
    parser.add_argument(
        "--request",
        metavar="R",
        type=_count,
        help="stripes of a job's file; with --logs of a rank's (default: 2)",
    )
    parser.add_argument(
        "--jobs", metavar="N", type=_count, default=10, help="jobs that do I/O at once (default: %(default)s)"
    )
    parser.add_argument("--logs", action="store_true", help="one file per rank, as log-structured file layers write")
    parser.add_argument(
        "--ranks",
        metavar="N,N…",
        type=_counts,
        default="16,32,64,128,256,512,1024,2048,4096",
        help="--logs: print these numbers of ranks (default: 16 to 4096)",
    )
    parser.add_argument(
        "--ranks-per-node", metavar="N", type=_count, default=1, help="--logs: count in whole nodes of N ranks"
    )
    parser.add_argument("--recommend", action="store_true", help="print what to request, and how many targets to buy")
    parser.add_argument(
        "--load",
        metavar="L",
        type=float,
        help="--recommend: the load to keep (default: 1.5); --logs: name the ranks that reach it (default: 3)",
    )
    parser.add_argument(
        "--measured",
        metavar="CSV",
        type=Path,
        help="--recommend: bandwidths of one job by stripe count: columns striping_factor and bytes_per_s, such as "
        "measurements.csv of `halcyon advise --sweep`",
    )
    parser.add_argument(
        "--accept-loss",
        metavar="PERCENT",
        type=float,
        default=20.0,
        help="--measured: bandwidth that a smaller request may cost (default: %(default)g %%)",
    )
    parser.add_argument("--json", action="store_true", help="print everything for machines, in SI units")


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= 1 << 40:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 1 to 2^40")
    return int(text)


def _counts(text: str) -> list[int]:
    return [_count(word) for word in text.split(",")]


_ROWS = 1000
"""More rows than this are not for a reader."""
_LOAD = 1.5
"""That --recommend keeps."""


def run(arguments: argparse.Namespace) -> int:
    from halcyon.models.printed import print_answer
    from halcyon.observe.printed.plain import as_json
    from halcyon.observe.printed.tables import console_for_tables

    _check(arguments)
    answer = _answer(arguments)
    if arguments.json:
        sys.stdout.write(as_json(answer))
    else:
        print_answer(answer, console_for_tables())
    return 0


def _answer(arguments: argparse.Namespace) -> "LoadTable | Logs | Recommendation | Purchase":
    from halcyon.models import stripes
    from halcyon.models.measurements import read_measured

    total, jobs, load = arguments.total, arguments.jobs, arguments.load
    if arguments.logs:
        return stripes.logs(
            total,
            arguments.ranks,
            stripes=arguments.request or stripes.STRIPES_OF_A_LOG,
            limit=stripes.GOOD_LOAD if load is None else load,
            per_node=arguments.ranks_per_node,
        )
    if arguments.measured is not None:
        return stripes.recommend(total, jobs, read_measured(arguments.measured), arguments.accept_loss / 100)
    if arguments.recommend:
        return stripes.purchase(total, jobs, arguments.request, _LOAD if load is None else load)
    return stripes.LoadTable(total, stripes.load_table(total, arguments.request, range(1, jobs + 1)))


def _check(arguments: argparse.Namespace) -> None:
    if arguments.measured is not None and not arguments.recommend:
        raise UsageError("--measured goes with --recommend")
    if arguments.logs and arguments.recommend:
        raise UsageError("--logs and --recommend answer different questions; give one of them")
    if arguments.load is not None and not (arguments.logs or arguments.recommend):
        raise UsageError("--load goes with --recommend or --logs")
    if arguments.request is None and not arguments.logs and arguments.measured is None:
        raise UsageError("--request R is missing: the stripes of each job's file")
    if arguments.jobs > _ROWS and not arguments.logs and not arguments.recommend:
        raise UsageError(f"--jobs {arguments.jobs}; expected {_ROWS} or fewer, one line each")
    if arguments.measured is not None and arguments.request is not None:
        raise UsageError("--request goes without --measured, whose file names the requests")
