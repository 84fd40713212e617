"""What `halcyon advise --try` recommends after its measurements, and how that is set."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from halcyon.observe.advise.library import CRAY_HINTS, HINTS_FILE, recipe
from halcyon.observe.advise.rounds import Result, Results
from halcyon.observe.advise.settings import Setting, named
from halcyon.observe.advise.try_settings import Tried
from halcyon.observe.advise.verdict import Verdict
from halcyon.observe.mpi_library import Family, Library
from halcyon.quantities import number, seconds

_STYLES = {Verdict.BETTER: "bold green", Verdict.WORSE: "yellow"}
_SHORT_S = 0.02
"""Of the time that is compared: less is mostly the start of processes and the first touch of a file."""


def how_to_set(settings: Sequence[Setting], library: Library, hints_file: str = "hints") -> list[str]:
    """Shell lines after which the command has these settings."""
    own = recipe(tuple(settings), library)
    lines = []
    if own.hints:
        words = "".join(f" '{name} {value}'" for name, value in own.hints.items())
        lines += [f"printf '%s\\n'{words} > {hints_file}", f'export {HINTS_FILE}="$PWD/{hints_file}"']
    quoted = {name: f"'{value}'" if "*" in value else value for name, value in own.variables.items()}
    lines += [f"export {name}={value}" for name, value in quoted.items()]
    if own.hints and library.family == Family.ROMIO and library.major == 0:
        pairs = ":".join(f"{name}={value}" for name, value in own.hints.items())
        lines.append(f"# under Cray MPICH instead: export {CRAY_HINTS}='*:{pairs}'")
    return lines


def print_recommendation(tried: Tried, library: Library, console: Console) -> None:
    """What to use, and of everything else why not."""
    for results in (tried.results, tried.together):
        if results is not None and results.rounds and not results.steady:
            text = "The unchanged command differs from itself: this machine is not steady. Use --runs for more rounds."
            console.print(Text(text, style="bold red"), soft_wrap=True)
    won = tried.results.recommended()
    together = tried.together.recommended() if tried.together is not None else []
    best = together[0] if together else won[0] if won else None
    if best is not None:
        _use(tried, best, won[0], console)
        for line in how_to_set(best.variant.settings, library):
            console.print(f"  {line}", markup=False, soft_wrap=True)
    _of_those_that_won(tried, won, bool(together), console)
    for one in tried.results.results:
        if one not in won:
            verdict = one.doubt or str(one.verdict or "not compared")
            text = f"Not {named(one.variant.settings)}: {verdict}"
            console.print(Text(text, style=_STYLES.get(one.verdict or Verdict.SAME, "")), soft_wrap=True)
    if best is None:
        console.print("Leave the settings as they are.")
    _warn_of_other_programs(tried.results, console)
    _warn_of_short_times(tried.results, console)


def _use(tried: Tried, best: Result, alone: Result, console: Console) -> None:
    assert best.compared is not None
    assert alone.compared is not None
    text = f"Use {best.variant.name}: {tried.results.compared} is {number(best.compared.median)} of what it was"
    if best is not alone:
        text += f" with {alone.variant.name} alone, and that {number(alone.compared.median)} of what it was without"
    console.print(Text(text, style="bold green"), soft_wrap=True)


def _of_those_that_won(tried: Tried, won: list[Result], together_won: bool, console: Console) -> None:
    """Why they are not all used."""
    if len(won) < 2:
        return
    if not together_won:
        others = "; ".join(one.variant.name for one in won[1:])
        console.print(f"Alone, these were faster as well, by less: {others}", markup=False, soft_wrap=True)
    if tried.together is not None and not together_won and tried.together.rounds:
        one = tried.together.results[0]
        said = one.doubt or f"{one.verdict or 'not compared'} beyond {tried.together.unchanged.name} alone"
        console.print(f"Not {one.variant.name} together: {said}", markup=False, soft_wrap=True)
    for sentence in tried.combination.apart if tried.combination is not None else ():
        console.print(sentence, markup=False, soft_wrap=True)


def _warn_of_other_programs(results: Results, console: Console) -> None:
    own = results.unchanged.typical()
    if (own is None or not own.transfers) and any(setting.is_hint for setting in _tried(results)):
        text = "The command moves nothing through MPI-IO, so hints have no part in it; differences are chance."
        console.print(Text(text, style="yellow"), soft_wrap=True)


def _tried(results: Results) -> list[Setting]:
    return [setting for one in results.results for setting in one.variant.settings]


def _warn_of_short_times(results: Results, console: Console) -> None:
    inside = results.compared != "wall time"
    own = sorted(value for value in (results.unchanged.mpiio() if inside else results.unchanged.walls()) if value)
    if own and own[len(own) // 2] < (_SHORT_S if inside else 10 * _SHORT_S):
        text = (
            f"Short: {results.compared} is {seconds(own[len(own) // 2])} a run, so no setting can save more than that, "
            "and a longer run may behave otherwise. Let the command move as much data as it will."
        )
        console.print(Text(text, style="yellow"), soft_wrap=True)
