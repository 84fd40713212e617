"""Runs commands on a directory whose files are log containers, and on a plain one."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halcyon.layers.logs import Logs, containers_below
from halcyon.layers.preload import preloading

MARKER = "halcyon-container"


@dataclass(frozen=True)
class Place:
    """A directory, plain or logged."""

    directory: Path
    is_logged: bool

    @property
    def variables(self) -> dict[str, str]:
        return preloading() | Logs((str(self.directory),)).variables() if self.is_logged else {}

    def run(self, *words: object, **how: Any) -> subprocess.CompletedProcess[str]:
        """The command; what it says has the directory's name taken out."""
        extra: Mapping[str, str] = how.pop("extra", {})
        done = subprocess.run(
            [str(word) for word in words],
            env={**os.environ, "LC_ALL": "C", **self.variables, **extra},
            **{"cwd": "/", "stdin": subprocess.DEVNULL, "timeout": 300, **how},
            capture_output=True,
            text=True,
            errors="backslashreplace",
            check=False,
        )
        done.stdout = done.stdout.replace(str(self.directory), "DIRECTORY")
        done.stderr = done.stderr.replace(str(self.directory), "DIRECTORY")
        return done

    def shell(self, script: str, *words: object, **how: Any) -> subprocess.CompletedProcess[str]:
        """By dash; $1 is the directory."""
        return self.run("dash", "-c", script, "sh", self.directory, *words, **how)

    def containers(self) -> set[str]:
        """Paths below the directory, as the kernel has them."""
        return {str(path.relative_to(self.directory)) for path in containers_below(self.directory)}

    def left(self) -> list[str]:
        """What should not be there when all processes have ended."""
        return [name for _, names, _ in os.walk(self.directory) for name in names if name.startswith(".halcyon-")]


def both(folder: Path) -> tuple[Place, Place]:
    """A plain directory, and a logged one."""
    places = Place(folder / "plain", is_logged=False), Place(folder / "logged", is_logged=True)
    for place in places:
        place.directory.mkdir(parents=True)
    return places


def same(places: tuple[Place, Place], script: str, *words: object) -> subprocess.CompletedProcess[str]:
    """What dash says on both, which is the same."""
    plain, logged = (place.shell(script, *words) for place in places)
    assert logged.stdout == plain.stdout, logged.stderr
    assert logged.stderr == plain.stderr
    assert logged.returncode == plain.returncode
    return plain


def halcyon(*words: object, **how: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "halcyon", *map(str, words)],
        **{"capture_output": True, "text": True, "check": False, "timeout": 300, **how},
    )
