"""Tests that need large extras are skipped, visibly, unless pytest is called with --full."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run the tests that need large extras, too")
    parser.addoption(
        "--build",
        metavar="PRESET",
        help="the build whose programs the tests of sessions start, e.g. asan-ubsan (default: release and mpich)",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        return
    skip = pytest.mark.skip(reason="needs large extras: make test-full")
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(skip)
