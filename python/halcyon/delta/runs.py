"""One run: one command alone, or both with their starts of I/O so far apart as wanted."""

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

from halcyon.delta.commands import Command, Place, Running
from halcyon.delta.gate import Gate, Gathered
from halcyon.delta.identity import boot, programs
from halcyon.delta.io_time import PAUSE_S, Phase, io_time
from halcyon.delta.link_share import link_share
from halcyon.delta.run_folder import run_folder
from halcyon.delta.turns import UNCOORDINATED, coordinator
from halcyon.errors import HalcyonSystemError, UsageError
from halcyon.layers.coordination import Coordination, read_turns
from halcyon.layers.preload import variables
from halcyon.testbed.links import Counted

SETTLED_S = 0.25
"""So long nobody new must have arrived before gates open."""
_AHEAD_NS = 50_000_000
"""That the gates are told before they open."""
TIE_S = 0.05
"""Between applications that are to start at the same time: else microseconds would decide who is first, and a policy
that asks for it would give now one result, now another."""
_LOOK_S = 0.005
_LINKS_LOOK_S = 0.05
UNASKED_AT_MOST = 0.01
"""Share of the bytes that may move out of turn under a policy; above, a run does not count."""
LATE_AT_MOST_S = 0.05
"""After the gate has opened, the last process that it held must go on; else a run does not count."""


@dataclass(frozen=True)
class Limits:
    """Of one run, in seconds. `arrival`: until both commands are at their gates."""

    run_s: float = 600.0
    arrival_s: float = 60.0


@dataclass(frozen=True)
class Setup:
    """What is measured, and how: all runs of one file have it in common."""

    a: Command
    b: Command
    path: str = ""
    """I/O below it counts, is held at the gates, and takes turns; "": writes anywhere."""
    a_arrive: int = 1
    """Processes that have to be at the gate before it opens."""
    b_arrive: int = 1
    before: str | None = None
    """Shell command before each run."""
    placed: tuple[tuple[str, str], ...] = ()
    """On a test bed: files that are made anew before each run, each on a storage host."""
    metric: str | None = None
    bandwidth: int | None = None
    """Of the file system, in bytes/s, as in coordinators.yaml."""
    pause_s: float = PAUSE_S


@dataclass(frozen=True)
class Key:
    """Which run: of both under a policy where B starts `dt_ns` after A, or of `alone` ("A" or "B")."""

    policy: str = UNCOORDINATED
    dt_ns: int = 0
    alone: str | None = None

    @property
    def text(self) -> str:
        if self.alone:
            return f"{self.alone} alone"
        return f"{self.policy}, B {abs(self.dt_ns) / 1e9:.2f} s {'after' if self.dt_ns >= 0 else 'before'} A"


@dataclass(frozen=True)
class Told:
    """Of one command in one run."""

    seconds: float
    """In I/O."""
    phases: list[Phase]
    transfer_s: float
    waited_s: float
    bytes: int
    processes: int
    unasked_bytes: int
    begin_ns: int
    """When its first process went on at the gate, CLOCK_MONOTONIC."""


@dataclass(frozen=True)
class Run:
    """One run. `dt_s`: from A's start of I/O to B's, as the gates saw it; about TIE_S where both start at once.
    `link_share`: of the rate of the storage link used most while both did I/O; None: nobody knows. `problem`: why it
    does not count."""

    key: Key
    a: Told | None
    b: Told | None
    dt_s: float | None
    link_share: float | None
    problem: str | None
    at_s: float
    """When, in seconds of the epoch."""
    wall_s: float
    programs: str = ""
    """Of Halcyon that took part, as halcyon.delta.identity knows them; "": nobody noted it."""
    boot: str = ""

    @property
    def told(self) -> dict[str, Told]:
        """Of those that ran."""
        return {name: one for name, one in (("A", self.a), ("B", self.b)) if one is not None}


