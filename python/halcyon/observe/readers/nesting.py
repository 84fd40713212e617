"""Numbers the calls of each thread and finds which call was made during which other one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

Integers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Numbering:
    """For calls in the order that was given: columns `thread`, `number` and `parent` of `calls`; parent 0 is none."""

    thread: Integers
    number: Integers
    parent: Integers

    def columns(self) -> dict[str, pa.Array]:
        """Ready for the table."""
        return {
            "thread": pa.array(self.thread.astype(np.int32)),
            "number": pa.array(self.number),
            "parent": pa.array(self.parent, mask=self.parent == 0),
        }


def number_calls(
    process: Integers, thread: Integers, start: Integers, end: Integers, depth: Integers, slack: int = 0
) -> Numbering:
    """Numbers calls by their times. `thread` is any number that tells threads of a process apart.

    A call is a parent when it lies on a level above (its `depth` is smaller) and contains the other in time. Sources
    that round times set `slack` to their resolution: a call may end that much after its parent.
    """
    count = len(start)
    order = np.lexsort((depth, -end, start, thread, process))
    first = np.ones(count, bool)
    first[1:] = (np.diff(process[order]) != 0) | (np.diff(thread[order]) != 0)
    group = np.cumsum(first) - 1
    begins = np.flatnonzero(first)
    numbers = np.arange(count) - begins[group] + 1 if count else np.arange(0)
    result = Numbering(np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64))
    result.number[order] = numbers
    result.thread[order] = _thread_indices(process[order][begins], start[order][begins])[group] if count else 0
    result.parent[order] = _parents(first, start[order], end[order], depth[order], numbers, slack)
    return result


def _thread_indices(process: Integers, first_start: Integers) -> Integers:
    """Index of each thread among those of its process, in the order of their first calls."""
    order = np.lexsort((first_start, process))
    of_process = process[order]
    begins = np.searchsorted(of_process, of_process)
    indices = np.empty(len(process), np.int64)
    indices[order] = np.arange(len(process)) - begins
    return indices


def _parents(
    first: np.ndarray[Any, Any], start: Integers, end: Integers, depth: Integers, number: Integers, slack: int
) -> Integers:
    parents = np.zeros(len(start), np.int64)
    if not len(start) or depth.min() == depth.max():
        return parents
    open_calls: list[tuple[int, int, int]] = []  # end, depth, number
    rows = zip(first.tolist(), start.tolist(), end.tolist(), depth.tolist(), number.tolist(), strict=True)
    for row, (is_first, begin, finish, level, own) in enumerate(rows):
        if is_first:
            open_calls.clear()
        while open_calls and (
            open_calls[-1][1] >= level or finish > open_calls[-1][0] + slack or begin > open_calls[-1][0]
        ):
            open_calls.pop()
        if open_calls:
            parents[row] = open_calls[-1][2]
        open_calls.append((finish, level, own))
    return parents
