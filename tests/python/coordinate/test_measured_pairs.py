"""Speeds side by side from runs of a study, in two halves."""

from dataclasses import replace

import pytest
from invented_studies import alone, both, proportional, told
from measured_pairs import Half, TooFewError, delays_ns, halves, side_by_side

from halcyon.models.interference import Phase

S = 10**9


@pytest.mark.parametrize("dt_s", [-4.0, -1.0, 0.0, 2.0, 4.0])
@pytest.mark.parametrize("weights", [(1.0, 1.0), (4.0, 1.0)])
def test_speeds_are_those_at_which_bandwidth_was_shared(dt_s: float, weights: tuple[float, float]) -> None:
    a, b = (Phase(6.0, 1.0, weight) for weight in weights)
    (run,) = [run for run in proportional(a, b, [dt_s], ["none"], 1) if run.key.alone is None]
    assert run.a is not None
    assert run.b is not None
    found = side_by_side(run.a, run.b, 6.0, 6.0)
    assert found is not None
    expected = [weight / sum(weights) for weight in weights]
    assert (found.a_speed, found.b_speed) == pytest.approx(expected)


def test_a_short_overlap_and_several_phases_tell_no_speeds() -> None:
    assert side_by_side(told(0, 6.2), told(6 * S, 6.2), 6.0, 6.0) is None
    several = replace(told(0, 12.0), phases=told(0, 6.0).phases * 2)
    assert side_by_side(several, told(0, 12.0), 6.0, 6.0) is None


def test_halves_share_no_run() -> None:
    slow = [run for _ in range(3) for run in (both("none", 0, 10.0, 10.0), both("none", 0, 12.0, 12.0))]
    times = [run for _ in range(2) for run in (alone("A", 6.0), alone("A", 7.0))]
    first, second = halves([*times, alone("B", 6.0), alone("B", 7.0), *slow])
    assert (first.a_alone_s, second.a_alone_s) == (6.0, 7.0)
    assert [round(one.a_speed, 3) for one in first.overlaps] == [0.6] * 3
    assert [round(one.a_speed, 3) for one in second.overlaps] == [round(7 / 12, 3)] * 3


def test_runs_that_do_not_count_are_in_no_half() -> None:
    runs = proportional(Phase(8.0), Phase(4.0), [-1.0, 0.0, 2.0], ["none"], 4)
    wrong = [replace(both("none", 0, 80.0, 80.0), problem="late")] * 2
    expected = halves(runs)
    assert halves([*runs, *wrong]) == expected
    assert isinstance(expected[0], Half)


def test_too_few_runs_are_said() -> None:
    runs = proportional(Phase(8.0), Phase(4.0), [0.0], ["none"], 4)
    with pytest.raises(TooFewError, match="a half has 2 uncoordinated runs side by side, and needs 3"):
        halves(runs)
    with pytest.raises(TooFewError, match="no run of A or of B alone"):
        halves([run for run in runs if run.key.alone != "B"])


def test_delays_are_those_of_all_policies_each_once() -> None:
    runs = proportional(Phase(8.0), Phase(4.0), [-1.0, 2.0], ["none", "dynamic"])
    assert delays_ns([*runs, both("fcfs", 3 * S, 8.0, 5.0)]) == [-S, 2 * S, 3 * S]
