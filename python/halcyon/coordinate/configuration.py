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


def default_file() -> Path:
    """coordinators.yaml of this machine."""
    return Path(os.environ.get(VARIABLE) or DEFAULT)


def find_program() -> Path:
    """halcyon-coordinator. UnavailableError: there is none."""
    return find_installed("halcyon-coordinator", "HALCYON_COORDINATOR")


def read_coordinators(file: Path) -> list[Coordinator]:
    """ConfigError: with file, line and key path."""
    done = subprocess.run([find_program(), "--show", file], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ConfigError(done.stderr.strip().removeprefix("halcyon-coordinator: "))
    return [
        Coordinator(one["name"], one["paths"], [parse_address(each) for each in one["addresses"]], one["munge_socket"])
        for one in json.loads(done.stdout)
    ]


def choose(file: Path, name: str | None) -> Coordinator:
    """By name; None: the only one."""
    known = read_coordinators(file)
    names = ", ".join(one.name for one in known)
    if name is None:
        if len(known) == 1:
            return known[0]
        raise UsageError(f"{file} has {len(known)} coordinators: {names}; name one of them with --name")
    if found := next((one for one in known if one.name == name), None):
        return found
    raise UsageError(f"{file}: no coordinator {name!r}; known coordinators: {names}")
