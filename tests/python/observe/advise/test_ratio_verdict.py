"""A difference is claimed only when chance hardly makes it."""

import random

import pytest

from halcyon.observe.advise.verdict import CONFIDENCE, Verdict, ratio, rounds_needed


def times(count: int, middle: float, seed: int, noise: float = 0.2) -> list[float | None]:
    own = random.Random(seed)
    return [middle * own.lognormvariate(0, noise) for _ in range(count)]


def verdict_of(changed: list[float | None], unchanged: list[float | None], tables: int = 1) -> Verdict:
    found = ratio(changed, unchanged, tables)
    assert found is not None
    return found.verdict


def test_a_clear_gain_and_a_clear_loss_are_seen() -> None:
    assert verdict_of(times(9, 0.5, 1), times(9, 1.0, 2)) is Verdict.BETTER
    assert verdict_of(times(9, 2.0, 1), times(9, 1.0, 2)) is Verdict.WORSE


def test_equal_commands_are_hardly_ever_told_apart() -> None:
    trials = 400
    wrong = sum(verdict_of(times(9, 1.0, 2 * n), times(9, 1.0, 2 * n + 1)) is not Verdict.SAME for n in range(trials))
    assert wrong <= 1.6 * (1 - CONFIDENCE) * trials  # 32 of 400; 20 are expected at most


@pytest.mark.parametrize("tables", range(1, 12))
def test_the_fewest_rounds_that_can_decide(tables: int) -> None:
    enough = rounds_needed(tables)
    alike: list[float | None] = [1.0] * enough
    faster: list[float | None] = [0.5 + n / 100 for n in range(enough)]
    assert verdict_of(faster, alike, tables) is Verdict.BETTER
    assert verdict_of(faster[1:], alike[1:], tables) is Verdict.UNKNOWN


def test_more_settings_at_once_need_more_evidence() -> None:
    changed, unchanged = times(6, 0.5, 1), times(6, 1.0, 2)
    assert verdict_of(changed, unchanged, 1) is Verdict.BETTER
    assert verdict_of(changed, unchanged, 2) is Verdict.UNKNOWN


def test_rounds_that_lack_a_run_do_not_count() -> None:
    found = ratio([1.0, None, 3.0, 4.0], [2.0, 2.0, None, 2.0])
    assert found is not None
    assert (found.rounds, found.median) == (2, 1.25)
    assert ratio([None], [1.0]) is None


def test_drift_of_the_machine_cancels_within_rounds() -> None:
    drift = [1.0, 8.0, 2.0, 30.0, 4.0, 1.0, 16.0, 3.0, 9.0]
    found = ratio([0.8 * each for each in drift], drift)
    assert found is not None
    assert found.low == pytest.approx(0.8)
    assert found.verdict is Verdict.BETTER
