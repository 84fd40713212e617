"""Runs a reader in a process of its own: a damaged file kills C libraries, or sends them in circles."""

from pathlib import Path

from halcyon.errors import ConfigError
from halcyon.observe.isolation import LibraryError, call_isolated

SECONDS = 60
SECONDS_PER_MIB = 10
MOST_SECONDS = 86400
"""Libraries that a damaged file sends in circles are stopped; whole files need a fraction of a second per MiB.
A file with a hole seems larger than any time."""


def read_isolated(module: str, path: Path, directory: Path) -> None:
    """Calls `read(path, directory)` of `module` in a child process. Its errors are raised here.

    ConfigError also when the child dies or does not end: that is a file on which the library fails.
    """
    size = sum(each.stat().st_size for each in (path.rglob("*") if path.is_dir() else [path]) if each.is_file())
    limit = min(SECONDS + SECONDS_PER_MIB * (size >> 20), MOST_SECONDS)
    try:
        call_isolated(module, "read", path, directory, limit)
    except TimeoutError as why:
        raise ConfigError(f"{path}: not read within {limit} s: its reader goes in circles: damaged") from why
    except LibraryError as why:
        last = f" ({why.said[-1]})" if why.said else ""
        raise ConfigError(f"{path}: its reader {why.ended}{last}: damaged, or of an unknown version") from why
