"""How long calls usually take: medians, which a few calls that something else held up do not move."""

from dataclasses import dataclass

import ibis
from ibis import _


@dataclass(frozen=True)
class Typical:
    """Of one group of calls."""

    calls: int
    seconds: float
    """The median call, to the width of a class of durations (19 %): the mean of the class in which it lies."""
    bytes: float
    """Moved by a call, on average."""

    @property
    def usual_s(self) -> float:
        """What all these calls would have taken if each had been as long as the median one."""
        return self.calls * self.seconds


def typical(rows: ibis.Table, by: str) -> dict[int | str | None, Typical]:
    """Of rows of Survey.durations, per value of the column `by`."""
    each = rows.aggregate(
        by=[by, "duration_class"],
        calls=_.calls.sum().cast("int64"),
        volume=_.volume.sum().cast("int64"),
        duration_ns=_.duration_ns.sum().cast("int64"),
    )
    whole = ibis.window(group_by=by)
    so_far = ibis.cumulative_window(group_by=by, order_by="duration_class")
    each = each.mutate(
        every=_.calls.sum().over(whole), moved=_.volume.sum().over(whole), up_to=_.calls.sum().over(so_far)
    )
    middle = each.filter((2 * _.up_to >= _.every) & (2 * (_.up_to - _.calls) < _.every))
    return {
        row[by]: Typical(int(row["every"]), row["duration_ns"] / row["calls"] / 1e9, row["moved"] / row["every"])
        for row in middle.to_pyarrow().to_pylist()
    }
