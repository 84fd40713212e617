"""How much of an axis, of time or of bytes, intervals cover."""

from collections.abc import Sequence

import ibis
from ibis import _


def covered(intervals: ibis.Table, by: Sequence[str]) -> ibis.Table:
    """`covered`: length of the union of the intervals from `begin` to `end`, per group."""
    earlier = ibis.window(group_by=list(by), order_by=["begin", "end"], preceding=(None, 1))
    rows = intervals.mutate(reached=_.end.max().over(earlier))
    new = ibis.greatest(_.end - ibis.greatest(_.begin, _.reached.fill_null(_.begin)), 0)
    return rows.aggregate(by=list(by), covered=new.sum().cast("int64"))
