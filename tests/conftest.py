"""Tests that need large extras or take long are skipped, visibly, unless pytest is called with --full."""

import gc
import signal
from collections.abc import Iterator

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run the tests that need large extras or take long, too")
    parser.addoption(
        "--build",
        metavar="PRESET",
        help="the build whose programs the tests of sessions start, e.g. asan-ubsan (default: release and mpich)",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        return
    skip = pytest.mark.skip(reason="needs large extras, or takes long: make test-full")
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(skip)


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: the collector of cycles need not look through them again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def pytest_unconfigure() -> None:
    """What lives in compiled modules is given back at the end, or they report it as leaked."""
    gc.unfreeze()


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Programs that the test starts heed SIGINT even where the tests ignore it: a shell starts a job in the background
    with that signal ignored, and whatever the job starts ignores it too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
