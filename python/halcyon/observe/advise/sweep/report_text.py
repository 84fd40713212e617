"""What `halcyon advise --sweep` prints."""

from rich.console import Console
from rich.text import Text

from halcyon.observe.advise.recommendation_text import how_to_set
from halcyon.observe.advise.sweep.space import AGGREGATORS, BUFFER_BYTES, STRIPE_COUNT, Point
from halcyon.observe.advise.sweep.sweeping import Swept
from halcyon.observe.advise.verdict import CONFIDENCE
from halcyon.printed.tables import print_table
from halcyon.quantities import ABSENT, number, percent, plural, rate


def print_sweep(swept: Swept, console: Console) -> None:
    """The chosen points, how to set them, what failed, where the figures are."""
    measured, choice = swept.measured, swept.choice
    rows = [_row(swept, _start_name(swept), measured.start), _row(swept, "fastest", choice.best)]
    if choice.frugal != choice.best:
        rows.append(_row(swept, "frugal", choice.frugal))
    names = [parameter.title for parameter in swept.reach.space.parameters]
    note = (
        f"{plural(measured.runs, 'run')} at {len(measured.values):,} of {len(measured.space):,} points; bandwidth: the "
        "median"
    )
    print_table(
        console, "Sweep", ("point", *names, "bandwidth", "of the fastest", "runs", "lowest – highest"), rows, note=note
    )
    for sentence in swept.reach.left_out:
        console.print(f"left out: {sentence}", markup=False, soft_wrap=True)
    for problem in swept.problems:
        console.print(Text(f"left out: {problem}", style="red"), soft_wrap=True)
    if measured.interrupted:
        text = f"Interrupted after {plural(measured.runs, 'run')}: what follows rests on these."
        console.print(Text(text, style="bold red"), soft_wrap=True)
    _recommend(swept, console)
    console.print()
    for path in swept.figures:
        console.print(f"figure: {path}", markup=False, soft_wrap=True)


def _start_name(swept: Swept) -> str:
    """Where a command of the user's sets striping, nobody knows what it is without."""
    striping = swept.reach.striping
    return "as it is" if striping is None or striping.by_hints else "start"


def _row(swept: Swept, name: str, point: Point) -> tuple[str, ...]:
    measured = swept.measured
    shown = {one.name: one for one in swept.reach.space.parameters}
    own = measured.values.get(point, [])
    share = measured.speed(point) / measured.speed(swept.choice.best)
    return (
        name,
        *(shown[parameter].show(value) for parameter, value in point),
        rate(measured.speed(point) or None),
        percent(share),
        str(len(own)),
        f"{rate(min(own))} – {rate(max(own))}" if own else ABSENT,
    )


def _recommend(swept: Swept, console: Console) -> None:
    console.print()
    measured, choice = swept.measured, swept.choice
    point = choice.frugal
    if point == measured.start or not measured.faster(point):
        reason = (
            "no other point was faster"
            if choice.best == measured.start
            else "it is almost as fast as the fastest, for less"
            if point == measured.start
            else "that another point is faster could be chance; more --runs may tell"
        )
        what = "Leave it as it is" if _start_name(swept) == "as it is" else f"Use {measured.space.show(measured.start)}"
        text = f"{what}: {reason}."
        console.print(Text(text, style="bold green"), soft_wrap=True)
        if what != "Leave it as it is":
            _print_lines(swept, measured.start, console)
        return
    lead = f"Use {measured.space.show(point)}"
    if point != choice.best:
        lead += f": within {choice.tolerance:.0%} of the fastest, with {_less(choice.best, point)}"
    console.print(Text(lead, style="bold green"), soft_wrap=True)
    if gain := measured.gain(point):
        interval = f"{number(gain.low)}–{number(gain.high)} with {CONFIDENCE:.0%} confidence"
        text = f"  {number(gain.ratio)} times as fast as in the first row ({interval})"
        console.print(text, markup=False, soft_wrap=True)
    _print_lines(swept, point, console)


def _print_lines(swept: Swept, point: Point, console: Console) -> None:
    striping = swept.reach.striping
    for line in striping.lines(point) if striping is not None else ():
        console.print(f"  {line}", markup=False, soft_wrap=True)
    for line in how_to_set(swept.settings[point], swept.library):
        console.print(f"  {line}", markup=False, soft_wrap=True)


def _less(best: Point, frugal: Point) -> str:
    one, other = dict(best), dict(frugal)
    if STRIPE_COUNT in one:
        return f"{other[STRIPE_COUNT]} storage targets in place of {one[STRIPE_COUNT]}, which others can use"
    share = (other.get(AGGREGATORS, 1) * other.get(BUFFER_BYTES, 1)) / (
        one.get(AGGREGATORS, 1) * one.get(BUFFER_BYTES, 1)
    )
    return f"{percent(share)} of its memory for buffers"
