"""Figures of studies' own questions: the saw, and one policy over another. All data is invented."""

import policy_ratios
import pytest
import saw
from invented_studies import both, proportional
from saw import CORE_SECONDS, FACTORS, Saw, differences

from halcyon.delta.graph import Applications, Graph, graph_of
from halcyon.delta.runs import Run
from halcyon.models.interference import Phase

S = 10**9
A, B = Phase(8.0, 1.0, 4.0, 4.0), Phase(2.0, 1.0, 4.0, 4.0)
DTS_S = [-3.2, 0.0, 1.6, 4.8, 5.6, 6.4, 7.2, 7.76, 9.6]


def graph(*more: Run) -> Graph:
    return graph_of([*proportional(A, B, DTS_S, ["fcfs", "interrupt"]), *more], Applications(4, 4))


@pytest.mark.parametrize("claim", [CORE_SECONDS, FACTORS], ids=lambda one: one.point)
def test_the_model_fulfils_the_claim_of_the_thesis_on_both_sides(claim: Saw) -> None:
    found = dict(_figures(graph(), claim))
    assert (found["saw_delays"], found["saw_violated"], found["saw_undecided"]) == (7, 0, 0)


def test_a_difference_is_that_of_the_sums_with_both_intervals() -> None:
    at = {round(one.at, 3): one.value for one in differences(graph(), CORE_SECONDS)}
    # 4 cores: (8 + 2 + 2) s under interrupt, (8 + 8 - dt + 2) s under fcfs.
    assert at[0.6].mean == pytest.approx(4 * (12 - 18 + 4.8))
    scattered = [both("interrupt", 5 * S, 10.0 + by, 2.0) for by in (-0.1, 0.0, 0.1)]
    of_fcfs = [both("fcfs", 5 * S, 8.0, 5.0)] * 3
    (at_5s,) = [one for one in differences(graph(*scattered, *of_fcfs), CORE_SECONDS) if one.at == 0.625]
    assert at_5s.value.half == pytest.approx(4 * 4.30265 * 0.1 / 3**0.5, rel=1e-4)


def test_a_delay_at_which_waiting_wins_too_early_is_a_violation_only_beyond_the_interval() -> None:
    fcfs = [both("fcfs", 5 * S, 8.0, 3.0)] * 3
    clear = [both("interrupt", 5 * S, 10.0 + by, 2.0) for by in (-0.1, 0.0, 0.1)]
    assert dict(_figures(graph(*fcfs, *clear), CORE_SECONDS))["saw_violated"] == 1
    vague = [both("interrupt", 5 * S, 10.0 + by, 2.0) for by in (-3.0, 0.0, 3.0)]
    found = dict(_figures(graph(*fcfs, *vague), CORE_SECONDS))
    assert (found["saw_violated"], found["saw_undecided"]) == (0, 1)


def test_no_figure_is_told_of_a_point_that_is_not_met() -> None:
    vague = [both("interrupt", 5 * S, 10.0 + by, 2.0) for by in (-3.0, 0.0, 3.0)]
    found = dict(_figures(graph(*[both("fcfs", 5 * S, 8.0, 3.0)] * 3, *vague), CORE_SECONDS))
    assert "interrupt_less_fcfs_0.60TA" in found
    assert not any("0.62TA" in name for name in found)
    delayed = [both("delay", 0, 10.0 + by, 2.0) for by in (-3.0, 0.0, 3.0)]
    of = graph_of([*proportional(A, B, [0.0], ["fcfs"]), *delayed], Applications(4, 4))
    assert list(policy_ratios.figures(of, "delay", "fcfs")) == []


def test_one_policy_over_another_is_compared_where_the_two_meet() -> None:
    a, b = Phase(8.0, 0.7, 4.0, 4.0), Phase(8.0, 0.7, 4.0, 4.0)
    runs = proportional(a, b, [-9.0, -4.0, 0.0, 4.0], ["none", "fcfs"])
    runs += [both("delay", round(dt_s * S), 10.0, 10.0) for dt_s in (-9.0, 0.0, 4.0) for _ in range(2)]
    found = {
        name: value for name, value, _ in policy_ratios.figures(graph_of(runs, Applications(4, 4)), "delay", "fcfs")
    }
    assert found["delay_over_fcfs_factors_at_0"] == pytest.approx(2.5 / 3)
    assert found["delay_over_fcfs_factors_at_0_upper_end"] == pytest.approx(2.5 / 3)
    assert found["delay_over_fcfs_core_s_at_0"] == pytest.approx(2.5 / 3)
    assert found["delay_over_fcfs_factors_mean"] == pytest.approx((2.5 / 3 * 2.5 / 2.5) ** 0.5)


def _figures(of: Graph, claim: Saw) -> list[tuple[str, float]]:
    return [(name, value) for name, value, _ in saw.figures(of, claim)]
