"""By what means MPI-IO is told how to work: hints reach ROMIO, parameters (OMPI_MCA_…) Open MPI's own MPI-IO."""

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.mpi_library import Family, MpiIo

AGGREGATORS = "OMPI_MCA_io_ompio_num_aggregators"
"""How many Open MPI's own MPI-IO takes, instead of the hint cb_nodes."""
SIEVING_OFF = "OMPI_MCA_fbtl_posix_write_datasieving=0"
"""Its own data sieving, instead of the hint romio_ds_write=disable."""


def of_mpiio(answers: Answers, *, romio: str, ompio: str) -> str:
    """The words for the MPI-IO that the run used; both where that is not known."""
    match answers.mpiio_used.implementation:
        case MpiIo.ROMIO:
            return romio
        case MpiIo.OMPIO:
            return ompio
    return f"{romio} (with Open MPI's own MPI-IO instead: {ompio})" if ompio else romio


def hint(answers: Answers, text: str, *, ompio: str | None = None, where: str = "") -> str:
    """`the MPI-IO hint romio_cb_write=enable`, or what there is in its place.

    `ompio`: parameters of Open MPI's own MPI-IO to the same effect; None: it has none. Its ROMIO has the hint, too.
    `where`: to be said behind the hint, how ROMIO is given it.
    """
    library = answers.mpiio_used.library
    component = f"OMPI_MCA_io={library.romio_component}" if library.family == Family.OPEN_MPI else "OMPI_MCA_io=romio…"
    instead = f"{component}, which reads the hint {text} from the file that ROMIO_HINTS names"
    own = f"{ompio}, or {instead}" if ompio is not None else instead
    return of_mpiio(answers, romio=f"the MPI-IO hint {text}{where}", ompio=own)


def whole_stripes(answers: Answers) -> str:
    """By what MPI-IO writes a file in whole stripes."""
    return of_mpiio(
        answers,
        romio="the hints striping_unit and (for Lustre) romio_cb_write=enable for MPI-IO",
        ompio="collective calls of MPI-IO to files whose stripes were set with lfs setstripe",
    )


def striping(answers: Answers, *hints: str) -> str:
    """`, the MPI-IO hints striping_factor and striping_unit`; empty: this MPI-IO has none."""
    named = " and ".join(hints)
    return of_mpiio(answers, romio=f", the MPI-IO hint{'s' if len(hints) > 1 else ''} {named}", ompio="")
