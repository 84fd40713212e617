"""A command as the machine of a search: which parameters reach it, and its bandwidth at a point."""

from dataclasses import dataclass, replace
from pathlib import Path

from halcyon.errors import UsageError
from halcyon.observe.advise.library import recipe
from halcyon.observe.advise.rounds import not_in_effect
from halcyon.observe.advise.run_facts import RunFacts
from halcyon.observe.advise.settings import Setting
from halcyon.observe.advise.sweep.file_size import FileSize, with_size
from halcyon.observe.advise.sweep.space import (
    AGGREGATORS,
    BUFFER_BYTES,
    STRIPE_BYTES,
    STRIPE_COUNT,
    Parameter,
    Point,
    Space,
)
from halcyon.observe.advise.sweep.striping import StripeCommand, Striping, StripingError, striping_of, targets_near
from halcyon.observe.advise.trial import Launch, Trial
from halcyon.observe.mpi_library import COMPONENT, MpiIo

MIB = 1 << 20


@dataclass(frozen=True)
class Reach:
    """What can be varied for a command, and why other things cannot."""

    space: Space
    start: dict[str, int]
    """Values in effect as it is."""
    striping: Striping | None
    left_out: list[str]
    """Sentences."""


def reach(facts: RunFacts, values: tuple[Parameter, ...] = (), stripe: StripeCommand | None = None) -> Reach:
    """From a first run. `values`: the user's in place of those that are tried by default; when given, no others.
    `stripe`: how the user has striping set.

    UsageError: nothing that could be varied has a part in what the command does.
    """
    striping = striping_of(facts, stripe)
    known = {one.name: one for one in values}
    possible, left_out = [], []
    if striping is None:
        kinds = ", ".join(sorted(set(facts.file_systems.values()))) or "a file system that is not known"
        left_out.append(f"striping: the files lie on {kinds}, where it cannot be set")
    else:
        defaults = {STRIPE_COUNT: _targets(striping, known, stripe), STRIPE_BYTES: tuple(MIB << n for n in range(9))}
        possible += [Parameter(name, defaults[name]) for name in striping.parameters]
    if not any(facts.collective.values()):
        left_out.append("aggregators: the transfers are not collective, so they have none")
    else:
        possible += [Parameter(AGGREGATORS, _doubled(facts.ranks))]
        possible += [Parameter(BUFFER_BYTES, tuple(MIB << step for step in range(7)))]
    unreachable = [name for name in known if name not in {one.name for one in possible}]
    if unreachable:
        raise UsageError(f"--values {unreachable[0]}: has no part in this command. Left out: {'; '.join(left_out)}")
    chosen = [known.get(one.name, one) for one in possible if not known or one.name in known]
    if not chosen:
        raise UsageError(f"there is nothing to vary: {'; '.join(left_out)}. Other settings: halcyon advise --try")
    if striping is not None and (unknown := set(striping.parameters) - {one.name for one in chosen}):
        if stripe is not None:
            raise UsageError(f"--stripe-with: it needs --values {min(unknown)}=V,V… as well (one value holds it there)")
        striping = None
    start = {name: facts.number(name, 1) for name in (STRIPE_COUNT, STRIPE_BYTES, AGGREGATORS, BUFFER_BYTES)}
    start[STRIPE_COUNT] = max(start[STRIPE_COUNT], facts.servers)
    return Reach(Space(tuple(chosen)), start, striping, left_out)


def _targets(striping: Striping, known: dict[str, Parameter], stripe: StripeCommand | None) -> tuple[int, ...]:
    if STRIPE_COUNT in known or STRIPE_COUNT not in striping.parameters:
        return ()
    if stripe is not None:
        raise UsageError("--stripe-with: how many storage targets are there? --values striping_factor=1,2,4")
    return _doubled(targets_near(striping.files[0]))


def _doubled(most: int) -> tuple[int, ...]:
    """1, 2, 4, … and the most."""
    return tuple(sorted({min(1 << step, most) for step in range(most.bit_length() + 1)}))


def settings_at(point: Point, hosts: int, striping: Striping | None) -> tuple[Setting, ...]:
    """Hints of a point. Aggregators need room: ROMIO has one per node unless told otherwise."""
    values = dict(point)
    own = [
        Setting(name, str(value))
        for name, value in point
        if name not in (STRIPE_COUNT, STRIPE_BYTES) or striping is None or striping.by_hints
    ]
    if AGGREGATORS in values:
        own.append(Setting("cb_config_list", f"*:{-(-values[AGGREGATORS] // hosts)}"))
    return tuple(own)


class CommandMachine:
    """Measures a command's perceived bandwidth through MPI-IO; `problems` holds what became of runs that failed.

    `moved`: bytes that the first run moved; `file_size`: what has to reach the command, None where its size is its own.
    """

    def __init__(
        self, launch: Launch, facts: RunFacts, reached: Reach, folder: Path, moved: int, file_size: FileSize | None
    ) -> None:
        self._launch = launch
        self._facts = facts
        self._striping = reached.striping
        self._folder = folder
        self._moved = moved
        self._file_size = file_size
        self._runs = 0
        self.problems: list[str] = []

    def settings(self, point: Point) -> tuple[Setting, ...]:
        """What a user would set."""
        return settings_at(point, self._facts.hosts, self._striping)

    def __call__(self, point: Point) -> float | None:
        self._runs += 1
        settings = self.settings(point)
        variables = recipe(settings, self._facts.library).environment(self._folder / f"hints-{self._runs}")
        striping = self._striping
        try:
            trial = self._launch_at(point).run(
                self._folder / f"run-{self._runs}",
                variables,
                prepare=lambda: striping.prepare(point) if striping else None,
            )
        except StripingError as why:
            trial = Trial(0, None, str(why))
        problem = trial.problem
        if problem is None and trial.mpiio is not None:
            problem = not_in_effect(settings, trial.mpiio) or self._otherwise_sized(point, trial.mpiio.bytes)
        if problem is not None or trial.mpiio is None:
            self.problems.append(f"run {self._runs}: {problem or 'nothing was recorded'}")
            self._end_where_none_succeeds()
            return None
        return trial.mpiio.bandwidth

    def _end_where_none_succeeds(self) -> None:
        if len(self.problems) == self._runs >= _TRUSTED:
            raise UsageError(f"the sweep's first {self._runs} runs all failed; the last one: {self.problems[-1]}")

    def _launch_at(self, point: Point) -> Launch:
        if self._file_size is None:
            return self._launch
        return replace(self._launch, command=with_size(self._launch.command, self._file_size.at(point)))

    def _otherwise_sized(self, point: Point, moved: int) -> str | None:
        """Bandwidths of other amounts of data are not compared."""
        grown = self._file_size.at(point) / self._file_size.bytes if self._file_size else 1
        expected = self._moved * grown
        if abs(moved - expected) <= _OTHER_SHARE * expected:
            return None
        return f"it moved {moved:,} bytes through MPI-IO, where {expected:,.0f} were expected after the first run"


_TRUSTED = 4
"""Runs without a single success after which nobody waits for one."""
_OTHER_SHARE = 0.05
"""What may differ: headers, and what division of sizes leaves."""


def check_swept(facts: RunFacts) -> None:
    """UsageError: these settings are none of its MPI-IO's."""
    if facts.mpiio == MpiIo.OMPIO:
        component = facts.library.romio_component
        raise UsageError(
            "the command uses Open MPI's own MPI-IO, which reads no hints from outside; sweep its ROMIO: "
            f"export {COMPONENT}={component}"
        )
    if not facts.hints:
        raise UsageError("the command's first run opened no file through MPI-IO: these settings have no part in it")
