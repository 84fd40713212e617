"""What tests of several folders need."""

import pytest

from halcyon.errors import UnavailableError
from halcyon.layers.preload import find_library


@pytest.fixture
def library() -> None:
    """libhalcyon-io, with which processes are started that take part in something; skipped where there is none."""
    try:
        find_library()
    except UnavailableError as why:
        pytest.skip(str(why))
