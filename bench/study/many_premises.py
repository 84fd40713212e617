"""Premises of a case of `make study-delta-many`, without which its figures say nothing."""

from collections.abc import Sequence
from statistics import median

from delta_studies import LEAST_LARGER_S, MOST_LARGER_S
from premises import several_builds, too_many_not_counted
from several import Key, Point, Run

from halcyon.delta.measuring import of_key
from halcyon.delta.turns import UNCOORDINATED
from halcyon.testbed.check import LEAST_LINK_SHARE


def failed_premises(found: Sequence[Point], runs: Sequence[Run], largest_s: float, lacking: int) -> list[str]:
    """Empty: nothing speaks against the figures, but that those of points with wide intervals are not met."""
    said = []
    if not LEAST_LARGER_S <= largest_s <= MOST_LARGER_S:
        said.append(
            f"the largest application is in I/O for {largest_s:.2f} s, not {LEAST_LARGER_S:g} to {MOST_LARGER_S:g}"
        )
    share = link_share(found, runs)
    if share is None or share < LEAST_LINK_SHARE:
        carried = "an unknown share" if share is None else f"{share:.2f}"
        said.append(
            f"storage links carry {carried} of their rate while all are in I/O, uncoordinated, not {LEAST_LINK_SHARE:g}"
        )
    said += too_many_not_counted(dict.fromkeys(run.key for run in runs), runs) + several_builds(runs)
    if lacking:
        said.append(f"{lacking} points lack runs; the same command goes on")
    return said


def link_share(found: Sequence[Point], runs: Sequence[Run]) -> float | None:
    """Median of the uncoordinated runs in which all start together, or the closest to it that was measured. None:
    there is none of which it is known."""
    keys = [one.key for one in found if one.key.policy == UNCOORDINATED]
    if not keys:
        return None
    shares = [run.link_share for run in of_key(min(keys, key=_apart), runs) if run.link_share is not None]
    return median(shares) if shares else None


def _apart(key: Key) -> int:
    """From the first start to the last."""
    return max(key.starts_ns) - min(key.starts_ns)