def run_once(place: Place, setup: Setup, key: Key, limits: Limits) -> Run:
    """UsageError: the shell command before it failed; HalcyonSystemError: a command failed, did no I/O, or took too
    long. Nothing is left running."""
    at_s, began, made_by = time.time(), time.monotonic(), (programs(), boot())
    _prepare(place, setup)
    every = {
        "A": Waiting("A", setup.a, setup.a_arrive, setup.path, setup.pause_s),
        "B": Waiting("B", setup.b, setup.b_arrive, setup.path, setup.pause_s),
    }
    wanted = [every[key.alone]] if key.alone else list(every.values())
    with run_folder() as folder, ExitStack() as stack:
        turns = None
        if key.policy != UNCOORDINATED:
            turns = stack.enter_context(_coordinator(setup, key.policy, folder, [one.name for one in wanted]))
        held = [Held(one, folder, turns, limits.arrival_s, stack) for one in wanted]
        for one in held:
            one.start(place, stack)
        await_arrival(held, limits.arrival_s)
        starts_ns = {"A": max(0, -key.dt_ns), "B": max(0, key.dt_ns)}
        open_gates(held, {one.name: 0 if key.alone else starts_ns[one.name] for one in held})
        looks = await_ends(place, held, limits.run_s)
        told, problem = outcomes(held)
    a, b = told.get("A"), told.get("B")
    dt_s = (b.begin_ns - a.begin_ns) / 1e9 if a and b else None
    share = link_share(place, looks, a.phases, b.phases) if a and b else None
    return Run(key, a, b, dt_s, share, problem, at_s, time.monotonic() - began, *made_by)


@dataclass(frozen=True)
class Waiting:
    """A command whose I/O is to wait at a gate; `arrive`, `path` and `pause_s` as of Setup."""

    name: str
    command: Command
    arrive: int
    path: str
    pause_s: float = PAUSE_S


class Held:
    """One command of a run, with an account of its name. `turns`: `PATH=ADDRESS` of a coordinator; None: there is
    none."""

    def __init__(self, what: Waiting, folder: Path, turns: str | None, limit_s: float, stack: ExitStack) -> None:
        self.name = what.name
        self.command = what.command
        self.arrive = what.arrive
        self.path = what.path
        self._pause_s, self._turns = what.pause_s, turns
        self._folder = folder / self.name
        self._folder.mkdir()
        # Longer than we wait: whoever is left there goes on, even if this process is killed.
        self.gate = stack.enter_context(Gate(folder / f"{self.name}.gate", 2 * limit_s))
        self.running: Running

    def start(self, place: Place, stack: ExitStack) -> None:
        # As `halcyon run --coordinate` has them.
        layers = ["trace", *(["predict", "coordinate"] if self._turns else [])]
        wanted = variables(layers, self._folder) | self.gate.variables(self.path)
        wanted["HALCYON_LAYERS"] = ",".join(["gate", *layers])
        if self._turns:
            # By their user, all would be one account, and fair-share would be the same as fcfs.
            wanted |= Coordination((self._turns,), account=self.name).variables()
        output = self._folder.with_suffix(".output")
        self.running = stack.enter_context(Running(place, self.command, wanted, output))

    def outcome(self) -> tuple[Told, str | None]:
        """And why the run does not count; None: nothing speaks against it."""
        gathered = self.gate.gathered()
        time_in_io = io_time(self._folder, self.path, gathered.opens_ns, self._pause_s)
        turns = read_turns(self._folder).counts
        told = Told(
            time_in_io.seconds, time_in_io.phases, time_in_io.transfer_s, time_in_io.waited_s, time_in_io.bytes,
            time_in_io.processes, turns["bytes_unasked"], gathered.first_passed_ns,
        )  # fmt: skip
        problem = self._problem(told, gathered, time_in_io.missing)
        return told, None if problem is None else f"{self.name}: {problem}"

    def _problem(self, told: Told, gathered: Gathered, missing: str | None) -> str | None:
        if gathered.let:
            return f"{gathered.let} processes were not held until the gate opened"
        late_s = (gathered.last_passed_ns - gathered.opens_ns) / 1e9
        if late_s > LATE_AT_MOST_S:
            return f"its last process went on {late_s:.3f} s after the gate opened; the machine is busy"
        if told.unasked_bytes > UNASKED_AT_MOST * max(told.bytes, 1):
            return f"{told.unasked_bytes / max(told.bytes, 1):.0%} of its bytes moved out of turn"
        return missing


