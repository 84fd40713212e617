"""What the demo's two tables say, as text in rows: for the terminal and for the page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from halcyon.demo.comparison_rounds import CASES, CONTROL, FILE_PER_PROCESS, Comparison
from halcyon.demo.measurement import Measurement, Ratio, run_time, spread, visible
from halcyon.demo.overload import Overload, was_reached
from halcyon.quantities import ABSENT, number, percent, plural, rate, seconds, seconds_with_range, size

NOT_REACHED = "overload not reached: never full"


@dataclass(frozen=True)
class Rows:
    """A table: its first column names the rows. `sections` are groups of rows with a line between them."""

    title: str
    heads: list[str]
    sections: list[list[list[str]]]
    stressed: tuple[str, ...] = ()
    """Heads of columns to look at."""
    doubtful: tuple[str, ...] = ()
    """Names of rows that do not show what they are there for."""


Texts = Sequence[tuple[str, Callable[[Sequence[Measurement]], str]]]

_COST: Texts = (
    ("blocked in output, a phase", lambda runs: _range([r.visible_s.median for r in runs], runs)),
    ("spread over ranks and phases", lambda runs: seconds(median(r.spread_s for r in runs))),
)
_RATIOS = (
    ("blocked in output / the first", visible),
    ("spread / the first", spread),
    ("whole run / the first", run_time),
)
_CONTEXT: Texts = (
    ("whole run", lambda runs: seconds(median(r.run_s for r in runs))),
    ("of it computing", lambda runs: seconds(median(r.compute_s for r in runs))),
    ("store / compute", lambda runs: percent(median(r.store_over_compute for r in runs))),
    ("server busy", lambda runs: percent(_mean_busy(runs))),
    ("bytes handed over", lambda runs: size(runs[0].bytes)),
)


def comparison_rows(comparison: Comparison) -> Rows:
    """A column per way of output; the last one is the control."""
    columns = [comparison.measured(case) for case in CASES]
    shown = zip(CASES[:-1], columns, strict=False)
    heads = [_head(case.title.split(",")[0], case.ranks, runs[0].server_core) for case, runs in shown]

    def section(texts: Texts) -> list[list[str]]:
        return [[name, *(text(runs) for runs in columns)] for name, text in texts]

    ratios = [
        [name, *("1" if case is FILE_PER_PROCESS else ratio_text(comparison.ratio(case, figure)) for case in CASES)]
        for name, figure in _RATIOS
    ]
    stressed = tuple(head for head, case in zip(heads, CASES, strict=False) if case.output == "halcyon")
    titles = ["", *heads, "the first again: control"]
    assert CASES[-1] is CONTROL
    return Rows("Ways of output", titles, [section(_COST), ratios, section(_CONTEXT)], stressed)


def overload_rows(measured: Overload) -> Rows:
    """A row per policy. Whatever was not the normal path is counted, and where the buffer was never full it is said:
    such a row shows nothing of its policy."""
    heads = ["when full", "blocked in output, a phase", "all phases", "waiting for room", "whole run"]
    heads += ["store / compute", "counts"]
    rows, doubtful = [], []
    for title, run in measured.measured.items():
        server = title != FILE_PER_PROCESS.title
        reached = not server or was_reached(run)
        name = title if server else f"({title})"
        rows.append(
            [
                name,
                _range([run.visible_s.median], [run]),
                seconds(run.visible_total_s),
                seconds(run.blocked_s) if server and reached else ABSENT,
                seconds(run.run_s),
                percent(run.store_over_compute),
                _counts(run) if reached else NOT_REACHED,
            ]
        )
        doubtful += [] if reached else [name]
    title = (
        f"Overload: a device limited to {rate(measured.limit)}, output twice as often, room for two phases and a half"
    )
    return Rows(title, heads, [rows], doubtful=tuple(doubtful))


def ratio_text(found: Ratio) -> str:
    """With least and most, where there are several rounds."""
    if found.low == found.high:
        return number(found.median)
    return f"{number(found.median)} ({number(found.low)}–{number(found.high)})"


def _head(title: str, ranks: int, server_core: str) -> str:
    return ", ".join(filter(None, [title, plural(ranks, "rank"), server_core]))


def _counts(run: Measurement) -> str:
    words = []
    for what in ("spilled", "skipped", "inlined"):
        if count := run.counts[f"{what}_blocks"]:
            words.append(f"{plural(count, 'block')} {what} ({size(run.counts[f'{what}_bytes'])})")
    if parts := run.counts["early_parts"]:
        words.append(f"{plural(parts, 'part')} stored early")
    if missing := run.counts["missing_blocks"]:
        words.append(f"{plural(missing, 'block')} missing")
    return ", ".join(words) or "all stored"


def _range(medians: Sequence[float], runs: Sequence[Measurement]) -> str:
    low, high = min(r.visible_s.low for r in runs), max(r.visible_s.high for r in runs)
    return seconds_with_range(median(medians), low, high)


def _mean_busy(runs: Sequence[Measurement]) -> float | None:
    known = [r.server_busy for r in runs if r.server_busy is not None]
    return fmean(known) if known else None
