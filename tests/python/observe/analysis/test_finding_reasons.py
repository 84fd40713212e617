"""A rank that is slow by its flags, sizes or calls, writes that wait for the device, and access without order."""

import os
import random
from collections.abc import Callable, Iterable

import pytest
from observe.analysis import scenarios
from observe.analysis.conftest import Ask, FindingsOf, finding_of, is_found, pick
from observe.synthetic import Trace


@pytest.mark.parametrize(
    ("run", "why", "change"),
    [
        (lambda: scenarios.slow_by_its_flags(os.O_DSYNC), "O_DSYNC", "without O_SYNC and O_DSYNC"),
        (lambda: scenarios.slow_by_its_flags(os.O_SYNC), "O_DSYNC", "without O_SYNC and O_DSYNC"),
        (lambda: scenarios.slow_by_its_flags(os.O_DIRECT), "O_DIRECT", "without O_DIRECT"),
        (scenarios.slow_by_its_calls, "768 calls", "in as few calls"),
    ],
)
def test_a_rank_that_is_slow_by_what_it_does_keeps_its_node(
    ask: Ask, run: Callable[[], Trace], why: str, change: str
) -> None:
    one = finding_of(ask(run()), "slow-rank-write")
    assert one.ranks == [5]
    assert why in one.explanation
    assert change in one.change
    assert "next job" not in one.change


def test_a_rank_that_is_slow_with_the_flags_of_all_has_a_node_to_look_at(ask: Ask) -> None:
    one = finding_of(ask(scenarios.slow_by_its_flags(os.O_DSYNC, all_ranks=True)), "slow-rank-write")
    assert "leave it out of the next job" in one.change


def test_a_rank_whose_flags_are_not_known_may_have_a_good_node(findings_of: FindingsOf) -> None:
    one = pick(findings_of(scenarios.slow_rank), "slow-rank-write")
    assert "is not known" in one.explanation
    assert one.change.startswith("See whether it opens its files with O_SYNC")
    assert "next job" not in one.change


def test_writes_that_wait_for_the_device_are_found(ask: Ask) -> None:
    for flags in (os.O_SYNC, os.O_DSYNC):
        one = finding_of(ask(scenarios.synchronous(flags)), "synchronous-writes")
        assert one.seconds_lost == pytest.approx(1.2)
        assert one.estimate.startswith("at most")
    beside = finding_of(ask(scenarios.synchronous(others=True)), "synchronous-writes")
    assert beside.seconds_lost == pytest.approx(1.1)
    assert beside.files == [0]


def test_writes_past_the_cache_do_not_wait_for_the_device(ask: Ask) -> None:
    assert not is_found(ask(scenarios.synchronous(os.O_DIRECT)), "synchronous-writes")


def shuffled(blocks: int) -> list[int]:
    order = list(range(blocks))
    random.Random(3).shuffle(order)
    return order


@pytest.mark.parametrize(
    ("blocks", "there"),
    [
        (shuffled(600), True),
        ([number for pair in zip(range(300), range(9000, 9300), strict=True) for number in pair], False),
        ([*range(300), *range(300)], False),
        ([*range(0, 1200, 4), 2, *range(1200, 2400, 4)], False),
        (range(600, 0, -1), False),
    ],
    ids=["random", "two streams", "read twice", "strided with one outlier", "backward"],
)
def test_only_accesses_without_order_are_random(ask: Ask, blocks: Iterable[int], there: bool) -> None:
    assert (is_found(ask(scenarios.reads_at(blocks)), "random-reads")) == there
