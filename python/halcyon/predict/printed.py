"""A prediction, for people."""

from collections.abc import Callable, Sequence
from statistics import median

from rich.console import Console
from rich.table import Table
from rich.text import Text

from halcyon.predict.accuracy import EVEN, LIKELY, Accuracy
from halcyon.predict.scores import Detail, Prediction, Score, Stretch
from halcyon.predict.words import contexts, left_out, level_note, name_of
from halcyon.printed.tables import console_for_tables, print_lines, print_table
from halcyon.quantities import ABSENT, number, plural, seconds, share, size

FEW = 16
"""Streams that are told one by one."""

_COLUMNS = {
    LIKELY: "Halcyon",
    EVEN: "1/n",
    "contiguous": "contiguous",
    "immediate": "immediate",
    "last-value": "last value",
    "markov-2": "Markov",
}


def print_prediction(prediction: Prediction, console: Console | None = None) -> None:
    """Prints what was replayed, what was not, and how the forecasts did."""
    console = console or console_for_tables()
    _heading(prediction, console)
    if prediction.detail is None:
        return
    _streams(prediction, console)
    detail, score = prediction.detail, prediction.detail.score
    told = [one.stream for one in prediction.streams]
    name = name_of(score.stream, told)
    _stretch(f"Forecasts of {name}, all {score.whole.calls:,} calls", score.whole, console)
    if score.settled:
        before = score.whole.calls - score.settled.calls
        title = f"Forecasts of {name} from its second iteration on, after {plural(before, 'call')}"
        _stretch(title, score.settled, console)
    _bounds(detail, console)
    _model(score, name, console)


def _heading(prediction: Prediction, console: Console) -> None:
    chosen = prediction.selection
    if prediction.ended_badly:
        console.print(Text(prediction.ended_badly, style="bold red"), soft_wrap=True)
    console.print(Text(prediction.command or prediction.directory, style="bold"), soft_wrap=True)
    said = f"recorded by {prediction.source}: {plural(chosen.calls, 'call')} of "
    said += f"{plural(len(prediction.streams), 'thread')} replayed; {contexts(chosen)}"
    console.print(said, soft_wrap=True)
    for line in (level_note(chosen), left_out(chosen)):
        if line:
            console.print(Text(line, style="yellow"), soft_wrap=True)
    if prediction.detail is None:
        console.print("There are no calls to forecast: nothing that opens, closes, reads, writes or syncs a file.")


def _streams(prediction: Prediction, console: Console) -> None:
    scores = prediction.streams
    if len(scores) == 1:
        return
    told = [one.stream for one in scores]
    heads = ("", "calls", "call site", "offset", "contiguous", "hit ratio", "file", "time", "memory")
    note = "contiguous: offset, if each access followed the one before; time: mean error of interarrival"
    if len(scores) <= FEW:
        rows = [_row(name_of(one.stream, told), one) for one in scores]
        print_table(console, "Each thread over the whole run", heads, rows, note=note)
        return
    moving = [one for one in scores if one.stream.transfers] or scores
    rows = [
        _joined("median", moving, heads, lambda values, _more: median(values)),
        _joined("worst", moving, heads, lambda values, more: min(values) if more else max(values)),
    ]
    title = f"{plural(len(moving), 'thread')} that read or write, over the whole run"
    worst = min(moving, key=lambda one: one.whole.by[LIKELY].context or 0)
    title += f"; the worst by call site is {name_of(worst.stream, told)}"
    print_table(console, title, heads, rows, note=note)


def _row(name: str, score: Score) -> tuple[str, ...]:
    own, naive = score.whole.by[LIKELY], score.whole.by["contiguous"]
    return (
        name,
        f"{score.whole.calls:,}",
        share(own.context),
        share(own.offset),
        share(naive.offset),
        share(own.hit),
        share(own.file),
        seconds(own.gap_difference_s),
        size(score.model.memory_bytes),
    )


