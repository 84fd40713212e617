"""A program whose scores can be worked out by hand: it opens a file, writes twice with a hole, closes, waits."""

from dataclasses import replace
from pathlib import Path

from observe.synthetic import Trace

PAUSE_MS, STEP_MS = 1000.0, 1.0
CALLS = 4
"""Of an iteration: open, two writes, close. Each takes 1 ms, and another passes before the next one."""


def known_program(iterations: int, *, ranks: int = 1, mpi: bool = True) -> Trace:
    """So many files of each rank, with 100 bytes at 0 and 100 bytes at 300."""
    trace = Trace(ranks, mpi=mpi)
    for rank in range(ranks):
        for number in range(iterations):
            file = trace.file(f"/scratch/out.{rank}.{number:04d}")
            begin = number * (PAUSE_MS + 7 * STEP_MS)
            trace.add(rank, "posix", "open", "open", begin, STEP_MS, file=file, argument=0o1101)
            trace.write(rank, file, 0, 100, begin + 2 * STEP_MS, STEP_MS)
            trace.write(rank, file, 300, 100, begin + 4 * STEP_MS, STEP_MS)
            trace.add(rank, "posix", "close", "close", begin + 6 * STEP_MS, STEP_MS, file=file)
    return trace


def stored(trace: Trace, folder: Path, **info: object) -> Path:
    """The data set of `trace`. Its list of calls stays as it was."""
    return replace(trace, calls=list(trace.calls)).store(folder, **info)
