"""The answers of `halcyon model stripes`, a function per question."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from halcyon.errors import UsageError

if TYPE_CHECKING:
    from halcyon.models.logs_compared import LogsCompared
    from halcyon.models.mix import Mix
    from halcyon.models.placed import Placed
    from halcyon.models.printed import Answer
    from halcyon.models.stripes import Compared, LoadTable, Logs, Purchase, Recommendation
    from halcyon.models.sweep import Sweep

JOBS = 10
_DEFAULT_RANKS = [16 << step for step in range(9)]


def answer_of(arguments: argparse.Namespace, mode: str) -> "Answer":
    """`mode`: the option that asks; "" for the table of loads."""
    match mode:
        case "--logs":
            return _logs(arguments)
        case "--recommend":
            return _purchase(arguments) if arguments.measured is None else _recommendation(arguments)
        case "--measured":
            return _sweep(arguments)
        case "--from":
            return _mix(arguments)
        case "--targets":
            return _placed(arguments)
    return _loads(arguments)


def _loads(arguments: argparse.Namespace) -> "LoadTable":
    from halcyon.models import stripes

    jobs = range(1, (arguments.jobs or JOBS) + 1)
    rows = [row for request in arguments.request for row in stripes.load_table(arguments.total, request, jobs)]
    return stripes.LoadTable(arguments.total, rows, _compared(arguments))


def _logs(arguments: argparse.Namespace) -> "Logs | LogsCompared":
    from halcyon.models import stripes
    from halcyon.models.logs_compared import compare_logs
    from halcyon.models.measurements import has_logs, read_logs

    request = arguments.request[0] if arguments.request else stripes.STRIPES_OF_A_LOG
    limit = stripes.GOOD_LOAD if arguments.load is None else arguments.load
    per_node = arguments.ranks_per_node or 1
    bandwidths = [source for source in arguments.points or () if has_logs(source)]
    if bandwidths:
        if len(arguments.points) > 1 or arguments.ranks:
            raise UsageError(f"--points {bandwidths[0]}: has ranks and bandwidths; expected neither --ranks nor others")
        measured = read_logs(bandwidths[0])
        return compare_logs(arguments.total, measured, stripes=request, limit=limit, per_node=per_node)
    compared = _compared(arguments)
    ranks = arguments.ranks or sorted({one.expected.jobs for one in compared}) or _DEFAULT_RANKS
    return stripes.logs(
        arguments.total, ranks, stripes=request, limit=limit, per_node=per_node, compared=compared
    )  # fmt: skip


def _recommendation(arguments: argparse.Namespace) -> "Recommendation":
    from halcyon.models.measurements import read_measured
    from halcyon.models.stripes import recommend

    measured = read_measured(arguments.measured)
    return recommend(arguments.total, arguments.jobs or JOBS, measured, _loss(arguments), _compared(arguments))


def _purchase(arguments: argparse.Namespace) -> "Purchase":
    from halcyon.models.mix import LOAD
    from halcyon.models.stripes import purchase

    load = LOAD if arguments.load is None else arguments.load
    return purchase(arguments.total, arguments.jobs or JOBS, arguments.request[0], load)


def _sweep(arguments: argparse.Namespace) -> "Sweep":
    from halcyon.models.measurements import read_striping
    from halcyon.models.sweep import sweep

    start = None if arguments.start is None else _start(arguments.start)
    points = read_striping(arguments.measured)
    return sweep(arguments.total, arguments.jobs or JOBS, points, start, _loss(arguments))


def _mix(arguments: argparse.Namespace) -> "Mix":
    from halcyon.models.mix import LOAD, mix
    from halcyon.models.recorded_job import job_of

    jobs = [job_of(run) for run in arguments.runs]
    return mix(arguments.total, jobs, LOAD if arguments.load is None else arguments.load)


def _placed(arguments: argparse.Namespace) -> "Placed":
    from halcyon.models.measurements import read_targets
    from halcyon.models.placed import placed_as, placed_in
    from halcyon.models.published.named import is_name

    source: str = arguments.targets
    if is_name(source) or Path(source).is_file():
        return placed_as(source, read_targets(source), arguments.total)
    return placed_in(Path(source), arguments.total)


def _compared(arguments: argparse.Namespace) -> "list[Compared]":
    from halcyon.models.measurements import read_loads
    from halcyon.models.stripes import compare

    points = [point for source in arguments.points or () for point in read_loads(source)]
    return [compare(arguments.total, point.jobs, point.request, point.in_use) for point in points]


def _loss(arguments: argparse.Namespace) -> float:
    from halcyon.models.stripes import ACCEPTED_LOSS

    return ACCEPTED_LOSS if arguments.accept_loss is None else float(arguments.accept_loss) / 100


def _start(text: str) -> tuple[int, int | None]:
    from halcyon.quantities import parse_bytes

    stripes, _, size = text.partition(",")
    if not stripes.isascii() or not stripes.isdigit():
        raise UsageError(f"--start {text}: expected a number of stripes and their size, such as 2,1MiB")
    return int(stripes), parse_bytes(size, f"--start {text}") if size else None
