"""What tests of several folders need."""

import os
import signal
from pathlib import Path

import pytest

import halcyon
from halcyon.errors import UnavailableError
from halcyon.layers.preload import find_library

_SOURCES = Path(__file__).resolve().parents[2] / "python"
if Path(halcyon.__file__).resolve().parents[1] == _SOURCES:
    # Programs that tests start, in whatever folder, import this package, too: its name in the environment may be
    # relative, and another checkout's may be installed.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(_SOURCES), *filter(None, [os.environ.get("PYTHONPATH")])])

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what goes on in the background so: tests press Ctrl-C all the same.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def library() -> None:
    """libhalcyon-io, with which processes are started that take part in something; skipped where there is none."""
    try:
        find_library()
    except UnavailableError as why:
        pytest.skip(str(why))
