"""The tables at the end of the demo."""

from collections.abc import Callable, Sequence
from statistics import fmean, median

from rich import box
from rich.table import Table
from rich.text import Text

from halcyon.demo.comparison_rounds import (
    CASES,
    CONTROL,
    FILE_PER_PROCESS,
    STORE_OVER_COMPUTE_AT_MOST,
    Comparison,
)
from halcyon.demo.measurement import Measurement, Ratio, ratio, run_time, spread, visible
from halcyon.demo.overload import Overload, was_reached
from halcyon.quantities import ABSENT, number, percent, plural, seconds, seconds_with_range, size

NOT_REACHED = "overload not reached: never full"

Rows = Sequence[tuple[str, Callable[[Sequence[Measurement]], str]]]

_COST: Rows = (
    ("held up, a phase", lambda runs: _range([r.visible_s.median for r in runs], runs)),
    ("… spread", lambda runs: seconds(median(r.spread_s for r in runs))),
)
_CONTEXT: Rows = (
    ("whole run", lambda runs: seconds(median(r.run_s for r in runs))),
    ("… of it computing", lambda runs: seconds(median(r.compute_s for r in runs))),
    ("store / compute", lambda runs: percent(fmean(r.store_over_compute for r in runs))),
    ("server busy", lambda runs: percent(_mean_busy(runs))),
    ("bytes handed over", lambda runs: size(runs[0].bytes)),
)


def comparison_table(comparison: Comparison) -> Table:
    """A column per way of output; the last one is the control."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Three ways of output", title_justify="left")
    table.add_column("", no_wrap=True)
    for case in CASES:
        runs = comparison.rounds[case.name]
        core = "\n" + plural(case.ranks, "rank")
        server = f",\n{runs[0].server_core}" if runs[0].server_core else ""
        head = "the first again:\ncontrol" if case is CONTROL else case.title.split(",")[0] + core + server
        table.add_column(head, justify="right", style="dim" if case is CONTROL else _style(case.output))
    columns = [comparison.rounds[case.name] for case in CASES]
    for name, text in _COST:
        table.add_row(name, *(text(runs) for runs in columns))
    reference = columns[CASES.index(FILE_PER_PROCESS)]
    table.add_section()
    for name, figure in (
        ("held up / the first", visible),
        ("spread / the first", spread),
        ("whole run / the first", run_time),
    ):
        ratios = [_ratio(ratio(runs, reference, figure)) for runs in columns]
        table.add_row(name, *(Text("1") if runs is reference else r for r, runs in zip(ratios, columns, strict=True)))
    table.add_section()
    for name, text in _CONTEXT:
        table.add_row(name, *(text(runs) for runs in columns))
    return table


def cautions(comparison: Comparison) -> list[str]:
    """What a reader should know before believing the table."""
    found = []
    busy = {case.title: fmean(r.store_over_compute for r in comparison.rounds[case.name]) for case in CASES}
    title, most = max(busy.items(), key=lambda item: item[1])
    if comparison.limit is not None and most > STORE_OVER_COMPUTE_AT_MOST:
        found.append(
            f"{title}: storing took {percent(most)} of the time to compute (aimed at: at most "
            f"{percent(STORE_OVER_COMPUTE_AT_MOST)}): the machine was busier than at calibration; run it again"
        )
    control = ratio(comparison.rounds[CONTROL.name], comparison.rounds[FILE_PER_PROCESS.name], visible)
    if control.low < 0.5 or control.high > 2:
        found.append("the control is far from 1: something else used this machine, and the other ratios say little")
    return found


def overload_table(measured: Overload) -> Table:
    """A row per policy. Whatever was not the normal path is counted, and where the buffer was never full it is said:
    such a row shows nothing of its policy."""
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, title="Overload: storage slower than the computation", title_justify="left"
    )
    table.add_column("when full", no_wrap=True)
    for head in ("held up, a phase", "all phases", "waiting for room", "whole run", "store / compute"):
        table.add_column(head, justify="right")
    table.add_column("counts")
    for title, run in measured.measured.items():
        server = title != FILE_PER_PROCESS.title
        reached = not server or was_reached(run)
        table.add_row(
            title if server else "(file-per-process)",
            _range([run.visible_s.median], [run]),
            seconds(run.visible_total_s),
            seconds(run.blocked_s) if server and reached else ABSENT,
            seconds(run.run_s),
            percent(run.store_over_compute),
            _counts(run) if reached else NOT_REACHED,
            style="yellow" if not reached else "" if server else "dim",
        )
    return table


def overload_cautions(measured: Overload) -> list[str]:
    """Where the second table does not show what it is there for."""
    idle = [t for t, run in measured.measured.items() if t != FILE_PER_PROCESS.title and not was_reached(run)]
    if not idle:
        return []
    why = "the storage kept up, so the buffer was never full, and these rows say nothing of their policy"
    return [f"overload was not reached with {', '.join(idle)}: {why}; run the demo again on a quieter machine"]


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


def _style(output: str) -> str:
    return "green" if output == "halcyon" else ""


def _range(medians: Sequence[float], runs: Sequence[Measurement]) -> str:
    low, high = min(r.visible_s.low for r in runs), max(r.visible_s.high for r in runs)
    return seconds_with_range(median(medians), low, high)


def _ratio(found: Ratio) -> Text:
    text = Text(number(found.median), style="bold")
    return (
        text
        if found.low == found.high
        else text.append(f" ({number(found.low)}–{number(found.high)})", style="not bold")
    )


def _mean_busy(runs: Sequence[Measurement]) -> float | None:
    known = [r.server_busy for r in runs if r.server_busy is not None]
    return fmean(known) if known else None
