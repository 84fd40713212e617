"""What suggestions depend on besides the findings: the library, the hints in effect, the shape of MPI-IO's calls."""

from dataclasses import dataclass
from pathlib import Path

from ibis import _

from halcyon.observe.advise.settings import Setting
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.decomposition import FunctionShares, Part
from halcyon.observe.call_table import collective_transfers, mpiio_transfers
from halcyon.observe.file_systems import file_system_at
from halcyon.observe.mpi_library import COMPONENT, Library, MpiIo, mpiio_of
from halcyon.observe.schema import Kind, Level

_DIRECTIONS = (Kind.WRITE, Kind.READ)


@dataclass(frozen=True)
class RunFacts:
    """Of one recorded run. Keys of directions: write, read."""

    library: Library
    hints: dict[str, set[str]]
    """In effect, over all files that MPI-IO opened."""
    environment: dict[str, str]
    ranks: int
    hosts: int
    file_systems: dict[str, str]
    """Type by path, of the files that were written through MPI-IO."""
    servers: int
    """The most that one of these files has; 0: not known."""
    collective: dict[str, bool]
    """Most of MPI-IO's transfers are collective."""
    pieces_per_call: dict[str, float]
    """Transfers to the file that one call of MPI-IO makes, of the function that makes most; its pieces lie apart where
    that is more than one."""
    piece_bytes: dict[str, float]
    """Mean size of these transfers; 0: there are none."""
    outside: dict[str, float]
    """Share of collective calls' time that passes outside of calls to the file system."""

    @property
    def mpiio(self) -> MpiIo:
        return mpiio_of(self.library, self.hints, self.environment.get(COMPONENT))

    @property
    def lustre(self) -> bool:
        return "lustre" in self.file_systems.values()

    def number(self, hint: str, unknown: int) -> int:
        """The largest value that a hint has."""
        return max((int(value) for value in self.hints.get(hint, ()) if value.isdigit()), default=unknown)

    def has(self, settings: tuple[Setting, ...]) -> bool:
        """The run had all of them already."""
        own = (
            {one.value} == self.hints.get(one.name) or self.environment.get(one.name) == one.value for one in settings
        )
        return all(own)


def run_facts(answers: Answers) -> RunFacts:
    """Reads them from a data set."""
    files = _files(answers)
    pieces = {kind: _pieces(answers, kind) for kind in _DIRECTIONS}
    shares = {kind: [one for one in answers.functions if _transfers(one, kind)] for kind in _DIRECTIONS}
    return RunFacts(
        library=answers.mpiio_used.library,
        hints=answers.mpiio_used.hints,
        environment=_environment(answers),
        ranks=answers.survey.ranks,
        hosts=max(len({host for host in answers.hosts.values() if host is not None}), 1),
        file_systems={row["path"]: kind for row in files if (kind := row["filesystem"] or _type_here(row["path"]))},
        servers=max((len(row["servers"] or ()) for row in files), default=0),
        collective={kind: _mostly_collective(own) for kind, own in shares.items()},
        pieces_per_call={kind: max((one.per_call for one in pieces[kind]), default=0.0) for kind in _DIRECTIONS},
        piece_bytes={kind: _mean_bytes(pieces[kind]) for kind in _DIRECTIONS},
        outside={kind: _outside(own) for kind, own in shares.items()},
    )


def _environment(answers: Answers) -> dict[str, str]:
    """Variables that change how MPI-IO and HDF5 work; mpirun's own choice of MPI-IO counts as one."""
    facts = answers.survey.dataset.facts.filter(_.key.startswith("environment."))
    rows = facts.aggregate(by="key", value=_.value.min()).to_pyarrow().to_pylist()
    environment = {row["key"].removeprefix("environment."): row["value"] for row in rows}
    component = answers.mpiio_used.component
    return environment if component is None else environment | {COMPONENT: component}


def _files(answers: Answers) -> list[dict[str, str]]:
    profile = answers.survey.profile
    used = profile.filter((_.level == Level.MPIIO) & (_.direction == Kind.WRITE) & _.file.notnull())
    rows: list[dict[str, str]] = (
        answers.survey.files.semi_join(used.select("file").distinct(), "file").to_pyarrow().to_pylist()
    )
    return rows


def _type_here(path: str) -> str | None:
    """Of the file system on which `path` is, or was; None: it is not on this machine."""
    return file_system_at(Path(path).parent)


def _transfers(one: FunctionShares, direction: str) -> bool:
    return one.level == Level.MPIIO and one.function in mpiio_transfers(direction)


def _mostly_collective(own: list[FunctionShares]) -> bool:
    collective = sum(one.seconds for one in own if one.function in collective_transfers())
    return collective > sum(one.seconds for one in own) / 2


def _pieces(answers: Answers, direction: str) -> list[Part]:
    """What calls of MPI-IO make: pieces of one call lie apart, or it would make one transfer."""
    return [
        part
        for part in answers.parts
        if part.level == Level.MPIIO and part.kind == direction and part.function in mpiio_transfers(direction)
    ]


def _mean_bytes(pieces: list[Part]) -> float:
    calls = sum(one.calls for one in pieces)
    return sum(one.bytes for one in pieces) / calls if calls else 0.0


def _outside(own: list[FunctionShares]) -> float:
    collective = [one for one in own if one.function in collective_transfers()]
    total = sum(one.seconds for one in collective)
    return sum(one.communicate_s for one in collective) / total if total else 0.0
