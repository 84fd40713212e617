"""The MPI library and MPI-IO of a run, and its hints, from its facts."""

from dataclasses import dataclass

import ibis
from ibis import _

from halcyon.database import question
from halcyon.mpi_launcher import is_launcher, own_options
from halcyon.observe.analysis.survey import Survey
from halcyon.observe.mpi_library import COMPONENT, Library, MpiIo, library_of, mpiio_of

_HINT = "mpi.hint."
_LIBRARY = "mpi.library"


@dataclass(frozen=True)
class MpiIoUsed:
    """Of one run."""

    library: Library
    hints: dict[str, set[str]]
    """In force, over all files that MPI-IO opened: the values of each."""

    component: str | None = None
    """The MPI-IO that Open MPI was told to take, by the environment or by its mpirun; None: by neither."""

    @property
    def implementation(self) -> MpiIo:
        return mpiio_of(self.library, self.hints, self.component)


def mpiio_used(survey: Survey) -> MpiIoUsed:
    """Of several libraries, which no run should have, the first by name."""
    variable = f"environment.{COMPONENT}"
    rows = _told(survey.dataset.facts, variable).to_pyarrow().to_pylist()
    libraries = [row["value"] for row in rows if row["key"] == _LIBRARY]
    components = [row["value"] for row in rows if row["key"] == variable]
    hints: dict[str, set[str]] = {}
    for row in rows:
        if row["key"].startswith(_HINT):
            hints.setdefault(row["key"].removeprefix(_HINT), set()).add(row["value"])
    component = _of_command(survey.dataset.info.command or "") or min(components, default=None)
    return MpiIoUsed(library_of(min(libraries, default=None)), hints, component)


@question
def _told(facts: ibis.Table, variable: str) -> ibis.Table:
    own = facts.filter(_.key.isin([_LIBRARY, variable]) | _.key.startswith(_HINT))
    return own.select("key", "value").distinct()


def _of_command(command: str) -> str | None:
    """`romio321` of `mpirun --mca io romio321 …` or `-x OMPI_MCA_io=romio321`, which go before the environment.

    What stands behind the program's name is the program's own.
    """
    words = command.split()
    start = next((at for at, word in enumerate(words) if is_launcher(word)), len(words))
    if start == len(words):
        return None
    options = own_options(words[start:]).options
    told = [option[2] for option in options if option[0] in _PARAMETERS and len(option) == 3 and option[1] == "io"]
    exported = [option[1].partition("=")[2] for option in options if len(option) == 2 and _exports(option)]
    return next(iter([*told, *exported]), None)


_PARAMETERS = ("mca", "omca", "gmca")


def _exports(option: tuple[str, ...]) -> bool:
    return option[0] == "x" and option[1].startswith(f"{COMPONENT}=")