def outcomes(held: Sequence[Held]) -> tuple[dict[str, Told], str | None]:
    """By names; and why the run does not count, None: nothing speaks against it."""
    each = {one.name: one.outcome() for one in held}
    return {name: told for name, (told, _) in each.items()}, next((why for _, why in each.values() if why), None)


def _coordinator(setup: Setup, policy: str, folder: Path, names: Sequence[str]) -> AbstractContextManager[str]:
    """An account for each of the names."""
    return coordinator(policy, setup.path, folder, accounts=names, metric=setup.metric, bandwidth=setup.bandwidth)


def _prepare(place: Place, setup: Setup) -> None:
    place.renew(setup.placed)
    if setup.before is None:
        return
    done = place.prepare(setup.before)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise UsageError(f"--before: `{setup.before}` ended with {done.returncode}: {said or 'it said nothing'}")


def await_arrival(held: Sequence[Held], limit_s: float) -> None:
    """HalcyonSystemError: a command failed, or ended, or has not come to its gate."""
    limit = time.monotonic() + limit_s
    while True:
        gathered = [one.gate.gathered() for one in held]
        for one, so_far in zip(held, gathered, strict=True):
            if one.running.has_ended or one.running.failure:
                # A process at the gate cannot have ended: what ended did no I/O, or failed.
                raise HalcyonSystemError(one.running.failure or _no_io(one, so_far))
        if all(_is_there(one, so_far) for one, so_far in zip(held, gathered, strict=True)):
            return
        if time.monotonic() > limit:
            missing = next((o, g) for o, g in zip(held, gathered, strict=True) if not _is_there(o, g))
            raise HalcyonSystemError(f"{_too_few(*missing)} after {limit_s:g} s (--arrive-within)")
        time.sleep(_LOOK_S)


def open_gates(held: Sequence[Held], starts_ns: Mapping[str, int]) -> None:
    """Soon, each at its start by name, and those of equal starts one after the other."""
    zero_ns = time.monotonic_ns() + _AHEAD_NS
    opens_ns = opening_ns(starts_ns)
    for one in held:
        one.gate.open_at(zero_ns + opens_ns[one.name])


def opening_ns(starts_ns: Mapping[str, int]) -> dict[str, int]:
    """When gates open, by names: at their starts; of equal starts, each TIE_S after the one before it by name."""
    opens: dict[str, int] = {}
    for name, at_ns in sorted(starts_ns.items(), key=lambda one: (one[1], one[0])):
        while at_ns in opens.values():
            at_ns += round(TIE_S * 1e9)
        opens[name] = at_ns
    return opens


def _is_there(one: Held, gathered: Gathered) -> bool:
    return gathered.arrived >= one.arrive and time.monotonic_ns() - gathered.last_arrived_ns > SETTLED_S * 1e9


def _no_io(one: Held, gathered: Gathered) -> str:
    if gathered.arrived:
        return f"{_too_few(one, gathered)} when the command ended"
    where = f"below {one.path}" if one.path else "that changes a file"
    return (
        f"{one.name} ended before any I/O {where}: {one.running.last_words}. Static programs, and children that "
        "drop LD_PRELOAD, are not seen"
    )


def _too_few(one: Held, gathered: Gathered) -> str:
    return f"{one.name}: {gathered.arrived} of {one.arrive} processes were at their first I/O"


def await_ends(place: Place, held: Sequence[Held], limit_s: float) -> list[Counted]:
    """Counts of the links meanwhile. HalcyonSystemError: a command failed, or has not ended."""
    limit = time.monotonic() + limit_s
    looks: list[Counted] = []
    while not all(one.running.has_ended for one in held):
        for one in held:
            if failure := one.running.failure:
                raise HalcyonSystemError(failure)
        if time.monotonic() > limit:
            raise HalcyonSystemError(f"the commands have not ended after {limit_s:g} s (--limit)")
        if (not looks or time.monotonic() > looks[-1].time_s + _LINKS_LOOK_S) and (now := place.look()):
            looks.append(now)
        time.sleep(_LOOK_S)
    for one in held:
        if failure := one.running.failure:
            raise HalcyonSystemError(failure)
    if last := place.look():
        looks.append(last)
    return looks
