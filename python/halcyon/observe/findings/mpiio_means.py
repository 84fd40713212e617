"""By what means MPI-IO is told how to work: hints reach ROMIO, parameters (OMPI_MCA_…) Open MPI's own MPI-IO."""

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.mpi_library import AGGREGATORS, COLLECTIVE_METHOD, COMPONENT, SIEVING, Family, MpiIo


def of_mpiio(answers: Answers, *, romio: str, ompio: str) -> str:
    """The words for the MPI-IO that the run used; both where that is not known."""
    match answers.mpiio_used.implementation:
        case MpiIo.ROMIO:
            return romio
        case MpiIo.OMPIO:
            return ompio
    return f"{romio} (with Open MPI's own MPI-IO instead: {ompio})" if ompio else romio


def other_component(answers: Answers) -> str:
    """`OMPI_MCA_io=romio321 (mpirun --mca io romio321)`: Open MPI's other MPI-IO, instead of its own."""
    library = answers.mpiio_used.library
    if library.family != Family.OPEN_MPI:
        return f"{COMPONENT}=romio…"
    name = library.romio_component
    return f"{COMPONENT}={name} (mpirun --mca io {name})"


def aggregators(answers: Answers, count: int) -> str:
    """`the MPI-IO hint cb_nodes=4`, or Open MPI's parameter."""
    return of_mpiio(answers, romio=f"the MPI-IO hint cb_nodes={count}", ompio=f"{AGGREGATORS}={count}")


def hint(answers: Answers, text: str, *, ompio: str | None = None, where: str = "", romio_first: bool = False) -> str:
    """`the MPI-IO hint romio_cb_write=enable`, or what there is in its place.

    `ompio`: parameters of Open MPI's own MPI-IO to the same effect; None: it has none. Its ROMIO has the hint, too.
    `where`: to be said behind the hint, how ROMIO is given it. `romio_first`: its ROMIO is the better way.
    """
    library = answers.mpiio_used.library
    component = f"{COMPONENT}={library.romio_component if library.family == Family.OPEN_MPI else 'romio…'}"
    instead = f"{component}, which reads the hint {text} from the file that ROMIO_HINTS names"
    parts = [instead, ompio] if romio_first else [ompio, instead]
    own = ", or ".join(part for part in parts if part is not None)
    return of_mpiio(answers, romio=f"the MPI-IO hint {text}{where}", ompio=own)


def without_sieving(answers: Answers, where: str = "") -> str:
    """By what MPI-IO writes pieces one by one. `where` as for `hint`."""
    unsure = f"{SIEVING}=0 (without effect on independent writes where that was measured, Open MPI 4.1.4)"
    return hint(answers, "romio_ds_write=disable", ompio=unsure, where=where, romio_first=True)


def collective_methods(answers: Answers) -> list[str]:
    """`OMPI_MCA_fcoll=vulcan`, …: other ways in which Open MPI's own MPI-IO can do collective calls."""
    return [f"{COLLECTIVE_METHOD}={method}" for method in answers.mpiio_used.library.collective_methods]


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
