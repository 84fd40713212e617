"""Many runs of one machine: who loads which server when, and how variability depends on an experiment's parameters."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from halcyon.errors import HalcyonError, UsageError
from halcyon.observe.analysis.find_runs import Unread, find_runs
from halcyon.observe.analysis.phase_sketch import PhaseSketch
from halcyon.observe.analysis.run_load import RunLoad, load_run
from halcyon.observe.analysis.run_workers import workers
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.engines import DUCKDB
from halcyon.observe.recording.folder import run_of

FEW = 4
"""Runs that are read here; for more, processes are started, one per core: each takes seconds to load its libraries."""


@dataclass(frozen=True)
class Machine:
    """All runs of a folder, by their start."""

    runs: list[RunLoad]
    unread: list[Unread]
    exports: list[str] = field(default_factory=list)
    """Halcyon's own OTF2 exports, which would count a run twice: left out."""


def read_machine(
    directory: Path,
    engine: str = DUCKDB,
    settings: Settings | None = None,
    told: Callable[[int, int], None] = lambda done, total: None,
    *,
    keep: bool = False,
) -> Machine:
    """Reads each run in `directory` (find_runs). Those that cannot be read are named, and left out.

    Runs that are no data sets are packed first, into a temporary folder, which is gone afterwards; with `keep`,
    recordings into their own folder, where the data set stays. What is kept in memory is a few kilobytes of each run
    (RunLoad).
    `told`: is called with how many runs are done, and how many there are.
    """
    found = find_runs(directory)
    machine = read_runs(
        [(path, str(run_of(path).relative_to(directory))) for path in found.runs],
        found.unread,
        engine,
        settings,
        told,
        keep=keep,
    )
    return replace(machine, exports=[str(path.relative_to(directory)) for path in found.exports])


def read_runs(
    named: list[tuple[Path, str]],
    unread: Iterable[Unread] = (),
    engine: str = DUCKDB,
    settings: Settings | None = None,
    told: Callable[[int, int], None] = lambda done, total: None,
    *,
    keep: bool = True,
) -> Machine:
    """Reads runs, each with the name it is to have. `keep`, errors of single runs: see read_machine."""
    runs: list[RunLoad] = []
    left_out = list(unread)
    for number, (name, loaded) in enumerate(_loaded(named, engine, settings, keep)):
        try:
            runs.append(loaded())
        except (HalcyonError, OSError) as why:
            left_out.append(Unread(name, str(why)))
        told(number + 1, len(named))
    return Machine(sorted(runs, key=lambda run: (run.start is None, run.start or 0.0, run.name)), left_out)


def _loaded(
    named: list[tuple[Path, str]], engine: str, settings: Settings | None, keep: bool
) -> Iterator[tuple[str, Callable[[], RunLoad]]]:
    """Names, each with what gives the run or raises its error."""
    cores = len(os.sched_getaffinity(0))
    if len(named) <= FEW or cores < 2 or engine != DUCKDB:
        for path, name in named:
            yield name, partial(load_run, path, name, engine, settings, keep=keep)
        return
    with workers(min(cores, len(named))) as pool:
        waiting = [(name, pool.submit(path, name, settings, keep)) for path, name in named]
        for name, future in waiting:
            yield name, future.result


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
    phases: list[PhaseSketch]

    @property
    def across_ranks(self) -> float | None:
        """Median over its phases of the coefficient of variation over ranks."""
        known = [phase.variation for phase in self.phases if phase.variation is not None]
        return float(np.median(known)) if known else None


@dataclass(frozen=True)
class Grid:
    """Pictures of variability over an experiment's parameters; `runs` of a cell are indices into machine.runs."""

    row_parameter: str
    column_parameter: str
    rows: list[str]
    columns: list[str]
    cells: list[Cell]


MOST_VALUES = 16
"""Of a parameter that makes rows or columns: more fit no picture, and are names of outputs more often than settings."""


def differing(machine: Machine) -> list[str]:
    """Parameters that all runs have and that differ among them; those with the fewest values first.

    Of several that divide the runs alike (`-n` and `ranks`), one: a word rather than an option, an option rather than
    a place in the command.
    """
    common = set.intersection(*(set(run.parameters) for run in machine.runs)) if machine.runs else set()
    values = {name: [run.parameters[name] for run in machine.runs] for name in common}
    counts = {name: len(set(own)) for name, own in values.items()}
    wanted = [name for name, count in counts.items() if 1 < count <= MOST_VALUES]
    parts: dict[tuple[int, ...], str] = {}
    for name in sorted(wanted, key=lambda name: (counts[name], name.startswith("word "), name.startswith("-"), name)):
        parts.setdefault(tuple(values[name].index(value) for value in values[name]), name)
    return list(parts.values())


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
