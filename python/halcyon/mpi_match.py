"""Whether mpi4py and the compiled client use the same MPI: a communicator of one means nothing to the other."""

from typing import Any, Protocol

from halcyon.errors import UnavailableError


class CompiledClient(Protocol):
    """What of halcyon._client is asked here."""

    MPI_FAMILY: str

    def mpi_library_version(self) -> str:
        """What MPI_Get_library_version says."""
        ...


def family_of(library_version: str) -> str:
    """Libraries of one family can stand in for one another; "" for one that is not known."""
    if "Open MPI" in library_version:
        return "Open MPI"
    if any(name in library_version for name in ("MPICH", "Intel(R) MPI", "MVAPICH")):
        return "MPICH"
    return ""


def refuse_other_mpi(client: CompiledClient, mpi: Any) -> None:
    """Raises UnavailableError unless `mpi`, the module mpi4py.MPI, uses the client's MPI."""
    theirs = mpi.Get_library_version().strip("\0\n ")
    their_line = theirs.splitlines()[0]
    if family_of(theirs) != client.MPI_FAMILY:
        raise UnavailableError(
            f"mpi4py uses '{their_line}', halcyon._client was built for {client.MPI_FAMILY}: their communicators are "
            f"not the same. Install an mpi4py built for {client.MPI_FAMILY}, or build Halcyon with the MPI of mpi4py"
        )
    # Asked only now: calls into an MPI of another family than the one mpi4py loaded may crash.
    ours = client.mpi_library_version().strip("\0\n ")
    if ours != theirs:
        raise UnavailableError(
            f"mpi4py uses '{their_line}', halcyon._client uses '{ours.splitlines()[0]}': two libraries in one process "
            "do not share communicators. Let both find the same one (LD_LIBRARY_PATH)"
        )
