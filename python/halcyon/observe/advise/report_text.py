"""What `halcyon advise` prints."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from halcyon.observe.advise.library import CRAY_HINTS, HINTS_FILE, Family, Library, recipe
from halcyon.observe.advise.rounds import Result, Results, Variant
from halcyon.observe.advise.settings import HINTS, Setting, named
from halcyon.observe.advise.suggestions import Advice, Suggestion
from halcyon.observe.advise.verdict import CONFIDENCE, Ratio, Verdict, rounds_needed
from halcyon.observe.printed.tables import print_table
from halcyon.observe.schema import Kind
from halcyon.quantities import ABSENT, number, plural, rate, seconds, size

_STYLES = {Verdict.BETTER: "bold green", Verdict.WORSE: "yellow"}


def print_reasons(advice: Advice, console: Console) -> None:
    """What was tried and why, a line each."""
    if advice.suggestions:
        console.print("What the first run suggests")
    for one in advice.suggestions:
        console.print(f"  {named(one.settings)}, because: {_because(one)}", markup=False, soft_wrap=True)
    _print_beyond(advice, console)


def print_advice(advice: Advice, console: Console) -> None:
    """The suggestions, how to set each, and what settings do not reach."""
    if not advice.suggestions:
        console.print("Nothing in this run suggests a setting.")
    for one in advice.suggestions:
        console.print()
        console.print(Text(named(one.settings), style="bold"), soft_wrap=True)
        console.print(f"  because: {_because(one)}", markup=False, soft_wrap=True)
        for setting in one.settings:
            if setting.name in HINTS:
                console.print(f"  {setting.name}: {HINTS[setting.name][0]}", soft_wrap=True)
        for line in how_to_set(one.settings, advice.library):
            console.print(f"  {line}", markup=False, soft_wrap=True)
    if advice.suggestions:
        console.print()
        console.print("None of this was measured. Try it: halcyon advise --try -- COMMAND", soft_wrap=True)
    _print_beyond(advice, console)


def _because(one: Suggestion) -> str:
    seen = "; ".join(f"{each.what}: {each.value}" for each in one.evidence)
    return f"{one.because} ({seen})" if seen else one.because


def _print_beyond(advice: Advice, console: Console) -> None:
    if advice.beyond:
        console.print()
        console.print(Text("Beyond the reach of settings", style="bold"))
        for finding in advice.beyond:
            console.print(f"{finding.title}. {finding.change}", markup=False, soft_wrap=True)


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


def print_results(results: Results, library: Library, console: Console) -> None:
    """The table of what was measured, what to use, and which runs did not count."""
    if not results.results:
        console.print("There was nothing to try: no finding suggests a setting; name one with --setting")
        return
    every = [results.control, *results.results]
    _comparison(results, every, console)
    _made_of([results.unchanged, *(one.variant for one in results.results)], console)
    _excluded([results.unchanged, *(one.variant for one in every)], console)
    console.print()
    if not results.steady:
        console.print(
            Text("The unchanged command differs from itself: this machine is not steady. Use --runs for more rounds."),
            style="bold red",
        )
    _recommend(results, library, console)


def _comparison(results: Results, every: list[Result], console: Console) -> None:
    first = results.unchanged
    rows = [(first.name, "", "", "", *_times(first))]
    rows += [
        (
            one.variant.name,
            str(one.verdict or "not compared"),
            _interval(one.compared),
            _interval(one.wall) if one.wall is not one.compared else "",
            *_times(one.variant),
        )
        for one in every
    ]
    note = (
        f"compared: {results.compared}; ratios to the unchanged command, taken round by round: their median, and in "
        f"brackets where it lies with {CONFIDENCE:.0%} confidence for all rows together"
    )
    heads = ("settings", "verdict", "ratio", "of wall", "runs", "wall", "in MPI-IO", "bandwidth")
    print_table(console, "With and without", heads, rows, words=2, note=note)
    fewest = min((one.compared.rounds for one in every if one.compared), default=0)
    needed = rounds_needed(max(len(results.results), 1))
    if fewest < needed:
        console.print(f"{plural(fewest, 'round')}: at least {needed} are needed to tell a difference from chance")


def _times(variant: Variant) -> tuple[str, str, str, str]:
    walls = sorted(value for value in variant.walls() if value is not None)
    inside = sorted(value for value in variant.mpiio() if value is not None)
    typical = variant.typical()
    return (
        f"{len(variant.good)}/{len(variant.trials)}",
        seconds(walls[len(walls) // 2]) if walls else ABSENT,
        seconds(inside[len(inside) // 2]) if inside else ABSENT,
        rate(typical.bandwidth) if typical else ABSENT,
    )


def _interval(own: Ratio | None) -> str:
    if own is None:
        return ABSENT
    if own.low is None or own.high is None:
        return number(own.median)
    return f"{number(own.median)} ({number(own.low)}–{number(own.high)})"


_KINDS = (Kind.LOCK, Kind.READ, Kind.WRITE, Kind.UNLOCK)


def _made_of(variants: list[Variant], console: Console) -> None:
    rows = []
    for variant in variants:
        own = variant.typical()
        if own is None or not own.transfers:
            continue
        parts = []
        for kind in _KINDS:
            part = own.parts.get(kind)
            if part is None:
                parts += ["", ""]
                continue
            moved = f", each {size(part.bytes / part.calls)}" if part.bytes else ""
            parts += [f"{part.calls:,}{moved}", seconds(part.seconds)]
        rows.append((variant.name, f"{own.transfers:,}", size(own.bytes), *parts))
    heads = ("settings", "calls", "asked", *(word for kind in _KINDS for word in (f"{kind}s", "time")))
    note = "below the transfers of MPI-IO, in the run nearest to the median; times in sum over processes"
    print_table(console, "What they were made of", heads, rows, note=note)


def _excluded(variants: list[Variant], console: Console) -> None:
    for variant in variants:
        for place, trial in enumerate(variant.trials, 1):
            if trial.problem is not None:
                text = f"left out: {variant.name}, round {place}: the command {trial.problem}"
                console.print(Text(text, style="red"), soft_wrap=True)


def _recommend(results: Results, library: Library, console: Console) -> None:
    won = results.recommended()
    for one in won:
        assert one.compared is not None
        text = f"Use {one.variant.name}: {results.compared} is {number(one.compared.median)} of what it was"
        console.print(Text(text, style="bold green"), soft_wrap=True)
        for line in how_to_set(one.variant.settings, library):
            console.print(f"  {line}", markup=False, soft_wrap=True)
    if len(won) > 1:
        console.print("Each was tried alone. Together: --setting NAME=VALUE,NAME=VALUE", soft_wrap=True)
    for one in results.results:
        if one in won:
            continue
        verdict = one.doubt or str(one.verdict or "not compared")
        console.print(Text(f"Not {one.variant.name}: {verdict}", style=_STYLES.get(one.verdict or Verdict.SAME, "")))
    if not won:
        console.print("Leave the settings as they are.")
