"""The share of a storage link while two commands are in I/O, by counts that are known."""

from collections.abc import Sequence

import pytest

from halcyon.delta.commands import Here
from halcyon.delta.io_time import Phase
from halcyon.delta.link_share import link_share
from halcyon.testbed.links import Counted

RATE = 100
"""Bytes per second of the link of s1; that of s2 has more."""


class Linked(Here):
    """This machine, as if its storage had links."""

    def link_shares(self, begin: Counted, end: Counted) -> dict[str, float]:
        seconds = end.time_s - begin.time_s
        return {host: (end.to_host[host] - begin.to_host[host]) / (RATE * seconds) for host in begin.to_host}


def phases(*begin_and_end_s: tuple[float, float]) -> list[Phase]:
    return [Phase(round(begin * 1e9), end - begin, 0) for begin, end in begin_and_end_s]


def looks(rates: Sequence[float]) -> list[Counted]:
    """One a second, from 0 on; `rates` are in units of the link's, second by second."""
    sums = [sum(rates[:i]) * RATE for i in range(len(rates) + 1)]
    return [Counted(float(i), {"s1": round(one), "s2": round(one / 4)}, {}) for i, one in enumerate(sums)]


def test_seconds_in_which_both_are_in_io_count() -> None:
    busy_from_2_to_4 = looks([0.5, 0.5, 1.0, 1.0, 0.2])
    assert link_share(Linked(), busy_from_2_to_4, phases((0, 4)), phases((2, 5))) == 1.0


def test_pauses_of_a_command_do_not_count() -> None:
    """B pauses from 2 to 4, where A uses half the link, and goes on to 7."""
    counted = looks([1.0, 1.0, 0.5, 0.5, 0.8, 0.8, 0.8])
    share = link_share(Linked(), counted, phases((0, 7)), phases((0, 2), (4, 7)))
    assert share == pytest.approx((2 * 1.0 + 3 * 0.8) / 5)


def test_what_nobody_counted_is_not_known() -> None:
    assert link_share(Linked(), looks([1.0]), phases((0, 1)), phases((1, 2))) is None
    assert link_share(Linked(), looks([1.0, 1.0]), phases((0, 0.5)), phases((0, 0.5))) is None
    assert link_share(Here(), looks([1.0, 1.0]), phases((0, 2)), phases((0, 2))) is None
