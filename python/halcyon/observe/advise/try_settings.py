"""From a command to measured advice: record it once, see what that suggests, try it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from halcyon.errors import UsageError
from halcyon.observe.advise.combination import Combination, combine
from halcyon.observe.advise.rounds import Results, run_rounds
from halcyon.observe.advise.settings import Setting
from halcyon.observe.advise.suggestions import Advice, advise
from halcyon.observe.advise.trial import Launch, Trial, output_tail
from halcyon.observe.advise.verdict import rounds_needed
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.mpi_library import library_of
from halcyon.observe.open_run import open_run
from halcyon.quantities import plural

FIRST = "recorded"
"""Folder of the first run, from which the suggestions come."""
TOGETHER = "together"
"""Folder of the runs with several settings that won."""


@dataclass(frozen=True)
class Tried:
    """`advice`: of the first run; None when settings were named.

    `combination`: of the settings that won, where there are several. `together`: its trial, against the best one alone;
    None where they contradict each other.
    """

    advice: Advice | None
    results: Results
    first: Trial
    combination: Combination | None = None
    together: Results | None = None

    @property
    def interrupted(self) -> bool:
        return self.results.interrupted or (self.together is not None and self.together.interrupted)


def try_settings(
    launch: Launch,
    named: Sequence[tuple[Setting, ...]],
    folder: Path,
    *,
    rounds: int | None = None,
    by_wall: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Tried:
    """Runs the command once for what it suggests (and to warm caches up), then in rounds, in `folder`.

    `rounds`: by default as many as tell a difference from chance although one of them was disturbed. UsageError: the
    command fails as it is.
    """
    first = launch.run(folder / FIRST, {}, keep=True)
    if first.problem is not None:
        raise UsageError(failed_as_it_is(first, folder / FIRST))
    advice = None
    if not named and first.mpiio is not None:
        with open_run(folder / FIRST) as dataset:
            advice = advise(Answers(dataset))
        named = [one.settings for one in advice.suggestions]
        tell(f"the first run suggests {plural(len(named), 'setting')} to try")
    library = library_of(first.mpiio.library if first.mpiio else None)
    count = rounds or rounds_needed(max(len(named), 1)) + _SPARE
    results = run_rounds(launch, named, library, count if named else 0, folder, by_wall=by_wall, tell=tell)
    won = [one.variant.settings for one in results.recommended()]
    if len(won) < 2 or results.interrupted:
        return Tried(advice, results, first)
    combination = combine(won)
    if len(combination.parts) < 2:
        return Tried(advice, results, first, combination)
    tell(f"{len(combination.parts)} of them won: together, against the best one alone")
    place = folder / TOGETHER
    place.mkdir()
    together = run_rounds(
        launch, [combination.settings], library, rounds or rounds_needed(1) + _SPARE, place,
        base=won[0], by_wall=by_wall, tell=tell,
    )  # fmt: skip
    return Tried(advice, results, first, combination, together)


def failed_as_it_is(first: Trial, folder: Path) -> str:
    """What is told when the first run in `folder` does not count."""
    reason = (first.problem or "").partition("; it said last")[0]
    return (
        f"the command, as it is, {reason}: no settings were tried. Have it run in order by itself first. It said:"
        f"{output_tail(folder)}"
    )


_SPARE = 3
"""Rounds beyond the fewest: one that was disturbed then does not decide."""
