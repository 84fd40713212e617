"""Storage that is simulated with the code of the policies: what is known in closed form, and what `dynamic` gains."""

import pytest
from measured_pairs import Half, Overlap
from over_best import DYNAMIC, FIXED, METRICS, replayed
from replay import Access, Replay

from halcyon.models.interference import Phase, delta_graph

DTS_S = (-6.0, -2.5, -0.1, 0.1, 1.0, 3.0, 5.0, 7.9, 9.0)
S = 10**9


def half(a_speed: float, b_speed: float, a_alone_s: float = 8.0, b_alone_s: float = 2.0) -> Half:
    return Half(a_alone_s, b_alone_s, [Overlap(2.0, a_speed, b_speed)] * 20)


@pytest.mark.parametrize("policy", ["interfere", "fcfs", "interrupt"])
@pytest.mark.parametrize("dt_s", DTS_S)
def test_two_accesses_take_the_times_of_the_closed_form(policy: str, dt_s: float) -> None:
    expected = delta_graph(Phase(8.0), Phase(2.0), [dt_s]).curves[policy][0]
    accesses = (Access(max(0.0, -dt_s), 8.0, 0.5, 1, 8.0), Access(max(0.0, dt_s), 2.0, 0.5, 1, 2.0))
    assert Replay(accesses, policy, "cpu-hours").times_s() == pytest.approx([expected.a_s, expected.b_s])


@pytest.mark.parametrize("metric", METRICS, ids=lambda one: one.metric)
def test_dynamic_that_knows_the_storage_is_never_worse_than_the_best_fixed_policy(metric: object) -> None:
    for speeds in ((0.5, 0.5), (0.9, 0.1), (0.95, 0.9), (0.4, 0.35)):
        known = half(*speeds)
        for one in replayed("", known, known, [round(dt_s * S) for dt_s in DTS_S], (4, 1), metric):  # type: ignore[arg-type]
            assert set(one.values) == {DYNAMIC, *FIXED}
            assert one.over_best().mean <= 1 + 1e-6, (speeds, one)


def test_dynamic_that_learnt_other_speeds_than_the_storage_has_pays_for_it() -> None:
    learnt, truth = half(0.95, 0.95, 8.0, 8.0), half(0.4, 0.4, 8.0, 8.0)
    (at_1s,) = replayed("", learnt, truth, [S], (1, 1), METRICS[0])
    assert at_1s.over_best().mean > 1.05
    (at_1s,) = replayed("", truth, truth, [S], (1, 1), METRICS[0])
    assert at_1s.over_best().mean <= 1 + 1e-6


def test_what_the_coordinator_believes_of_times_alone_is_of_the_half_that_it_learnt() -> None:
    """B is said to take 1 s and takes 7 s: it interrupts A though that no longer pays for the sum of factors."""
    learnt, truth = half(0.5, 0.5, 8.0, 1.0), half(0.5, 0.5, 8.0, 7.0)
    (at_4s,) = replayed("", learnt, truth, [4 * S], (1, 1), METRICS[0])
    assert at_4s.values[DYNAMIC].mean == pytest.approx(at_4s.values["interrupt"].mean)
    assert at_4s.over_best().mean > 1


def test_what_is_left_of_a_phase_is_believed_in_proportion_to_its_forecast() -> None:
    """A is said to take 16 s and takes 8 s: after 7.2 s it expects 1.6 s more, and B, of 4 s, goes first."""
    learnt, truth = half(0.5, 0.5, 16.0, 4.0), half(0.5, 0.5, 8.0, 4.0)
    (at,) = replayed("", learnt, truth, [round(7.2 * S)], (1, 1), METRICS[0])
    assert at.values[DYNAMIC].mean == pytest.approx(at.values["interrupt"].mean)
    assert at.values["fcfs"].mean < at.values["interrupt"].mean
