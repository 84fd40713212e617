"""Rounds of a benchmark in Python: when there is another one, and what does not count."""

import math

import pytest
import rounds
from rounds import Rounds
from rule import NEEDED


@pytest.fixture(autouse=True)
def any_machine_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "BUSY_AT_MOST", 1.0)
    monkeypatch.setattr(rounds, "LOOK_S", 0.0)


def test_as_many_rounds_as_a_figure_needs_and_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    for current in Rounds("room"):
        current.value("speed", 1.5, "ratio")
    assert capsys.readouterr().out == "value room.speed 1.5 ratio\nround\n" * NEEDED


def test_a_round_whose_premise_fails_is_made_again(capsys: pytest.CaptureFixture[str]) -> None:
    made = Rounds("room")
    for current in made:
        current.require("the limit bites", made.made != 2, "store/compute 0.01")
    assert (made.made, made.counted) == (NEEDED + 1, NEEDED)
    assert capsys.readouterr().out.count("failed the limit bites: store/compute 0.01") == 1


def test_premises_that_never_hold_end_it() -> None:
    made = Rounds("room", 20)
    for current in made:
        current.require("the limit bites", False, "")
    assert (made.made, made.counted) == (NEEDED, 0)


def test_premises_that_seldom_hold_end_it_after_twice_as_many_rounds() -> None:
    made = Rounds("room")
    for current in made:
        current.require("the limit bites", made.made == 0, "")
    assert (made.made, made.counted) == (2 * NEEDED, 1)


@pytest.mark.parametrize(("ratio", "near"), [(1.0, True), (1.3, False), (0.7, False), (math.nan, False)])
def test_a_control_far_from_1_fails_its_round(ratio: float, near: bool) -> None:
    made = Rounds("room")
    for current in made:
        current.control("speed_control", ratio)
    assert (made.counted > 0) == near


def test_a_busy_machine_fails_the_round(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(rounds, "BUSY_AT_MOST", -1.0)
    made = Rounds("room")
    assert sum(1 for _ in made) == NEEDED
    assert made.counted == 0
    assert "failed the machine is idle between runs: " in capsys.readouterr().out


def test_what_does_not_depend_on_the_machine_counts_on_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "BUSY_AT_MOST", -1.0)
    made = Rounds("room", quiet=False)
    assert sum(1 for _ in made) == made.counted == NEEDED
