"""Which directories a command's processes see as such of log containers, and what came of it."""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from halcyon.errors import UsageError

MOST_DIRECTORIES = 4
"""mounts.hpp has no more."""

MARKERS = ("halcyon-container", ".plfsaccess113918400")
"""Files that make a directory a container: ours, and PLFS's."""


@dataclass(frozen=True)
class Logs:
    """Each file below one of these directories is a log container."""

    directories: tuple[str, ...]
    """As they were given: programs may use that spelling, or the one without symbolic links."""

    def variables(self) -> dict[str, str]:
        """UsageError: one of them is no directory, or lies in a container; there are too many."""
        wanted: list[str] = []
        for given in self.directories:
            path = os.path.abspath(given)  # noqa: PTH100  the spelling counts, links and all
            if ":" in given:
                raise UsageError(f"--log {given}: the path has a ':', which separates paths; give one without it")
            if path == "/":
                raise UsageError(f"--log {given}: the root directory; expected a directory below it")
            if not Path(path).is_dir():
                reason = "a file" if Path(path).exists() else "no such directory"
                raise UsageError(f"--log {given}: {reason}; expected a directory that all processes of the command see")
            if within := container_above(Path(path)):
                raise UsageError(f"--log {given}: {within} is a log container itself; expected a directory around it")
            if path not in wanted:
                wanted.append(path)
        # A directory below another one of them is answered for already.
        paths = [one for one in wanted if not any(one.startswith(f"{other}/") for other in wanted)]
        needed = len({*paths, *map(os.path.realpath, paths)})
        if needed > MOST_DIRECTORIES:
            linked = ", counting those with symbolic links twice" if needed > len(paths) else ""
            raise UsageError(f"--log: {needed} directories{linked}; expected {MOST_DIRECTORIES} or fewer")
        return {"HALCYON_LOG": ":".join(paths)}


def is_container(path: Path) -> bool:
    """Whether this directory stands for a file."""
    return any((path / marker).exists() for marker in MARKERS)


def container_above(path: Path) -> Path | None:
    """This directory or one above it, where that is a container."""
    real = path.resolve()
    return next((one for one in (real, *real.parents) if is_container(one)), None)


def containers_below(directory: Path) -> Iterator[Path]:
    """All containers below a directory. What cannot be read is passed over."""
    for folder, names, _ in os.walk(directory):
        containers = [name for name in names if is_container(Path(folder, name))]
        names[:] = [name for name in names if name not in containers]
        yield from (Path(folder, name) for name in containers if not name.startswith(".halcyon-"))


def writers_of(container: Path) -> int:
    """Processes that wrote into it, once for each time that they opened it."""
    return sum(1 for _ in container.glob("hostdir.*/index.*")) or sum(
        1 for _ in container.glob("hostdir.*/dropping.index.*")
    )


def say_what_was_logged(logs: Logs) -> None:
    """A line on standard error for each directory."""
    for given in logs.directories:
        found = list(containers_below(Path(given)))
        writers = sum(map(writers_of, found))
        files = "1 file is a log container" if len(found) == 1 else f"{len(found)} files are log containers"
        by = "1 writer" if writers == 1 else f"{writers} writers"
        seen = "; without `halcyon run --log` each looks like a directory" if found else ""
        print(f"halcyon: {given}: {files}, of {by}{seen}", file=sys.stderr)
