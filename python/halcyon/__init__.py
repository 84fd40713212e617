"""Halcyon makes the I/O of HPC simulations calm: its command line, its analyses and its reports."""

from importlib.metadata import PackageNotFoundError, version

from halcyon.errors import (
    ConfigError,
    HalcyonError,
    HalcyonSystemError,
    InternalError,
    UnavailableError,
    UsageError,
)

try:
    __version__ = version("halcyon")
except PackageNotFoundError:  # imported from a source tree that was never installed
    __version__ = "0+source"

__all__ = [
    "ConfigError",
    "HalcyonError",
    "HalcyonSystemError",
    "InternalError",
    "UnavailableError",
    "UsageError",
    "__version__",
]
