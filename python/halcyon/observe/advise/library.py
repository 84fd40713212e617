"""What an MPI library reads settings from."""

import os
from dataclasses import dataclass
from pathlib import Path

from halcyon.observe.advise.settings import Setting
from halcyon.observe.mpi_library import COMPONENT, Family, Library

HINTS_FILE = "ROMIO_HINTS"
CRAY_HINTS = "MPICH_MPIIO_HINTS"


@dataclass(frozen=True)
class Recipe:
    """What a user has to do so that settings take effect: lines of a hints file, and variables."""

    hints: dict[str, str]
    """The hints file's content; empty where none is needed."""
    variables: dict[str, str]
    """Those besides the one that names the hints file."""

    def hints_text(self) -> str:
        """A hint a line."""
        return "".join(f"{name} {value}\n" for name, value in self.hints.items())

    def environment(self, hints_file: Path) -> dict[str, str]:
        """All variables; writes `hints_file` where one is needed. Hints that the user has set already stay."""
        if not self.hints:
            return dict(self.variables)
        before = os.environ.get(HINTS_FILE)
        old = Path(before).read_text(encoding="utf-8") if before and Path(before).is_file() else ""
        kept = [line for line in old.splitlines() if line.split() and line.split()[0] not in self.hints]
        hints_file.write_text("".join(f"{line}\n" for line in kept) + self.hints_text(), encoding="utf-8")
        return self.variables | {HINTS_FILE: str(hints_file)}


def recipe(settings: tuple[Setting, ...], library: Library) -> Recipe:
    """How this library is given these settings."""
    hints = {one.name: one.value for one in settings if one.is_hint}
    variables = {one.name: one.value for one in settings if not one.is_hint}
    if hints and library.family == Family.CRAY:
        own = ":".join(f"{name}={value}" for name, value in hints.items())
        before = os.environ.get(CRAY_HINTS)
        return Recipe({}, variables | {CRAY_HINTS: f"{before},*:{own}" if before else f"*:{own}"})
    if hints and library.family == Family.OPEN_MPI:
        variables.setdefault(COMPONENT, library.romio_component)
    return Recipe(hints, variables)
