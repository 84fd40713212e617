"""The same tables and findings on every engine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from observe.analysis import scenarios
from observe.analysis.random_trace import random_trace

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.dataset import Dataset
from halcyon.observe.engines import Engine
from halcyon.observe.report_tables import report_tables
from halcyon.printed.plain import plain


@pytest.fixture
def reference(tmp_path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    path = random_trace(11).store(tmp_path / "run")
    with Dataset.open(path) as dataset:
        yield path, plain(report_tables(dataset))


def test_all_engines_give_the_same_tables(reference: tuple[Path, dict[str, Any]], engine: Engine) -> None:
    path, expected = reference
    found = plain(report_tables(Dataset.open(path, engine)))
    assert found["calls"] > 0
    for name, value in expected.items():
        assert found[name] == value, name


def test_all_engines_divide_collective_calls_alike(tmp_path: Path, engine: Engine) -> None:
    path = scenarios.behind_the_aggregator(own_ms=30.0).store(tmp_path / "run")
    with Dataset.open(path) as dataset:
        expected = Answers(dataset).collectives.all
    assert expected[0].waited_s > 1.0
    assert Answers(Dataset.open(path, engine)).collectives.all == expected
