"""Intervals on one axis, of time or of bytes: their union, and the gaps in it."""

from collections.abc import Sequence

import ibis
import numpy as np
import numpy.typing as npt
from ibis import _

Times = npt.NDArray[np.int64]


def merge(begin: Times, end: Times, gap: int = 0) -> tuple[Times, Times]:
    """The union of intervals as sorted, disjoint ones; gaps of at most `gap` are closed."""
    if not len(begin):
        return begin, end
    order = np.argsort(begin, kind="stable")
    first = begin[order]
    last = np.maximum.accumulate(end[order])
    new = np.concatenate([[True], first[1:] > last[:-1] + gap])
    return first[new], last[np.concatenate([new[1:], [True]])]


def covered(intervals: ibis.Table, by: Sequence[str]) -> ibis.Table:
    """`covered`: length of the union of the intervals from `begin` to `end`, per group."""
    earlier = ibis.window(group_by=list(by), order_by=["begin", "end"], preceding=(None, 1))
    rows = intervals.mutate(reached=_.end.max().over(earlier))
    new = ibis.greatest(_.end - ibis.greatest(_.begin, _.reached.fill_null(_.begin)), 0)
    return rows.aggregate(by=list(by), covered=new.sum().cast("int64"))
