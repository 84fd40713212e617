"""Finds runs in a folder of many: recordings, data sets, and the traces of other tools."""

import os
from dataclasses import dataclass
from pathlib import Path

from halcyon.errors import ConfigError, HalcyonError, UsageError
from halcyon.observe.open_run import names_a_run

DEEPEST = 4
"""Folders below the one named in which runs are looked for: year, month, day and one more."""
_ENDINGS = (".darshan", ".otf2", ".pfw", ".pfw.gz")
"""Of names that promise a trace: such a file that is none is named, any other is not spoken of."""


@dataclass(frozen=True)
class Unread:
    """Something that looks like a run and could not be read."""

    name: str
    why: str


@dataclass(frozen=True)
class Found:
    """Paths of runs, and what looked like one."""

    runs: list[Path]
    unread: list[Unread]


def find_runs(directory: Path) -> Found:
    """Runs in `directory`, at most DEEPEST folders down, by name; what is hidden is left out.

    A folder that is a run (a recording, a data set, a folder of DFTracer, Recorder or OTF2) is one as a whole. What
    several links lead to is there once.
    UsageError: there is nothing that looks like a run.
    """
    found = Found([], [])
    if directory.is_dir():
        _search(directory, directory, 0, found, set())
    if not found.runs and not found.unread:
        raise UsageError(
            f"{directory}: no run here, nor {DEEPEST} folders down: no recording of `halcyon run --trace`, no data "
            "set, no trace of another tool"
        )
    return found


def _search(path: Path, top: Path, depth: int, found: Found, seen: set[str]) -> None:
    try:
        if (place := os.path.realpath(path, strict=True)) in seen:
            return
        seen.add(place)
        if names_a_run(path):
            found.runs.append(path)
        elif path.is_dir() and depth <= DEEPEST:
            for inner in sorted(path.iterdir()):
                if not inner.name.startswith("."):
                    _search(inner, top, depth + 1, found, seen)
    except ConfigError as why:
        if path.name.endswith(_ENDINGS):
            found.unread.append(Unread(str(path.relative_to(top)), str(why)))
    except (HalcyonError, OSError) as why:
        found.unread.append(Unread(str(path.relative_to(top)), str(why)))
