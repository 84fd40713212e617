"""Coordinators by what coordinators.yaml says; the daemon's own program reads it."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from halcyon.coordinate.address import Address, parse_address
from halcyon.errors import ConfigError, UsageError
from halcyon.installed_program import find_installed

VARIABLE = "HALCYON_COORDINATORS_FILE"
DEFAULT = Path("/etc/halcyon/coordinators.yaml")


@dataclass(frozen=True)
class Coordinator:
    """Of one file system."""

    name: str
    paths: list[str]
    addresses: list[Address]
    """Of the daemons that can be elected; of the only one."""
    munge_socket: str
    user: int | None
    """Of the daemon, who is believed at Unix addresses; None: nobody is named."""
    reached_at: str
    """The addresses, and whom agents believe there, as HALCYON_COORDINATORS says it (agent_loop.hpp)."""


def default_file() -> Path:
    """coordinators.yaml of this machine."""
    return Path(os.environ.get(VARIABLE) or DEFAULT)


def find_program() -> Path:
    """halcyon-coordinator. UnavailableError: there is none."""
    return find_installed("halcyon-coordinator", "HALCYON_COORDINATOR")


def read_coordinators(file: Path) -> list[Coordinator]:
    """ConfigError: with file, line and key path."""
    return _shown("--show", str(file))


def choose(file: Path, name: str | None) -> Coordinator:
    """By name; None: the only one. UsageError: there is none of that name, or there are several; ConfigError: as
    above."""
    (chosen,) = _shown("--show-one", str(file), *([] if name is None else ["--name", name]))
    return chosen


def _shown(*options: str) -> list[Coordinator]:
    """By the program, whose exit status 2 says that the question made no sense."""
    done = subprocess.run([find_program(), *options], capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().removeprefix("halcyon-coordinator: ")
        raise UsageError(said.splitlines()[0]) if done.returncode == _USAGE else ConfigError(said)
    return [
        Coordinator(
            one["name"],
            one["paths"],
            [parse_address(each) for each in one["addresses"]],
            one["munge_socket"],
            one["user"],
            one["reached_at"],
        )
        for one in json.loads(done.stdout)
    ]


_USAGE = 2
