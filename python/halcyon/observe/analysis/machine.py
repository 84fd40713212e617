"""Many runs of one machine: who loads which server when, and how variability depends on an experiment's parameters."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath

from halcyon.errors import HalcyonError, UsageError
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.phases import Phase, Variability
from halcyon.observe.analysis.servers import Servers
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.dataset import Dataset
from halcyon.observe.engines import DUCKDB, Engine, connect
from halcyon.observe.recording.folder import run_of
from halcyon.observe.schema import Kind

DEEPEST = 4
"""Folders below the one named in which data sets are looked for."""


@dataclass(frozen=True)
class RunLoad:
    """One run among many."""

    name: str
    """Its folder, from the one that was searched."""
    user: str | None
    program: str | None
    job: str | None
    start: float | None
    """Seconds of the epoch; None: not known, the run has no place in pictures over time."""
    duration_s: float
    ranks: int
    calls: int
    bytes_read: int
    bytes_written: int
    io_s: float
    parameters: dict[str, str]
    servers: Servers
    phases: list[Phase]
    """Its write phases."""
    variability: list[Variability]

    @property
    def month(self) -> str | None:
        """Of its start, in UTC: 2026-11."""
        return None if self.start is None else datetime.fromtimestamp(self.start, UTC).strftime("%Y-%m")

    @property
    def write_throughput(self) -> float | None:
        """Bytes per second over its write phases, each by its slowest rank."""
        seconds = sum(max(phase.seconds, default=0.0) for phase in self.phases)
        return sum(phase.bytes for phase in self.phases) / seconds if seconds > 0 else None


@dataclass(frozen=True)
class Unread:
    """A folder that looks like a data set and could not be read."""

    name: str
    why: str


@dataclass(frozen=True)
class Machine:
    """All runs of a folder, by their start."""

    runs: list[RunLoad]
    unread: list[Unread]


def find_datasets(directory: Path) -> list[Path]:
    """Data sets in `directory`, at most DEEPEST folders down; hidden folders are left out.

    UsageError: there are none.
    """
    found: list[Path] = []

    def search(folder: Path, depth: int) -> None:
        if (folder / "run.json").is_file() and (folder / "calls").is_dir():
            found.append(folder)
        elif depth < DEEPEST:
            for inner in sorted(folder.iterdir()):
                if inner.is_dir() and not inner.name.startswith("."):
                    search(inner, depth + 1)

    if directory.is_dir():
        search(directory, 0)
    if not found:
        raise UsageError(f"{directory}: no data set here; `halcyon pack` makes one of a run's traces")
    return found


def read_machine(directory: Path, engine: str | Engine = DUCKDB, settings: Settings | None = None) -> Machine:
    """Reads each data set in `directory`, one after the other. Those that cannot be read are named, and left out."""
    opened = connect(engine) if isinstance(engine, str) else engine
    runs: list[RunLoad] = []
    unread: list[Unread] = []
    try:
        for path in find_datasets(directory):
            name = str(run_of(path).relative_to(directory))
            try:
                runs.append(_load(name, Answers(Dataset.open(path, opened), settings)))
            except HalcyonError as why:
                unread.append(Unread(name, str(why)))
    finally:
        if isinstance(engine, str):
            opened.close()
    return Machine(sorted(runs, key=lambda run: (run.start is None, run.start or 0.0, run.name)), unread)


def _load(name: str, answers: Answers) -> RunLoad:
    info = answers.survey.dataset.info
    programs = sorted({rank.program for rank in answers.ranks if rank.program})
    return RunLoad(
        name=name,
        user=info.user,
        program=PurePath(programs[0]).name if programs else None,
        job=info.job,
        start=info.start,
        duration_s=answers.survey.end_ns / 1e9,
        ranks=answers.survey.ranks,
        calls=answers.survey.calls,
        bytes_read=sum(rank.bytes_read for rank in answers.ranks),
        bytes_written=sum(rank.bytes_written for rank in answers.ranks),
        io_s=answers.io_s,
        parameters=parameters_of(name, answers.facts) | {"ranks": str(answers.survey.ranks)},
        servers=answers.servers,
        phases=answers.phases_of[Kind.WRITE],
        variability=answers.variability,
    )


_FACT = "parameter."
_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9]*)=([^,/_=]+)")


def parameters_of(name: str, facts: dict[str, str]) -> dict[str, str]:
    """Of a run in an experiment: facts called `parameter.X`, and pairs `X=value` in the names of its folders."""
    return dict(_PAIR.findall(name)) | {
        key.removeprefix(_FACT): value for key, value in facts.items() if key.startswith(_FACT)
    }


@dataclass(frozen=True)
class GroupTotal:
    """The runs of one user, program or month."""

    name: str
    runs: int
    bytes_read: int
    bytes_written: int
    io_s: float
    process_s: float
    """Duration x ranks, in sum: what `io_s` is a part of."""


def totals(runs: Iterable[RunLoad], of: Callable[[RunLoad], str | None]) -> list[GroupTotal]:
    """`totals(runs, lambda run: run.user)`: by bytes, the most first. Runs of which it is not known: '?'."""
    groups: dict[str, list[RunLoad]] = {}
    for run in runs:
        groups.setdefault(of(run) or "?", []).append(run)
    found = [
        GroupTotal(
            name=name,
            runs=len(own),
            bytes_read=sum(run.bytes_read for run in own),
            bytes_written=sum(run.bytes_written for run in own),
            io_s=sum(run.io_s for run in own),
            process_s=sum(run.duration_s * run.ranks for run in own),
        )
        for name, own in groups.items()
    ]
    return sorted(found, key=lambda one: (-one.bytes_read - one.bytes_written, one.name))


@dataclass(frozen=True)
class ServerUse:
    """What one run asked of one server. `bytes[i]`: in step i of `bin_s` seconds from `start` (of the epoch) on."""

    server: str
    run: int
    start: float
    bin_s: float
    bytes: list[float]


def server_uses(machine: Machine) -> list[ServerUse]:
    """Which run loads which server when; `run` is an index into machine.runs. Runs without a start are left out."""
    return [
        ServerUse(
            server=server.name,
            run=number,
            start=run.start,
            bin_s=run.servers.bin_s,
            bytes=[read + written for read, written in zip(server.read, server.written, strict=True)],
        )
        for number, run in enumerate(machine.runs)
        if run.start is not None
        for server in run.servers.servers
        if server.bytes
    ]


@dataclass(frozen=True)
class ServerTotal:
    """One server over all runs."""

    name: str
    runs: int
    bytes: int
    most_at_once: int
    """Runs that used it at the same time, at most: its load (Wright 2014, equation 6.4, counts the same per file)."""


def server_totals(machine: Machine) -> list[ServerTotal]:
    """By bytes, the most first."""
    volumes: dict[str, int] = {}
    users: dict[str, int] = {}
    for run in machine.runs:
        for server in run.servers.servers:
            if server.bytes:
                volumes[server.name] = volumes.get(server.name, 0) + server.bytes
                users[server.name] = users.get(server.name, 0) + 1
    edges: dict[str, list[tuple[float, int]]] = {}
    for use in server_uses(machine):
        for begin, end in _busy(use):
            edges.setdefault(use.server, []).extend([(begin, 1), (end, -1)])
    found = [ServerTotal(name, users[name], volume, _most(edges.get(name, []))) for name, volume in volumes.items()]
    return sorted(found, key=lambda one: (-one.bytes, one.name))


def _busy(use: ServerUse) -> list[tuple[float, float]]:
    """Times, of the epoch, during which a run used a server without a pause."""
    found: list[tuple[float, float]] = []
    for step, volume in enumerate(use.bytes):
        begin, end = use.start + step * use.bin_s, use.start + (step + 1) * use.bin_s
        if volume and found and use.bytes[step - 1]:
            found[-1] = (found[-1][0], end)
        elif volume:
            found.append((begin, end))
    return found


def _most(edges: list[tuple[float, int]]) -> int:
    now = most = 0
    for _time, change in sorted(edges):
        now += change
        most = max(most, now)
    return most


@dataclass(frozen=True)
class Cell:
    """The runs of one combination of two parameters, and their write phases: pictures as in Dorier's figure 2.3."""

    row: str
    column: str
    runs: list[int]
    phases: list[Phase]


