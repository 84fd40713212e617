"""The command with and without settings, in rounds whose order changes, so that what drifts hits all alike."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from halcyon.observe.advise.library import Recipe, recipe
from halcyon.observe.advise.mpiio_time import MpiIo
from halcyon.observe.advise.settings import Setting, named
from halcyon.observe.advise.trial import Launch, Trial
from halcyon.observe.advise.verdict import Ratio, Verdict, ratio
from halcyon.observe.mpi_library import Library

_AGAIN = ", again"
"""The same command once more in each round: what differs between it and the unchanged one is chance."""


@dataclass(frozen=True)
class Variant:
    """One way to run the command, and its run in each round."""

    name: str
    settings: tuple[Setting, ...] = ()
    trials: list[Trial] = field(default_factory=list)

    @property
    def good(self) -> list[Trial]:
        """Those that count."""
        return [trial for trial in self.trials if trial.problem is None]

    def walls(self) -> list[float | None]:
        """Wall time of each round; None where the run does not count."""
        return [trial.wall_s if trial.problem is None else None for trial in self.trials]

    def mpiio(self) -> list[float | None]:
        """Perceived time in MPI-IO transfers of each round; None where the run does not count."""
        return [trial.mpiio_s if trial.problem is None else None for trial in self.trials]

    def typical(self) -> MpiIo | None:
        """That of the good run whose time in MPI-IO transfers is nearest to the median."""
        known = [trial.mpiio for trial in self.good if trial.mpiio is not None]
        if not known:
            return None
        middle = median(one.perceived_s for one in known)
        return min(known, key=lambda one: abs(one.perceived_s - middle))


@dataclass(frozen=True)
class Result:
    """One variant against the unchanged command. `compared`: its MPI-IO or wall time, as Results.compared says."""

    variant: Variant
    recipe: Recipe
    compared: Ratio | None
    wall: Ratio | None
    doubt: str | None
    """Why its times cannot be compared or the settings were not in effect; None: nothing speaks against them."""

    @property
    def verdict(self) -> Verdict | None:
        """None: its runs cannot be compared. A gain in MPI-IO that the wall time clearly takes back is none."""
        if self.doubt is not None or self.compared is None:
            return None
        if self.compared.verdict is Verdict.BETTER and self.wall and self.wall.verdict is Verdict.WORSE:
            return Verdict.WORSE
        return self.compared.verdict


@dataclass(frozen=True)
class Results:
    """All variants. `compared`: 'time in MPI-IO transfers' or 'wall time'."""

    compared: str
    unchanged: Variant
    control: Result
    results: list[Result]
    wanted: int = 0
    """Rounds; fewer were made where it was interrupted."""

    @property
    def rounds(self) -> int:
        """That were completed."""
        return len(self.unchanged.trials)

    @property
    def interrupted(self) -> bool:
        return self.rounds < self.wanted

    @property
    def steady(self) -> bool:
        """The unchanged command does not differ from itself."""
        return self.control.verdict in (Verdict.SAME, Verdict.UNKNOWN)

    def recommended(self) -> list[Result]:
        """What won, the greatest gain first. On a machine that is not steady: what gains more than chance did."""
        own = [one for one in self.results if one.verdict is Verdict.BETTER and self._beyond_chance(one)]
        return sorted(own, key=lambda one: one.compared.median if one.compared else 1.0)

    def _beyond_chance(self, one: Result) -> bool:
        if self.steady:
            return True
        chance, own = self.control.compared, one.compared
        if chance is None or chance.low is None or chance.high is None or own is None or own.high is None:
            return False
        return own.high < min(chance.low, 1 / chance.high)


def run_rounds(
    launch: Launch,
    settings: Sequence[tuple[Setting, ...]],
    library: Library,
    rounds: int,
    folder: Path,
    *,
    base: tuple[Setting, ...] = (),
    by_wall: bool = False,
    seed: int = 1,
    tell: Callable[[str], None] = lambda _: None,
) -> Results:
    """Runs all variants `rounds` times, each round in an order of its own; `tell` hears of each run.

    `base`: settings that what counts as unchanged has already. `by_wall`: compare wall times even where there are
    times in MPI-IO transfers. An interrupt (SIGINT) ends it; the results are those of the rounds that were complete.
    """
    control = Variant(named(base) + _AGAIN, base)
    variants = [Variant(named(base), base), control, *(Variant(named(own), own) for own in settings)]
    recipes = [recipe(variant.settings, library) for variant in variants]
    variables = [own.environment(folder / f"hints-{n}") for n, own in enumerate(recipes)]
    orders = random.Random(seed)
    try:
        for number in range(rounds):
            for which in orders.sample(range(len(variants)), len(variants)):
                trial = launch.run(folder / f"round-{number + 1}-{which}", variables[which])
                variants[which].trials.append(trial)
                tell(f"round {number + 1} of {rounds}, {variants[which].name}: {_told(trial)}")
    except KeyboardInterrupt:
        complete = min(len(variant.trials) for variant in variants)
        for variant in variants:
            del variant.trials[complete:]
    return compare(variants, recipes, by_wall, rounds)


def _told(trial: Trial) -> str:
    if trial.problem is not None:
        return trial.problem
    inside = f", {trial.mpiio_s:.4f} s in MPI-IO transfers" if trial.mpiio_s is not None else ""
    return f"{trial.wall_s:.3f} s{inside}"


def compare(variants: Sequence[Variant], recipes: Sequence[Recipe], by_wall: bool, wanted: int) -> Results:
    """`variants`: the unchanged command, its control, and the others."""
    unchanged = variants[0]
    inside = not by_wall and any(value is not None for value in unchanged.mpiio())
    tables = max(len(variants) - 2, 1)

    def result(variant: Variant, own: Recipe) -> Result:
        wall = ratio(variant.walls(), unchanged.walls(), tables)
        compared = ratio(variant.mpiio(), unchanged.mpiio(), tables) if inside else wall
        return Result(variant, own, compared, wall, _doubt(variant, unchanged))

    found = [result(*pair) for pair in zip(variants[1:], recipes[1:], strict=True)]
    return Results("time in MPI-IO transfers" if inside else "wall time", unchanged, found[0], found[1:], wanted)


def _doubt(variant: Variant, unchanged: Variant) -> str | None:
    if not variant.good:
        return "no run of it came to its end in order"
    own, other = variant.typical(), unchanged.typical()
    if own is None or other is None:
        return None
    if own.bytes != other.bytes:
        return f"it moved {own.bytes:,} bytes through MPI-IO, the unchanged command {other.bytes:,}"
    return not_in_effect(variant.settings, own)


def not_in_effect(settings: Sequence[Setting], mpiio: MpiIo) -> str | None:
    """The first hint that MPI-IO did not follow, as a sentence; None: it followed all, or does not say."""
    for one in settings:
        seen = mpiio.hints.get(one.name, frozenset())
        if one.is_hint and mpiio.hints and seen != {one.value}:
            said = ", ".join(sorted(seen)) or "not among the hints in effect"
            return f"{one} did not take effect: MPI-IO says {said}"
    return None
