"""Which MPI library a run used, which of the two implementations of MPI-IO, and what Open MPI calls its parameters."""

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
        old, new = ROMIO_COMPONENTS
        return new if self.major >= 5 else old

    @property
    def collective_methods(self) -> tuple[str, str]:
        """Values of COLLECTIVE_METHOD that this Open MPI has: version 5 has no two_phase any more."""
        return ("two_phase" if 0 < self.major <= 4 else "dynamic_gen2"), "vulcan"


ROMIO_COMPONENTS = ("romio321", "romio341")
"""Of Open MPI: up to version 4, and from 5 on."""
PARAMETER = "OMPI_MCA_"
"""With it begins each variable that sets a parameter of Open MPI."""
COMPONENT = f"{PARAMETER}io"
"""Which MPI-IO Open MPI takes: ompio, romio321, ^ompio."""
COLLECTIVE_METHOD = f"{PARAMETER}fcoll"
"""How Open MPI's own MPI-IO does collective calls."""
AGGREGATORS = f"{PARAMETER}io_ompio_num_aggregators"
"""How many it takes, instead of the hint cb_nodes."""
SIEVING = f"{PARAMETER}fbtl_posix_write_datasieving"
"""Whether it sieves writes (0: no), instead of the hint romio_ds_write."""
OWN_MPIIO = (COLLECTIVE_METHOD, f"{PARAMETER}fbtl", f"{PARAMETER}fs", f"{PARAMETER}io_ompio", f"{PARAMETER}sharedfp")
"""With these begin the parameters of Open MPI's own MPI-IO."""


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


def mpiio_of(library: Library, hints: Iterable[str], component: str | None = None) -> MpiIo:
    """`hints`: names of those in force on the files that MPI-IO opened. `component`: Open MPI's, where one was chosen.

    ROMIO tells hints of its own (`romio_…`) for each file, but not as a component of Open MPI 4. Open MPI takes its own
    MPI-IO unless told otherwise; of a list of names, too, where it is one of them. All other libraries bring ROMIO.
    """
    if any(name.startswith("romio_") for name in hints):
        return MpiIo.ROMIO
    if not library.told:
        return MpiIo.UNKNOWN
    return MpiIo.OMPIO if library.family == Family.OPEN_MPI and not _is_other(component or "") else MpiIo.ROMIO


def _is_other(component: str) -> bool:
    """Whether Open MPI, told this, takes ROMIO."""
    names = [name.strip() for name in component.lstrip("^").split(",")]
    if component.startswith("^"):
        return "ompio" in names
    return "ompio" not in names and any(name.startswith("romio") for name in names)
