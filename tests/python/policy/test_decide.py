"""The decision of the room policy as Python sees it: the numbers that its C++ tests pin, through the binding."""

import pytest

from halcyon.models.functions import functions as models
from halcyon.policy.functions import Decision, Registered, functions

policy = functions()


def phase(number: int, arrived_s: float, alone_s: float) -> Registered:
    """A phase that waits, and saturates the storage."""
    made = policy.Application()
    made.id = number
    made.state = policy.Movement.WAITING
    made.arrived_s = made.since_s = arrived_s
    made.alone_s = made.left_s = alone_s
    return made


def a_moves_when_b_comes(dt_s: float) -> Decision:
    """T_A = 4 T_B = 8 s, as many processes. In the closed form, an interruption itself takes no time."""
    how = policy.Settings()
    how.interruption_s = 0
    a = phase(1, 0, 8)
    a.state = policy.Movement.MOVING
    a.left_s = 8 - dt_s
    return policy.decide([a, phase(2, dt_s, 2)], policy.Rule.DYNAMIC, policy.Metric.CPU_HOURS, dt_s, settings=how)


@pytest.mark.parametrize(("dt_s", "moves", "stops"), [(5.9, [2], [1]), (6.1, [1], [])])
def test_dynamic_interrupts_as_long_as_the_closed_form_says(dt_s: float, moves: list[int], stops: list[int]) -> None:
    assert models().interruption_pays_before(models().IoPhase(8), models().IoPhase(2)) == pytest.approx(6)
    made = a_moves_when_b_comes(dt_s)
    assert (made.move, made.stop) == (moves, stops)


def test_costs_of_the_alternatives_are_core_hours_of_the_closed_form() -> None:
    made = a_moves_when_b_comes(3)
    costs = {policy.name_of(one.way): one.cost for one in made.alternatives}
    for way in ("interfere", "fcfs", "interrupt"):
        arbitration = getattr(models().Arbitration, way.upper())
        expected = models().core_seconds(models().IoPhase(8), models().IoPhase(2), 3, arbitration)
        assert costs[way] * 3600 == pytest.approx(expected), way
    assert costs["dynamic"] == min(costs.values())
    assert made.groups[0].why == "smiths-rule"


def test_every_rule_lets_somebody_move() -> None:
    rules = policy.Rule
    for rule, moves in (
        (rules.INTERFERE, [1, 2]),
        (rules.FCFS, [1]),
        (rules.INTERRUPT, [2]),
        (rules.DELAY, [1]),
        (rules.FAIR_SHARE, [1]),
        (rules.SET_10, [2]),
        (rules.DYNAMIC, [2]),
    ):
        one, two = phase(1, 0, 8), phase(2, 1, 2.1)
        one.between_starts_s, two.between_starts_s = 500, 20
        ledger = policy.Ledger()
        ledger.charge(policy.set_of(one), 1, 1)
        made = policy.decide([one, two], rule, policy.Metric.SUM_OF_TIMES, 1, sets=ledger)
        assert made.move == moves, policy.name_of(rule)


def test_learnt_interference_and_settings_reach_the_decision() -> None:
    one, two = phase(1, 0, 10), phase(2, 0, 10)
    learned = policy.Interference()
    for _ in range(50):
        learned.observe(one, two, 1 / 1.1)
        learned.observe(two, one, 1 / 1.1)
    assert learned.slow_down(one, two) == pytest.approx(1.1, abs=0.02)
    times = policy.Metric.SUM_OF_TIMES
    assert len(policy.decide([one, two], policy.Rule.DYNAMIC, times, 0).move) == 1
    assert policy.decide([one, two], policy.Rule.DYNAMIC, times, 0, learned=learned).move == [1, 2]
    settings = policy.Settings()
    settings.tolerated_factor = 1.05
    assert policy.decide([one, two], policy.Rule.DELAY, times, 0, learned=learned, settings=settings).move == [1]
    settings.tolerated_factor = 1.2
    assert policy.decide([one, two], policy.Rule.DELAY, times, 0, learned=learned, settings=settings).move == [1, 2]


def test_targets_are_a_list() -> None:
    one, two = phase(1, 0, 10), phase(2, 0, 10)
    one.targets, two.targets = [1, 2], [3]
    assert policy.decide([one, two], policy.Rule.FCFS, policy.Metric.ENERGY, 0).move == [1, 2]