def _joined(
    name: str, scores: Sequence[Score], heads: Sequence[str], of: Callable[[list[float], bool], float]
) -> tuple[str, ...]:
    """A row of one number for all scores; `of` takes values, and whether more is better."""

    def told(value: Callable[[Score], float | None], text: Callable[[float], str], *, more: bool) -> str:
        values = [found for one in scores if (found := value(one)) is not None]
        return text(of(values, more)) if values else ABSENT

    row = (
        name,
        told(lambda one: one.whole.calls, lambda value: f"{value:,.0f}", more=True),
        told(lambda one: one.whole.by[LIKELY].context, share, more=True),
        told(lambda one: one.whole.by[LIKELY].offset, share, more=True),
        told(lambda one: one.whole.by["contiguous"].offset, share, more=True),
        told(lambda one: one.whole.by[LIKELY].hit, share, more=True),
        told(lambda one: one.whole.by[LIKELY].file, share, more=True),
        told(lambda one: one.whole.by[LIKELY].gap_difference_s, seconds, more=False),
        told(lambda one: one.model.memory_bytes, size, more=False),
    )
    assert len(row) == len(heads)
    return row


def _stretch(title: str, stretch: Stretch, console: Console) -> None:
    immediate = stretch.by["immediate"].gap_difference_s

    def ratio(one: Accuracy) -> str:
        return share(one.gap_difference_s / immediate) if one.gap_difference_s is not None and immediate else ABSENT

    measures: list[tuple[str, Callable[[Accuracy], str]]] = [
        ("call site", lambda one: share(one.context)),
        ("offset", lambda one: share(one.offset)),
        ("hit ratio", lambda one: share(one.hit)),
        ("  of reads and writes", lambda one: share(one.transfer_hit)),
        ("size, exact", lambda one: share(one.size_exact)),
        ("  median error", lambda one: error(one.size_error)),
        ("file", lambda one: share(one.file)),
        ("interarrival, difference", lambda one: seconds(one.gap_difference_s)),
        ("  beside immediate", ratio),
    ]
    rows = [(name, *(told(stretch.by[by]) for by in _COLUMNS)) for name, told in measures]
    print_table(console, title, ("", *_COLUMNS.values()), rows)


def error(value: float | None) -> str:
    """An error of sizes: a share of the observed size, to two digits."""
    if value is None:
        return ABSENT
    return f"{number(value)} times" if value >= 10 else f"{float(f'{value * 100:.2g}'):g} %"


def _bounds(detail: Detail, console: Console) -> None:
    stretch = detail.score.settled or detail.score.whole
    own = stretch.by[LIKELY]
    sites, sizes = own.context, own.size_exact
    rows = []
    for one in detail.bounds:
        of_sites = one.given.startswith("the last")
        reached = sites if of_sites else sizes
        if reached is None or reached >= 1:
            continue
        what = "call site" if of_sites else "size"
        rows.append((what, one.given, f"{one.entropy_bits:.3f}", share(one.best), share(reached)))
    note = "best: of whoever knew all along what follows most often; a grammar sees further, but has to learn"
    print_table(
        console, "How predictable it is", ("next", "given", "bits left", "best", "Halcyon"), rows, words=2, note=note
    )


def _model(score: Score, name: str, console: Console) -> None:
    model = score.model
    period = ABSENT
    if model.next_phase_s is not None:
        period = f"{seconds(model.next_phase_s)} ± {seconds(model.next_phase_deviation_s)} after the last call"
    if model.next_phase_earliest_s is not None and model.next_phase_latest_s is not None:
        bounds = f"{seconds(model.next_phase_earliest_s)} to {seconds(model.next_phase_latest_s)}"
        period += f", nine of ten times {bounds}"
    rows = [
        ("grammar", f"{plural(model.grammar_runs, 'symbol')} in {plural(model.grammar_rules, 'rule')}"),
        ("call sites, transitions", f"{model.symbols:,}, {model.transitions:,}"),
        ("memory", f"{size(model.memory_bytes)}, at most {size(model.memory_peak_bytes)}"),
        ("phases", f"{model.phases:,}, separated by more than {seconds(model.pause_s)}"),
        ("next phase", f"{period}, confidence {share(model.next_phase_confidence)}" if period != ABSENT else ABSENT),
    ]
    if model.unlearned:
        rows.append(("not learnt", f"{plural(model.unlearned, 'call')}: no room in its memory (--memory)"))
    lines = Table.grid(padding=(0, 3, 0, 0))
    for row in rows:
        lines.add_row(*(Text(cell) for cell in row))
    console.print()
    console.print(Text(f"Model of {name} in the end", style="bold"))
    print_lines(console, lines)
