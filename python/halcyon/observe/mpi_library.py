"""Which MPI library a run used, and which of the two implementations of MPI-IO."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum


class Family(StrEnum):
    """Told apart by how they take hints."""

    ROMIO = "ROMIO"  # MPICH and what is made of it: a file of hints
    CRAY = "Cray MPICH"  # MPICH_MPIIO_HINTS
    OPEN_MPI = "Open MPI"  # its own MPI-IO reads no hints from outside, its ROMIO component does


@dataclass(frozen=True)
class Library:
    """The MPI library: its family and major version (0: not known)."""

    family: Family = Family.ROMIO
    major: int = 0
    told: bool = field(default=True, compare=False)
    """By the run; else it is an assumption."""

    @property
    def romio_component(self) -> str:
        """Open MPI's name for the ROMIO that it brings along."""
        return "romio341" if self.major >= 5 else "romio321"


def library_of(text: str | None) -> Library:
    """From what MPI_Get_library_version says; without it, a library that reads ROMIO's hints is assumed."""
    if text is None:
        return Library(told=False)
    version = re.search(r"(?:Open MPI v|version:?\s*)(\d+)", text, re.IGNORECASE)
    major = int(version[1]) if version else 0
    if "Open MPI" in text:
        return Library(Family.OPEN_MPI, major)
    return Library(Family.CRAY if "CRAY MPICH" in text.upper() else Family.ROMIO, major)


class MpiIo(StrEnum):
    """Implementations of MPI-IO: they are tuned by different means."""

    ROMIO = "ROMIO"  # of MPICH and what is made of it; a component of Open MPI
    OMPIO = "OMPIO"  # Open MPI's own
    UNKNOWN = "unknown"


COMPONENT = "OMPI_MCA_io"
"""The variable that tells Open MPI which MPI-IO to take: ompio, romio321, ^ompio."""


def mpiio_of(library: Library, hints: Iterable[str], component: str | None = None) -> MpiIo:
    """`hints`: names of those in force on the files that MPI-IO opened. `component`: Open MPI's, where one was chosen.

    ROMIO tells hints of its own (`romio_…`) for each file, but not as a component of Open MPI 4. Open MPI takes its own
    MPI-IO unless told otherwise. All other libraries bring ROMIO.
    """
    if any(name.startswith("romio_") for name in hints):
        return MpiIo.ROMIO
    if not library.told:
        return MpiIo.UNKNOWN
    chosen = component or ""
    other = "ompio" in chosen if chosen.startswith("^") else "romio" in chosen
    return MpiIo.OMPIO if library.family == Family.OPEN_MPI and not other else MpiIo.ROMIO
