"""Figures of `make study-policy_gap`: a search that was cut off says nothing of the gap. Instances are invented."""

from dataclasses import replace

import pytest
from policy_gap import APPLICATIONS, BAR, INSTANCES, MOST_POSITIONS, Instance, latest, missing, report


def instances(count: int, gap: float = 0.01) -> list[Instance]:
    some = Instance(0, 0, 0, "cpu-hours", gap, "exact", 100, 0.1)
    return [replace(some, applications=APPLICATIONS[i % 3], number=i // 3) for i in range(count)]


def said(found: list[Instance], capsys: pytest.CaptureFixture[str]) -> list[str]:
    report(found)
    return capsys.readouterr().out.splitlines()


def test_all_instances_give_the_figure(capsys: pytest.CaptureFixture[str]) -> None:
    found = instances(INSTANCES)
    found[0] = replace(found[0], gap=BAR, known="at_most")
    found[1] = replace(found[1], gap=0.03, known="at_least")
    lines = said(found, capsys)
    assert "policy.heuristic_gap_greatest 0.03 ratio" in lines
    assert "policy.heuristic_gap_above 1 instances" in lines
    assert "policy.heuristic_gap_bounded 1 instances" in lines
    assert "policy.heuristic_gap_not_known 0 instances" in lines
    assert not any(line.startswith("unmet") for line in lines)


def test_one_search_that_was_cut_off_leaves_it_not_met_and_is_in_no_mean(capsys: pytest.CaptureFixture[str]) -> None:
    found = instances(INSTANCES)
    found[0] = replace(found[0], gap=0.0, known="not_known")
    lines = said(found, capsys)
    assert "policy.heuristic_gap_not_known 1 instances" in lines
    assert lines[-1] == (
        "unmet policy.heuristic_gap of 1000, 1 searches were cut off, and nothing is known of their gap; "
        "of the 999 others 0 are above 0.02; greatest 0.0100"
    )
    assert "policy.heuristic_gap_of_9_mean 0.01 ratio" in lines
    assert "policy.heuristic_gap_of_9_instances 333 instances" in lines


def test_fewer_than_all_instances_are_no_measurement(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        "unmet policy.heuristic_gap 30 of 1000 instances; the same command goes on" in said(instances(30), capsys)[-1]
    )
    assert said([], capsys)[-1] == "unmet policy.heuristic_gap 0 of 1000 instances; the same command goes on"


def test_only_searches_that_were_cut_off_are_tried_with_more_positions() -> None:
    first, second = MOST_POSITIONS
    found = instances(INSTANCES)
    del found[7]
    found[0] = replace(found[0], known="not_known", most_positions=first)
    found[1] = replace(found[1], known="at_least", most_positions=first)
    found[2] = replace(found[2], known="at_most")
    assert list(missing(latest(found), first)) == [(10, 2)]
    assert list(missing(latest(found), second)) == [(9, 0), (10, 0), (10, 2)]
    again = replace(found[0], known="not_known", most_positions=second)
    assert list(missing(latest([*found, again]), second)) == [(10, 0), (10, 2)]
