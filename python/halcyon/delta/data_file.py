"""The file that a Δ-graph's runs are kept in; row_file.py says how."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from halcyon.delta.commands import Command
from halcyon.delta.io_time import Phase
from halcyon.delta.row_file import Row, RowFile, read_rows
from halcyon.delta.runs import Key, Run, Setup, Told
from halcyon.delta.turns import policies
from halcyon.errors import ConfigError


class Dataclass(Protocol):
    """Any."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


_Of = TypeVar("_Of")
_Run = TypeVar("_Run", bound=Dataclass)


@dataclass(frozen=True)
class Content:
    """Of a file. `bed`: the plan of the test bed, None without one. `dropped`: a line that a kill left unfinished."""

    setup: Setup
    bed: dict[str, Any] | None
    runs: list[Run]
    dropped: bool = False


def read(path: Path) -> Content:
    """ConfigError: a line is damaged, with its number; HalcyonSystemError: the file cannot be read."""
    rows = read_rows(path)
    setup = known(path, _setup, rows.setup)
    return Content(setup, rows.bed, [known(path, _run, row) for row in rows.runs], rows.dropped)


class RunFile(Generic[_Run]):
    """A file that runs are added to. `dropped`: a line that a kill left unfinished is gone."""

    def __init__(
        self, path: Path, setup: Dataclass, bed: Mapping[str, Any] | None, run_of: Callable[[Row], _Run]
    ) -> None:
        """UsageError: the file is of another measurement, and says of which; or another process adds to it."""
        self._rows = RowFile(path, asdict(setup), bed)
        self.dropped = self._rows.dropped
        try:
            self.runs = [known(path, run_of, row) for row in self._rows.found]
        except BaseException:
            self._rows.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._rows.close()

    def add(self, run: _Run) -> None:
        """HalcyonSystemError: it cannot be written."""
        self._rows.add(asdict(run))
        self.runs.append(run)


class DataFile(RunFile[Run]):
    """That of two applications."""

    def __init__(self, path: Path, setup: Setup, bed: Mapping[str, Any] | None) -> None:
        super().__init__(path, setup, bed, _run)


def known(path: Path, convert: Callable[[Row], _Of], row: Row) -> _Of:
    """ConfigError: the row is none of these."""
    try:
        return convert(row)
    except (KeyError, TypeError, ValueError) as why:
        raise ConfigError(f"{path}: no file of a Δ-graph: {why}") from why


def command_of(row: Row) -> Command:
    return Command(row["name"], tuple(row["words"]), tuple(row["hosts"]))


def told_of(row: Row) -> Told:
    return Told(**(row | {"phases": [Phase(**phase) for phase in row["phases"]]}))


def _setup(row: Row) -> Setup:
    placed = tuple((file, host) for file, host in row["placed"])
    return Setup(**(row | {"a": command_of(row["a"]), "b": command_of(row["b"]), "placed": placed}))


def _run(row: Row) -> Run:
    """ValueError: of a policy that this version does not know."""
    told = {name: told_of(row[name]) if row[name] else None for name in ("a", "b")}
    key = Key(**row["key"])
    if key.policy not in policies():
        raise ValueError(f"policy {key.policy!r} is not known; known: {', '.join(policies())}")
    return Run(**(row | told | {"key": key}))
