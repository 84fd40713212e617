"""Findings of real runs whose truth is known: what is wrong is said, what is right is left alone."""

from pathlib import Path

import pytest
from observe.scored.scoring import Scored, judged, needed, precision, recall, score
from observe.scored.truth import TRUTHS, Truth

from halcyon.observe.findings import Finding


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("truth", [one for one in TRUTHS if one.certain], ids=lambda truth: truth.name)
def test_a_run_whose_truth_is_known_is_judged_so(truth: Truth, tmp_path: Path) -> None:
    if (missing := needed(truth)) is not None:
        pytest.skip(f"needs {missing}")
    one = score(truth, tmp_path / "scored")
    assert one.missing == frozenset()
    assert one.false == frozenset()
    assert one.wrong_words == ()


def test_the_table_has_runs_with_a_fault_and_runs_without() -> None:
    assert sum(bool(one.expected) for one in TRUTHS) >= 10
    assert sum(not one.expected for one in TRUTHS) >= 6
    assert len({one.name for one in TRUTHS}) == len(TRUTHS)


def finding(key: str, change: str = "") -> Finding:
    return Finding(key, "", "low", "", change, None, "", None, None)


def scored(expected: set[str], found: set[str], change: str = "") -> Scored:
    truth = Truth("invented", frozenset(expected), frozenset({"allowed"}), never_said=("next job",))
    return judged(truth, [finding(key, change) for key in found])


def test_what_is_false_lowers_the_precision_and_what_is_missing_the_recall() -> None:
    assert precision([scored({"a"}, {"a", "allowed"})]) == recall([scored({"a"}, {"a"})]) == 1.0
    assert precision([scored({"a"}, {"a", "b"}), scored({"c"}, set())]) == 0.5
    assert recall([scored({"a"}, {"a", "b"}), scored({"c"}, set())]) == 0.5
    assert precision([scored({"a"}, {"a"}, "leave it out of the next job")]) == 0.5
