"""Halcyon makes the I/O of HPC simulations calm: its command line, its analyses and its reports."""

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from halcyon.errors import (
    ConfigError,
    HalcyonError,
    HalcyonSystemError,
    InternalError,
    UnavailableError,
    UsageError,
)


def _version_of_source() -> str:
    """As CMakeLists.txt of the source tree around this package says it, from which installations have theirs, too."""
    try:
        text = (Path(__file__).parents[2] / "CMakeLists.txt").read_text(encoding="utf-8")
    except OSError:
        return "unknown"
    found = re.search(r"project\(halcyon VERSION (\S+)", text)
    return found[1] if found else "unknown"


try:
    __version__ = version("halcyon")
except PackageNotFoundError:  # imported from a source tree that was never installed
    __version__ = _version_of_source()

__all__ = [
    "ConfigError",
    "HalcyonError",
    "HalcyonSystemError",
    "InternalError",
    "UnavailableError",
    "UsageError",
    "__version__",
]
