"""Halcyon makes the I/O of HPC simulations calm: its command line, its analyses and its reports."""

import re
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


def __getattr__(name: str) -> str:
    """`__version__`: whoever does not ask for it does not look through all installed packages."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("halcyon")
    except PackageNotFoundError:  # imported from a source tree that was never installed
        return _version_of_source()


__all__ = [
    "ConfigError",
    "HalcyonError",
    "HalcyonSystemError",
    "InternalError",
    "UnavailableError",
    "UsageError",
    "__version__",
]
