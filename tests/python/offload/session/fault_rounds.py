"""The rounds of the fault campaign: each kind of fault at each step that it can hit, in a shuffled order."""

import itertools
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import appointing
import first_servers
import random_faults
import takeover
from promises import promise
from running import Case
from stored import check_whole_counts, check_whole_values

MODES = ("kill", "hold", "slow")
KINDS = {
    "kill": "a server that takes over is killed before a system call",
    "hold": "it stands still there until the next one serves",
    "slow": "it stands still there for a moment",
    "second": "the one that takes over after a successor was killed is killed, held or slow",
    "open": "the first one, two or three servers are killed before a system call while the session opens",
    "client": "the client that appoints the next server is killed before a system call",
    "random": "any fault at a random moment of a random configuration",
}
RANDOM_OF = 5
"""Every fifth round is random where others are wanted, too."""


class Round(Protocol):
    @property
    def kind(self) -> str: ...
    @property
    def number(self) -> int:
        """The step that is hit, or the seed."""

    def play(self, directory: Path) -> bool:
        """Raises BrokenPromiseError. True: the step was reached, or the session."""


@dataclass(frozen=True)
class TakeoverRound:
    kind: str
    number: int
    steps: int
    mpi: str

    def play(self, directory: Path) -> bool:
        case = Case(directory, self.mpi)
        hits = self.hits()
        with promise("the end"):
            outcome = takeover.Takeover(hits).play(case)
            assert outcome.status == 0, outcome.text
        with promise("values"):
            check_whole_values(case, takeover.ITERATIONS, takeover.NZ)
        with promise("counts"):
            takeover.check_counts_after(case, outcome)
        return all(hit.was_reached(case) for hit in hits)

    def hits(self) -> tuple[takeover.Hit, ...]:
        if self.kind != "second":
            return (takeover.Hit(self.number, self.kind),)
        chance = random.Random(self.number)
        first = takeover.Hit(chance.randint(1, self.steps), "kill")
        return (first, takeover.Hit(self.number, chance.choice(MODES), server=3))


@dataclass(frozen=True)
class OpenRound:
    number: int
    mpi: str
    kind = "open"

    def play(self, directory: Path) -> bool:
        case = Case(directory, self.mpi)
        opening = first_servers.Opening(self.number, random.Random(self.number).randint(1, first_servers.MOST_KILLED))
        with promise("the end"):
            outcome = opening.play(case)
            assert outcome.status == 0, outcome.text
        with promise("values"):
            check_whole_values(case, first_servers.ITERATIONS, first_servers.NZ)
        with promise("counts"):
            check_whole_counts(case, first_servers.ITERATIONS)
        return opening.was_reached(case)


@dataclass(frozen=True)
class ClientRound:
    number: int
    kind = "client"

    def play(self, directory: Path) -> bool:
        case = Case(directory, "openmpi")
        killed = appointing.Appointing(self.number)
        with promise("the end"):
            outcome = killed.play(case)
            # The step may lie behind the appointment: then both have gone on.
            assert outcome.status == 0, outcome.text
        reached = killed.was_reached(case)
        with promise("values"):
            appointing.check_values_after(case, reached)
        with promise("counts"):
            appointing.check_counts_after(case, outcome, reached)
        return reached


@dataclass(frozen=True)
class RandomRound:
    number: int
    mpis: tuple[str, ...]
    kind = "random"

    def play(self, directory: Path) -> bool:
        return random_faults.play(random_faults.plan(self.number, list(self.mpis)), directory)


class Schedule:
    """Which round comes next."""

    def __init__(self, kinds: list[str], mpis: list[str], seed: int, step: int | None = None) -> None:
        self.steps: dict[str, int] = {}
        """Of each kind that has steps: how many."""
        self._seed = seed
        self._mpis = tuple(mpis)
        self._wants_random = "random" in kinds
        takeovers = [kind for kind in (*MODES, "second") if kind in kinds]
        if takeovers:
            with tempfile.TemporaryDirectory() as directory:
                self.steps |= dict.fromkeys(takeovers, takeover.steps_of_a_takeover(Case(Path(directory), mpis[0])))
        if "open" in kinds:
            with tempfile.TemporaryDirectory() as directory:
                self.steps["open"] = first_servers.steps_of_an_opening(Case(Path(directory), mpis[0]))
        if "client" in kinds:
            with tempfile.TemporaryDirectory() as directory:
                self.steps["client"] = appointing.steps_of_an_appointment(Case(Path(directory), "openmpi"))
        self._visits = [
            (kind, number)
            for kind, count in self.steps.items()
            for number in (range(1, count + 1) if step is None else [step])
        ]

    def __iter__(self) -> Iterator[Round]:
        chance = random.Random(self._seed)
        seeds = itertools.count(self._seed)
        while True:
            chance.shuffle(self._visits)
            for i, (kind, number) in enumerate(self._visits):
                if self._wants_random and i % RANDOM_OF == 0:
                    yield RandomRound(next(seeds), self._mpis)
                if kind == "client":
                    yield ClientRound(number)
                elif kind == "open":
                    yield OpenRound(number, chance.choice(self._mpis))
                else:
                    yield TakeoverRound(kind, number, self.steps[kind], chance.choice(self._mpis))
            if not self._visits:
                yield from map(partial(RandomRound, mpis=self._mpis), seeds)
