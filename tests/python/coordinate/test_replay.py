"""Storage that is simulated with the code of the policies: what is known in closed form, and what `dynamic` gains."""

import pytest
from coordinator_bounds import coordinator_bounds
from measured_pairs import Half, Overlap
from over_best import DYNAMIC, FIXED, METRICS, replayed
from replay import Access, Load, Replay

from halcyon.models.interference import Phase, delta_graph

DTS_S = (-6.0, -2.5, -0.1, 0.1, 1.0, 3.0, 5.0, 7.9, 9.0)
S = 10**9


def half(a_speed: float, b_speed: float, a_alone_s: float = 8.0, b_alone_s: float = 2.0) -> Half:
    return Half(a_alone_s, b_alone_s, [Overlap(2.0, a_speed, b_speed)] * 20)


@pytest.mark.parametrize("policy", ["interfere", "fcfs", "interrupt"])
@pytest.mark.parametrize("dt_s", DTS_S)
def test_two_accesses_take_the_times_of_the_closed_form(policy: str, dt_s: float) -> None:
    expected = delta_graph(Phase(8.0), Phase(2.0), [dt_s]).curves[policy][0]
    accesses = (Access(max(0.0, -dt_s), 8.0, 0.5, Load(1), 8.0), Access(max(0.0, dt_s), 2.0, 0.5, Load(1), 2.0))
    assert Replay(accesses, policy, "cpu-hours").times_s() == pytest.approx([expected.a_s, expected.b_s])


@pytest.mark.parametrize("metric", METRICS, ids=lambda one: one.metric)
def test_dynamic_that_knows_the_storage_is_as_good_as_the_best_fixed_policy(metric: object) -> None:
    at_most = 1 / (1 - coordinator_bounds().least_gain) + 1e-6  # it leaves gains below that alone
    for speeds in ((0.5, 0.5), (0.9, 0.1), (0.95, 0.9), (0.4, 0.35)):
        known = half(*speeds)
        for one in replayed(
            "", known, known, [round(dt_s * S) for dt_s in DTS_S], (Load(4), Load(1)), metric, learned=True
        ):  # type: ignore[arg-type]
            assert set(one.values) == {DYNAMIC, *FIXED}
            assert one.over_best().mean <= at_most, (speeds, one)


def test_dynamic_that_learnt_other_speeds_than_the_storage_has_pays_for_it() -> None:
    learnt, truth = half(0.95, 0.95, 8.0, 8.0), half(0.4, 0.4, 8.0, 8.0)
    (at_1s,) = replayed("", learnt, truth, [S], (Load(1), Load(1)), METRICS[0], learned=True)
    assert at_1s.over_best().mean > 1.05
    (at_1s,) = replayed("", truth, truth, [S], (Load(1), Load(1)), METRICS[0], learned=True)
    assert at_1s.over_best().mean <= 1 + 1e-6


def test_what_the_coordinator_believes_of_times_alone_is_of_the_half_that_it_learnt() -> None:
    """B is said to take 1 s and takes 7 s: it interrupts A though that no longer pays for the sum of factors."""
    learnt, truth = half(0.5, 0.5, 8.0, 1.0), half(0.5, 0.5, 8.0, 7.0)
    (at_4s,) = replayed("", learnt, truth, [4 * S], (Load(1), Load(1)), METRICS[0], learned=True)
    assert at_4s.values[DYNAMIC].mean == pytest.approx(at_4s.values["interrupt"].mean)
    assert at_4s.over_best().mean > 1


def test_what_is_left_of_a_phase_is_believed_in_proportion_to_its_forecast() -> None:
    """A is said to take 16 s and takes 8 s: after 7.2 s it expects 1.6 s more, and B, of 4 s, goes first."""
    learnt, truth = half(0.5, 0.5, 16.0, 4.0), half(0.5, 0.5, 8.0, 4.0)
    (at,) = replayed("", learnt, truth, [round(7.2 * S)], (Load(1), Load(1)), METRICS[0], learned=True)
    assert at.values[DYNAMIC].mean == pytest.approx(at.values["interrupt"].mean)
    assert at.values["fcfs"].mean < at.values["interrupt"].mean


def test_dynamic_that_never_saw_the_two_assumes_proportional_shares() -> None:
    """The storage gives both almost all of their speed, but B, shorter, interrupts A as where they would share."""
    truth = half(0.95, 0.95, 8.0, 4.0)
    loads = (Load(1), Load(1))
    (unseen,) = replayed("", truth, truth, [S], loads, METRICS[0], learned=False)
    assert unseen.values[DYNAMIC].mean == pytest.approx(unseen.values["interrupt"].mean, rel=0.01)
    assert unseen.over_best().mean > 1.05
    (known,) = replayed("", truth, truth, [S], loads, METRICS[0], learned=True)
    assert known.over_best().mean <= 1 + 1e-6


def test_demands_that_the_coordinator_is_told_let_two_share_what_they_do_not_fill() -> None:
    truth = half(0.95, 0.95, 8.0, 8.0)
    (full,) = replayed("", truth, truth, [S], (Load(1), Load(1)), METRICS[0], learned=False)
    (not_full,) = replayed("", truth, truth, [S], (Load(1, demand=0.5), Load(1, demand=0.5)), METRICS[0], learned=False)
    assert full.over_best().mean > 1.05
    assert not_full.over_best().mean <= 1 + 1e-6


def test_decisions_have_the_bounds_of_the_coordinator() -> None:
    bounds = coordinator_bounds()
    assert bounds.least_gain > 0
    assert bounds.interruption_s == pytest.approx(0.01)
    assert bounds.search_positions == 100_000


def test_a_gain_below_the_least_one_interrupts_nobody() -> None:
    """B, of 7.6 s, comes as A has 7.7 s left: an interruption would save 0.2 % of the sum of times."""
    a, b = Access(0.0, 8.0, 0.5, Load(1), 8.0), Access(0.3, 7.6, 0.5, Load(1), 7.6)
    assert Replay((a, b), "dynamic", "sum-of-times").times_s() == pytest.approx([8.0, 15.3])


def test_at_a_delay_of_0_the_first_is_a_as_where_it_was_measured() -> None:
    """B, of 2 s, waits for A's 8 s under fcfs, but for the 50 ms by which it starts later."""
    truth = half(0.5, 0.5, 8.0, 2.0)
    (at_0,) = replayed("", truth, truth, [0], (Load(1), Load(1)), METRICS[0], learned=False)
    assert at_0.values["fcfs"].mean == pytest.approx(1 + (10 - 0.05) / 2)
    assert at_0.values["interrupt"].mean == pytest.approx(1 + 10 / 8)
