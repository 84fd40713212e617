"""How long calls usually take, whatever delayed a few of them."""

from dataclasses import dataclass

import ibis
from ibis import _

from halcyon.database import Rows, question

_TRIMMED = 0.05
"""The share of a group's calls, the longest ones, that says nothing about the others."""


@dataclass(frozen=True)
class Typical:
    """Of one group of calls. Both times are known to the width of a class of durations (19 %) where calls differ."""

    calls: int
    seconds: float
    """The median call."""
    usual_s: float
    """Mean of all calls but the longest 5 %. Where calls take turns, few long ones are part of the rule: the median
    leaves them out, this does not."""
    bytes: float
    """Moved by a call, on average."""

    @property
    def at_most_s(self) -> float:
        """The median call, but no longer than the usual one: where most calls are long and the others take next to no
        time, so many median calls would be longer than all calls were."""
        return min(self.seconds, self.usual_s)

    @property
    def total_s(self) -> float:
        """Of all calls, if the longest had been as long as the others."""
        return self.calls * self.usual_s


def typical(rows: Rows, by: str) -> dict[int | str | None, Typical]:
    """Of rows of Survey.durations, per value of the column `by`."""
    return {
        row[by]: Typical(row["calls"], row["median_ns"] / 1e9, row["usual_ns"] / 1e9, row["volume"] / row["calls"])
        for row in _typical(rows, by).to_pyarrow().to_pylist()
    }


@question
def _typical(rows: ibis.Table, by: str) -> ibis.Table:
    each = rows.aggregate(
        by=[by, "duration_class"],
        calls=_.calls.sum().cast("int64"),
        volume=_.volume.sum().cast("int64"),
        duration_ns=_.duration_ns.sum().cast("int64"),
    )
    so_far = ibis.cumulative_window(group_by=by, order_by="duration_class")
    each = each.mutate(every=_.calls.sum().over(ibis.window(group_by=by)), up_to=_.calls.sum().over(so_far))
    each = each.mutate(
        mean_ns=_.duration_ns / _.calls,
        middle=(2 * _.up_to >= _.every) & (2 * (_.up_to - _.calls) < _.every),
        kept=ibis.greatest(ibis.least(_.every * (1 - _TRIMMED) - (_.up_to - _.calls), _.calls), 0.0),
    )
    return each.aggregate(
        by=by,
        calls=_.calls.sum().cast("int64"),
        volume=_.volume.sum().cast("int64"),
        median_ns=_.mean_ns.max(where=_.middle),
        usual_ns=(_.mean_ns * _.kept).sum() / _.kept.sum(),
    )


def of_same_sizes(own: Rows, others: Rows, enough: int) -> list[tuple[Typical, Typical | None]]:
    """Of rows of Survey.durations, per class of sizes: `own`, and `others` where these are `enough` to compare."""
    usual = {size: one for size, one in typical(others, "size_class").items() if one.calls >= enough}
    return [(one, usual.get(size)) for size, one in typical(own, "size_class").items()]
