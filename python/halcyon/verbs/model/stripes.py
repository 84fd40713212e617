"""`halcyon model stripes`"""

import argparse
import sys
from pathlib import Path

from halcyon.errors import UsageError
from halcyon.verbs.model.option_types import count, counts
from halcyon.verbs.model.stripes_answers import JOBS, answer_of

SUMMARY = "how many storage targets jobs use, and how many stripes meet on one"
DESCRIPTION = (
    "Jobs whose files a file system spreads over random storage targets meet on some of them. Prints how many of "
    "--total targets N jobs with --request stripes each use on average, and their load: the stripes on a target in "
    "use (Wright 2014, section 6.2). Other questions: --logs, a file per rank (section 6.3); --recommend, what to "
    "request, and how many targets to buy; --measured, what a sweep over stripe count and size shows (section 6.1); "
    "--from, the load of jobs as they were recorded; --targets, where the files of a directory lie. SOURCE is a CSV "
    "file with a line of names, or a published table: wright:6.2, 6.3, 6.5, F.1, G, G.1 to G.9; wright:6.5/1 is one "
    "experiment."
)
_MODES = {
    "logs": "one file per rank, as log-structured file layers write",
    "recommend": "print what to request, and how many targets to buy; with --measured, the smallest request that costs "
    "little bandwidth",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--total", metavar="N", type=count, help="storage targets; needed but for --targets, which asks the file system"
    )
    parser.add_argument(
        "--request",
        metavar="R,R…",
        type=counts,
        help="stripes of a job's file, a table each; with --logs of a rank's (default: 2)",
    )
    parser.add_argument("--jobs", metavar="N", type=count, help=f"jobs that do I/O at once (default: {JOBS})")
    questions = parser.add_argument_group("Other Questions")
    for name, told in _MODES.items():
        questions.add_argument(f"--{name}", action="store_true", help=told)
    questions.add_argument(
        "--from",
        dest="runs",
        metavar="RUN",
        nargs="+",
        type=Path,
        help="recorded runs or data sets, a job each, with the layouts of their files as recorded",
    )
    questions.add_argument(
        "--targets",
        metavar="DIR|SOURCE",
        help="files below a directory on Lustre or GlusterFS; or columns stripes, targets and request",
    )
    questions.add_argument(
        "--measured",
        metavar="SOURCE",
        help="bandwidths of one job: columns striping_factor, bytes_per_s and, if varied, striping_unit, such as "
        "measurements.csv of `halcyon advise --sweep`",
    )
    _add_details(parser.add_argument_group("Details of Questions"))
    parser.add_argument(
        "-o", "--output", metavar="PICTURE", type=Path, help="draw it too: a file that ends in .svg or .png"
    )
    parser.add_argument("--json", action="store_true", help="print everything for machines, in SI units")


def _add_details(parser: "argparse._ArgumentGroup") -> None:
    parser.add_argument(
        "--ranks", metavar="N,N…", type=counts, help="--logs: print these numbers of ranks (default: 16 to 4096)"
    )
    parser.add_argument("--ranks-per-node", metavar="N", type=count, help="--logs: count in whole nodes of N ranks")
    parser.add_argument(
        "--load",
        metavar="L",
        type=float,
        help="--recommend, --from: the load to keep (default: 1.5); --logs: name the ranks that reach it (default: 3)",
    )
    parser.add_argument(
        "--accept-loss",
        metavar="PERCENT",
        type=float,
        help="--measured: bandwidth that a smaller request may cost (default: 20 %%)",
    )
    parser.add_argument(
        "--start",
        metavar="N,SIZE",
        help="--measured: stripes and their size before the sweep (default: the first line)",
    )
    parser.add_argument(
        "--points",
        metavar="SOURCE",
        action="append",
        help="print what was measured beside it: columns jobs (with --logs: ranks), request and in_use; with --logs "
        "also bandwidths: columns ranks, shared_bytes_per_s and logs_bytes_per_s",
    )


_ROWS = 1000
"""More rows than this are not for a reader."""
_JOBS = 1_000_000
"""At once; no machine runs more."""
_GOES_WITH = {
    "request": ("", "--logs", "--recommend"),
    "jobs": ("", "--recommend", "--measured"),
    "ranks": ("--logs",),
    "ranks_per_node": ("--logs",),
    "load": ("--recommend", "--logs", "--from"),
    "measured": ("--recommend", "--measured"),
    "accept_loss": ("--measured", "--recommend"),
    "start": ("--measured",),
    "points": ("", "--logs", "--recommend"),
}
"""Options of some questions; the one without a name is the table of loads."""


def run(arguments: argparse.Namespace) -> int:
    from halcyon.figures.picture_path import picture_path

    mode = _mode(arguments)
    _check(arguments, mode)
    picture = None if arguments.output is None else picture_path(arguments.output)
    answer = answer_of(arguments, mode)
    if arguments.json:
        from halcyon.printed.plain import as_json

        sys.stdout.write(as_json(answer))
    else:
        from halcyon.models.printed import print_answer
        from halcyon.printed.tables import console_for_tables

        print_answer(answer, console_for_tables())
    if picture is not None:
        from halcyon.figures.picture_file import save_picture
        from halcyon.models.pictures import draw_answer

        save_picture(lambda: draw_answer(answer), picture)
    return 0


def _mode(arguments: argparse.Namespace) -> str:
    """The question; "" for the table of loads. UsageError: there are two."""
    given = {
        "--logs": arguments.logs,
        "--recommend": arguments.recommend,
        "--from": arguments.runs is not None,
        "--targets": arguments.targets is not None,
    }
    named = [name for name, is_given in given.items() if is_given]
    if len(named) > 1:
        raise UsageError(f"{named[0]} and {named[1]} answer different questions; give one of them")
    if named:
        return named[0]
    return "" if arguments.measured is None else "--measured"


def _check(arguments: argparse.Namespace, mode: str) -> None:
    for name, modes in _GOES_WITH.items():
        if getattr(arguments, name) is not None and mode not in modes:
            option, rest = f"--{name.replace('_', '-')}", [one for one in modes if one]
            raise UsageError(f"{option} goes with {' or '.join(rest)}" if not mode else f"{option} goes without {mode}")
    by_measurements = arguments.measured is not None
    if arguments.total is None and mode != "--targets":
        raise UsageError("--total N is missing: the storage targets of the file system")
    if arguments.request is None and (mode == "" or (mode == "--recommend" and not by_measurements)):
        raise UsageError("--request R is missing: the stripes of each job's file")
    if arguments.request is not None and len(arguments.request) > 1 and mode:
        raise UsageError(f"--request: {len(arguments.request)} requests; {mode} takes one")
    if (arguments.jobs or 0) > _ROWS and not mode:
        raise UsageError(f"--jobs {arguments.jobs}; expected {_ROWS} or fewer, one line each")
    if (arguments.jobs or 0) > _JOBS:
        raise UsageError(f"--jobs {arguments.jobs}; expected {_JOBS} or fewer")
    if mode == "--recommend":
        _check_recommend(arguments, by_measurements)


def _check_recommend(arguments: argparse.Namespace, by_measurements: bool) -> None:
    only = {"request": "", "load": ""} if by_measurements else {"accept_loss": "", "points": ""}
    for name in only:
        if getattr(arguments, name) is not None:
            how = "without" if by_measurements else "with"
            why = ", whose source has the requests" if name == "request" else ""
            raise UsageError(f"--{name.replace('_', '-')} goes {how} --measured{why}")
