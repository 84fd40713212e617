"""What tests of logs need."""

import pytest


@pytest.fixture(autouse=True)
def _library(library: None) -> None:
    """Processes are started that log."""
