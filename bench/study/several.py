"""Runs of several applications that share a storage: one of them alone, or all, each with its start of I/O; and the
file that runs are kept in."""

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from typing import Any

from halcyon.delta.commands import Command, Place
from halcyon.delta.data_file import RunFile, command_of, known, told_of
from halcyon.delta.estimate import Estimate, estimate, sum_of_ratios
from halcyon.delta.identity import boot, programs
from halcyon.delta.measuring import HALF_WIDTH, of_key
from halcyon.delta.row_file import Row, read_rows
from halcyon.delta.run_folder import run_folder
from halcyon.delta.runs import Held, Limits, Told, Waiting, await_arrival, await_ends, open_gates, outcomes
from halcyon.delta.turns import UNCOORDINATED, coordinator
from halcyon.errors import UsageError
from halcyon.testbed.links import Counted


@dataclass(frozen=True)
class Setup:
    """What is measured: all runs of one file have it in common. `arrive`: processes of each command that have to be at
    its gate; `cores`: of each command, for sums; `placed`: files that are made anew, each on a storage host."""

    commands: tuple[Command, ...]
    arrive: tuple[int, ...]
    cores: tuple[float, ...]
    path: str
    placed: tuple[tuple[str, str], ...] = ()
    bandwidth: int | None = None


@dataclass(frozen=True)
class Key:
    """Which run: of all under a policy, each with its start of I/O after the first one's; or of `alone`."""

    policy: str = UNCOORDINATED
    starts_ns: tuple[int, ...] = ()
    alone: str | None = None

    @property
    def text(self) -> str:
        if self.alone:
            return f"{self.alone} alone"
        return f"{self.policy}, starts at {', '.join(f'{one / 1e9:.2f}' for one in self.starts_ns)} s"


@dataclass(frozen=True)
class Run:
    """One run. `told`: by names. `problem`, `link_share` (while all did I/O), `programs` and `boot`: as of
    halcyon.delta.runs."""

    key: Key
    told: dict[str, Told]
    link_share: float | None
    problem: str | None
    at_s: float
    wall_s: float
    programs: str = ""
    boot: str = ""


class SeveralFile(RunFile[Run]):
    """That of several applications."""

    def __init__(self, path: Path, setup: Setup, bed: Mapping[str, Any]) -> None:
        super().__init__(path, setup, bed, _run)


@dataclass(frozen=True)
class Content:
    """Of a file. `bed`: the plan of the test bed."""

    setup: Setup
    bed: Row | None
    runs: list[Run]


def read(path: Path) -> Content:
    """ConfigError: it is no such file; HalcyonSystemError: it cannot be read."""
    rows = read_rows(path)
    return Content(known(path, _setup, rows.setup), rows.bed, [known(path, _run, row) for row in rows.runs])


def run_several(place: Place, setup: Setup, key: Key, limits: Limits) -> Run:
    """HalcyonSystemError: a command failed, did no I/O, or took too long. Nothing is left running."""
    at_s, began, made_by = time.time(), time.monotonic(), (programs(), boot())
    place.renew(setup.placed)
    starts_ns = key.starts_ns or (0,) * len(setup.commands)
    waiting = [
        (Waiting(command.name, command, arrive, setup.path), start_ns)
        for command, arrive, start_ns in zip(setup.commands, setup.arrive, starts_ns, strict=True)
        if key.alone in (None, command.name)
    ]
    with run_folder() as folder, ExitStack() as stack:
        turns = None
        if key.policy != UNCOORDINATED:
            names = [one.name for one, _ in waiting]
            turns = stack.enter_context(
                coordinator(key.policy, setup.path, folder, accounts=names, bandwidth=setup.bandwidth)
            )
        held = [Held(one, folder, turns, limits.arrival_s, stack) for one, _ in waiting]
        for one in held:
            one.start(place, stack)
        await_arrival(held, limits.arrival_s)
        open_gates(held, {one.name: start_ns for one, start_ns in waiting})
        looks = await_ends(place, held, limits.run_s)
        told, problem = outcomes(held)
    share = _link_share(place, looks, list(told.values())) if len(told) > 1 else None
    return Run(key, told, share, problem, at_s, time.monotonic() - began, *made_by)


@dataclass(frozen=True)
class Point:
    """Of the runs of a key. `factors`: interference factors by names."""

    key: Key
    runs: int
    factors: dict[str, Estimate]
    sum_of_factors: Estimate
    core_seconds: Estimate
    link_share: float | None
    met: bool


def alone(setup: Setup, runs: Sequence[Run]) -> dict[str, Estimate]:
    """Times by names, of those of which a run alone counts."""
    times = {
        one.name: [run.told[one.name].seconds for run in of_key(Key(alone=one.name), runs)] for one in setup.commands
    }
    return {name: estimate(values) for name, values in times.items() if values}


def points(setup: Setup, runs: Sequence[Run]) -> list[Point]:
    """Of all keys of which a run counts. UsageError: no run alone of an application counts."""
    alone_s = alone(setup, runs)
    if lacking := [one.name for one in setup.commands if one.name not in alone_s]:
        raise UsageError(f"no run of {', '.join(lacking)} alone counts, so that no interference factor is known")
    keys = dict.fromkeys(run.key for run in runs if run.key.alone is None and run.problem is None)
    return [_point(setup, key, of_key(key, runs), alone_s) for key in keys]


def _point(setup: Setup, key: Key, runs: Sequence[Run], alone_s: Mapping[str, Estimate]) -> Point:
    names = [one.name for one in setup.commands]
    seconds = [[run.told[name].seconds for run in runs] for name in names]
    times = {name: estimate(each) for name, each in zip(names, seconds, strict=True)}
    factors = {name: times[name].over(alone_s[name]) for name in names}
    sum_of_factors = sum_of_ratios(seconds, [alone_s[name] for name in names])
    core_seconds = estimate([sum(map(mul, setup.cores, run)) for run in zip(*seconds, strict=True)])
    shares = [run.link_share for run in runs if run.link_share is not None]
    met = all(one.relative <= HALF_WIDTH for one in (*times.values(), *alone_s.values()))
    return Point(key, len(runs), factors, sum_of_factors, core_seconds, max(shares, default=None), met)


def _link_share(place: Place, looks: Sequence[Counted], told: Sequence[Told]) -> float | None:
    begin_s = max(one.begin_ns for one in told) / 1e9
    end_s = min(one.begin_ns / 1e9 + one.seconds for one in told)
    within = [look for look in looks if begin_s <= look.time_s <= end_s]
    if len(within) < 2:
        return None
    return max(place.link_shares(within[0], within[-1]).values(), default=None)


def _setup(row: Row) -> Setup:
    return Setup(
        tuple(command_of(one) for one in row["commands"]), tuple(row["arrive"]), tuple(row["cores"]), row["path"],
        tuple((file, host) for file, host in row["placed"]), row["bandwidth"],
    )  # fmt: skip


def _run(row: Row) -> Run:
    key = Key(**(row["key"] | {"starts_ns": tuple(row["key"]["starts_ns"])}))
    told = {name: told_of(one) for name, one in row["told"].items()}
    return Run(**(row | {"key": key, "told": told}))
