"""Jobs that run at once, and that are in I/O at once, as text."""

from collections.abc import Sequence

from rich.console import Console

from halcyon.models.interference import Concurrency, Constant, Probability, SizeShare
from halcyon.printed.tables import print_table
from halcyon.quantities import number, plural, seconds, share

_TIMES = (0.05, 0.25, 0.5, 0.75, 0.95)
_SIZES = 12
"""Rows; of more sizes those at powers of two."""


def print_answer(told: Concurrency | Constant, console: Console) -> None:
    """Each in its own form."""
    match told:
        case Concurrency():
            print_concurrency(told, console)
        case Constant():
            print_probabilities(told.probabilities, f"always {plural(told.jobs_at_once, 'job')} at once", console)


def print_concurrency(told: Concurrency, console: Console) -> None:
    """Jobs left out, jobs at once, sizes as in figure 6.1, and both probabilities."""
    if told.left_out:
        all_jobs = told.jobs + sum(told.left_out.values())
        reasons = ", ".join(f"{reason} ({count:,})" for reason, count in told.left_out.items())
        console.print(
            f"{all_jobs - told.jobs:,} of {plural(all_jobs, 'job')} left out: {reasons}",
            soft_wrap=True,
            highlight=False,
        )
    _print_running(told, console)
    _print_sizes(told, console)
    print_probabilities(told.probabilities, "I/O at once", console)


def _print_running(told: Concurrency, console: Console) -> None:
    title = f"Jobs at once: {plural(told.jobs, 'job')} over {_span(told.span_s)}"
    columns = ["mean", *(f"{time * 100:.0f} % of time" for time in _TIMES), "most"]
    columns[columns.index("50 % of time")] = "median"
    row = [number(told.mean_running), *(f"{told.running_in(time):,}" for time in _TIMES), f"{len(told.running) - 1:,}"]
    note = "in so much of the time, as many jobs run or fewer"
    if told.running[0] > 0:
        note += f"; none runs in {share(told.running[0])}"
    print_table(console, title, columns, [row], words=0, note=note)


def _print_sizes(told: Concurrency, console: Console) -> None:
    notes = ["on so many cores or fewer; job time: jobs weighted by their run time"]
    if told.of_unknown_size:
        notes.append(f"{plural(told.of_unknown_size, 'job')} of unknown size left out")
    rows = [[f"{one.cores:,}", share(one.of_jobs), share(one.of_job_time)] for one in steps(told.sizes)]
    if not rows:
        console.print("\nno job's number of cores is known", soft_wrap=True)
    print_table(
        console, "Sizes of jobs", ["cores", "of jobs", "of job time"], rows, words=0, most=len(rows),
        note="; ".join(notes),
    )  # fmt: skip


def steps(sizes: Sequence[SizeShare]) -> list[SizeShare]:
    """All sizes where they are few, else the shares up to powers of two that add something, and up to the largest."""
    if len(sizes) <= _SIZES:
        return list(sizes)
    last, found = sizes[0], []
    mark = 1
    for one in sizes:
        while one.cores > mark:
            if last.cores * 2 > mark and last.cores <= mark:
                found.append(SizeShare(mark, last.of_jobs, last.of_job_time))
            mark *= 2
        last = one
    return [*found, last]


def print_probabilities(told: Sequence[Probability], title: str, console: Console) -> None:
    """Both, by name."""
    rows = [[f"{one.io_share * 100:g} %", share(one.two_or_more), share(one.another)] for one in told]
    columns = ["time in I/O", "two or more are in I/O", "a job that starts its I/O finds another"]
    note = "probabilities; each job spends so much of its time in I/O, independently of the others"
    print_table(console, title, columns, rows, words=0, most=len(rows), note=note)


def _span(span_s: float) -> str:
    for name, size in (("days", 86400.0), ("hours", 3600.0)):
        if span_s >= 2 * size:
            return f"{number(span_s / size)} {name}"
    return seconds(span_s)
