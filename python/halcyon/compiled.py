"""Finds the compiled part of the package when a verb needs it, so that the rest works without it."""

from importlib import import_module
from typing import Protocol, cast

from halcyon.errors import UnavailableError


class Core(Protocol):
    """What the command line uses of halcyon._core. Its functions raise halcyon.errors."""

    def rebuild_view(self, directory: str) -> int:
        """Replaces the view by rename; returns how many iterations it shows."""
        ...

    def check(self, config: str, ranks: int = 0) -> str:
        """Parses a configuration, for that many ranks where > 0, and says what is in it; ConfigError: it is wrong."""
        ...


def core() -> Core:
    """The module halcyon._core; UnavailableError where the package was installed without it."""
    try:
        return cast(Core, import_module("halcyon._core"))
    except ImportError as why:
        message = f"the compiled module halcyon._core cannot be loaded ({why}); install Halcyon with `pip install .`"
        raise UnavailableError(message) from why
