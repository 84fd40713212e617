"""What `halcyon advise` prints."""

from itertools import groupby

from rich.console import Console
from rich.text import Text

from halcyon.observe.advise.recommendation_text import how_to_set, print_recommendation
from halcyon.observe.advise.rounds import Result, Results, Variant
from halcyon.observe.advise.settings import HINTS, named
from halcyon.observe.advise.suggestions import Advice, Suggestion
from halcyon.observe.advise.try_settings import Tried
from halcyon.observe.advise.verdict import CONFIDENCE, Ratio, rounds_needed
from halcyon.observe.mpi_library import Library
from halcyon.observe.schema import Kind
from halcyon.printed.tables import print_table
from halcyon.quantities import ABSENT, number, plural, rate, seconds, size


def print_reasons(advice: Advice, console: Console) -> None:
    """What was tried and why; settings with the same reason on one line."""
    if advice.suggestions:
        console.print("What the first run suggests")
    for because, own in groupby(advice.suggestions, _because):
        console.print(f"  {' | '.join(named(one.settings) for one in own)}", markup=False, soft_wrap=True)
        console.print(f"    because: {because}", markup=False, soft_wrap=True)
    _print_beyond(advice, console)


def print_advice(advice: Advice, console: Console) -> None:
    """Of which run, the suggestions, how to set each, and what settings do not reach."""
    if advice.ended_badly:
        console.print(Text(advice.ended_badly, style="bold red"), soft_wrap=True)
    console.print(Text(advice.run, style="bold"), soft_wrap=True)
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
    seen = "; ".join(f"{each.what}: {each.text}" for each in one.evidence)
    return f"{one.because} ({seen})" if seen else one.because


def _print_beyond(advice: Advice, console: Console) -> None:
    for sentence in advice.observed:
        console.print(f"{sentence}. Without it: --try --setting romio_ds_write=disable", markup=False, soft_wrap=True)
    if advice.beyond:
        console.print()
        console.print(Text("Beyond the reach of settings", style="bold"))
        for finding in advice.beyond:
            console.print(f"{finding.title}. {finding.change}", markup=False, soft_wrap=True)


def print_results(tried: Tried, library: Library, console: Console) -> None:
    """The tables of what was measured, what to use, and which runs did not count."""
    if not tried.results.results:
        _nothing_to_try(tried, console)
        return
    _print_stage(tried.results, "With and without", console)
    if tried.together is not None:
        console.print()
        _print_stage(tried.together, "Together, against the best one alone", console)
    console.print()
    print_recommendation(tried, library, console)


def _nothing_to_try(tried: Tried, console: Console) -> None:
    made = tried.first.mpiio
    why = (
        "nothing of the command was recorded (a static program, or one of another user?)"
        if made is None
        else "no finding of its first run suggests a setting"
        if made.transfers
        else "it moved nothing through MPI-IO, the only thing that settings act on"
        if made.library
        else "it used no MPI, and settings act on MPI-IO alone"
    )
    console.print(f"There was nothing to try: {why}.", soft_wrap=True)
    console.print(
        "To try a setting of your own: --setting NAME=VALUE. What else its I/O suggests: halcyon run --trace -o RUN -- "
        "COMMAND, then halcyon report RUN",
        soft_wrap=True,
        markup=False,
    )


def _print_stage(results: Results, title: str, console: Console) -> None:
    every = [results.control, *results.results]
    if not results.rounds:
        console.print(f"{title}: interrupted before the first round was complete: nothing can be said.")
        return
    _comparison(results, every, title, console)
    variants = [results.unchanged, *(one.variant for one in results.results)]
    _made_of(variants, console)
    _print_views(variants, console)
    _excluded([results.unchanged, *(one.variant for one in every)], console)
    if results.interrupted:
        text = f"Interrupted: {results.rounds} of {plural(results.wanted, 'round')} were made; only these count."
        console.print(Text(text, style="bold red"))


def _print_views(variants: list[Variant], console: Console) -> None:
    views = sorted({view for one in variants if (own := one.typical()) for view in own.views})
    if views:
        console.print(f"the program's view of its file: {'; '.join(views[:3])}", markup=False, soft_wrap=True)


def _comparison(results: Results, every: list[Result], title: str, console: Console) -> None:
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
        f"compared: {results.compared}; ratios to the first row, taken round by round: their median, and in "
        f"brackets where it lies with {CONFIDENCE:.0%} confidence for all rows together"
    )
    heads = ("settings", "verdict", "ratio", "of wall", "runs", "wall", "in transfers", "bandwidth")
    print_table(console, title, heads, rows, words=2, note=note)
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
