"""What `halcyon coordinator explain` prints of a decision; the decisions are invented."""

from dataclasses import replace

import pytest

from halcyon.coordinate.printed import print_decisions
from halcyon.coordinate.state import Decision
from halcyon.printed.tables import console_for_tables
from halcyon.quantities import number, percent, seconds

DECISION = Decision(
    1.5, "least-cost", "B may move, A stops: least-cost, of 2 that want the storage", ["B"], ["A"],
    ["fcfs", "dynamic"], [21.0, 12.0], 12.5, ["A", "B"], [10.0, 1.0], [1.0, 0.5], 0.25,
)  # fmt: skip


def said(capsys: pytest.CaptureFixture[str], *decisions: Decision) -> list[str]:
    print_decisions(list(decisions), "scratch", console_for_tables())
    return capsys.readouterr().out.splitlines()


def test_a_decision_is_told_with_what_was_believed_predicted_and_observed(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, DECISION) == [
        f"{seconds(1.5)} ago: B may move, A stops: least-cost, of 2 that want the storage",
        (
            f"  believed, of each alone: A needs {seconds(10.0)} and {percent(1.0)} of the storage; "
            f"B needs {seconds(1.0)} and {percent(0.5)} of the storage; writers without Halcyon take {percent(0.25)}"
        ),
        f"  predicted cost: fcfs {number(21.0)}, dynamic {number(12.0)}",
        f"  observed cost: {number(12.5)}",
    ]


def test_a_cost_that_is_not_known_yet_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, replace(DECISION, observed_cost=-1.0), DECISION)
    assert len(lines) == 3 + 4
    assert [line for line in lines if "observed" in line] == [f"  observed cost: {number(12.5)}"]


def test_a_coordinator_that_has_decided_nothing_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys) == ["scratch: no decision has changed anything yet"]
