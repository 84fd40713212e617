"""Titles name the runs at both ends of a scale, and never say the same of one run twice."""

from pathlib import Path

import pytest
from synthetic_runs import Shape, write_counts, write_run

from halcyon.offload.comparison import open_comparison
from halcyon.offload.report.figures import FIGURES, Picture
from halcyon.offload.report.figures.best_and_worst import best_and_worst
from halcyon.quantities import percent


@pytest.mark.parametrize(
    ("shares", "title"),
    [
        ({"a": 0.5}, "Busy 50 % of the time"),
        ({"a": 0.2, "b": 0.5}, "Busy 50 % of the time with b, 20 % with a"),
        ({"a": 0.5, "b": 0.5}, "Busy 50 % of the time with a and b"),
        ({"a": 0.504, "b": 0.496}, "Busy 50 % of the time with a and b"),
        ({"a": 0.5, "b": 0.5, "c": 0.5}, "Busy 50 % of the time with a and 2 others"),
        ({"a": 0.5, "b": 0.2, "c": 0.2, "d": 0.3}, "Busy 50 % of the time with a, 20 % with b and c"),
        ({"a": 0.2, "b": 0.5, "c": 0.5, "d": 0.5}, "Busy 50 % of the time with b and 2 others, 20 % with a"),
    ],
)
def test_runs_whose_values_read_alike_are_named_together(shares: dict[str, float], title: str) -> None:
    assert best_and_worst(list(shares.items()), lambda s: -s, percent, "Busy {} of the time") == title


def test_runs_at_one_place_that_read_differently_are_both_told() -> None:
    waits = [("a", (2.0, 1.0)), ("b", (2.0, 1.5))]
    title = best_and_worst(waits, lambda w: w[0], lambda w: f"{w[0]} ({w[1]})")
    assert title == "2.0 (1.0) with a, 2.0 (1.5) with b"


@pytest.mark.parametrize("name", [name for name in FIGURES if name != "scalability"])
def test_titles_of_equal_runs_say_a_value_once(tmp_path: Path, name: str) -> None:
    runs = [write_run(tmp_path / run, Shape(phases=3)) for run in ("one", "two")]
    for run in runs:
        write_counts(run, busy_ns=3 * 10**8, idle_ns=10**9)
    shown = FIGURES[name](open_comparison(runs))
    assert isinstance(shown, Picture)
    assert shown.title.count("halcyon (one)") == shown.title.count("halcyon (two)") == 1
    assert "with halcyon (one) and halcyon (two)" in shown.title