@dataclass(frozen=True)
class Grid:
    """Pictures of variability over an experiment's parameters; `runs` of a cell are indices into machine.runs."""

    row_parameter: str
    column_parameter: str
    rows: list[str]
    columns: list[str]
    cells: list[Cell]


def differing(machine: Machine) -> list[str]:
    """Parameters that all runs have and that differ among them; those with the fewest values first."""
    common = set.intersection(*(set(run.parameters) for run in machine.runs)) if machine.runs else set()
    counts = {name: len({run.parameters[name] for run in machine.runs}) for name in common}
    return sorted((name for name, count in counts.items() if count > 1), key=lambda name: (counts[name], name))


def variability_grid(machine: Machine, row: str | None = None, column: str | None = None) -> Grid | None:
    """Over two parameters (default: the first two of `differing`); None without any. UsageError: no such parameter."""
    known = differing(machine)
    for name in (row, column):
        if name is not None and name not in known:
            raise UsageError(
                f"{name}: no parameter that differs among the runs; those that do: {', '.join(known) or 'none'}"
            )
    rest = [name for name in known if name not in (row, column)]
    across = column or (rest.pop(0) if rest else None)
    down = row or (rest.pop(0) if rest else None)
    if across is None:
        return None
    cells: dict[tuple[str, str], list[int]] = {}
    for number, run in enumerate(machine.runs):
        cells.setdefault((run.parameters[down] if down else "", run.parameters[across]), []).append(number)
    return Grid(
        row_parameter=down or "",
        column_parameter=across,
        rows=sorted({key[0] for key in cells}, key=_natural),
        columns=sorted({key[1] for key in cells}, key=_natural),
        cells=[
            Cell(*key, runs=own, phases=[phase for number in own for phase in machine.runs[number].phases])
            for key, own in cells.items()
        ],
    )


def _natural(value: str) -> tuple[bool, float, str]:
    """Numbers by their value, before words."""
    try:
        return (False, float(value), value)
    except ValueError:
        return (True, 0.0, value)
