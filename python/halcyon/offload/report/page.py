"""Puts figures, tables and departures into the page."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup

from halcyon import __version__, quantities
from halcyon.offload.comparison import Comparison, Entry
from halcyon.offload.departures import messages_of
from halcyon.offload.metrics import metrics_of
from halcyon.offload.report.figures import FIGURES, Absent, Picture
from halcyon.offload.run_statistics import Phase
from halcyon.printed.html_pages import report_style, templates
from halcyon.whole_file import whole_file

RUNS_ABREAST = 4  # columns of one table of numbers; more would not fit on paper
MOST_PHASES = 200  # lines of a run's table; the slowest phases are kept

Drawn = Callable[[str, int, int], object]


def _silent(name: str, done: int, total: int) -> None:
    """Shows no progress."""


def write_report(comparison: Comparison, output: Path, drawn: Drawn = _silent, opening: Markup | None = None) -> int:
    """Writes the page and returns its size in bytes. `drawn(name, done, total)` is called along the way. `opening`:
    sections with which the page opens.

    The page appears under its name only when it is complete. The same runs give the same bytes.
    """
    with whole_file(output) as hidden, hidden.open("wb") as file:  # before the drawing: a wrong path is said at once
        return file.write(render(comparison, drawn, opening).encode())


def render(comparison: Comparison, drawn: Drawn = _silent, opening: Markup | None = None) -> str:
    """The page as text."""
    pictures: list[Picture] = []
    absent: list[Absent] = []
    for done, (name, draw) in enumerate(FIGURES.items()):
        drawn(f"drawing {name}", done, len(FIGURES))
        result = draw(comparison)
        if isinstance(result, Picture):
            pictures.append(result)
        else:
            absent.append(result)
    drawn("writing", len(FIGURES), len(FIGURES))
    return (
        templates("offload/report")
        .get_template("report.html.j2")
        .render(
            opening=opening,
            title=_title(comparison),
            style=report_style(),
            version=__version__,
            comparison=comparison,
            runs=[_run(entry) for entry in comparison.entries],
            metrics=metrics_of(comparison),
            abreast=RUNS_ABREAST,
            pictures=[(picture, Markup(picture.svg)) for picture in pictures],
            absent=absent,
            q=quantities,
        )
    )


@dataclass(frozen=True)
class _RunOnPage:
    """What the template shows of a run."""

    entry: Entry
    messages: list[str]
    started: str
    phases: list[Phase]
    application: list[tuple[str, str]]


def _run(entry: Entry) -> _RunOnPage:
    slowest = sorted(entry.numbers.phases, key=lambda phase: -phase.slowest_s)[:MOST_PHASES]
    return _RunOnPage(
        entry=entry,
        messages=messages_of(entry.run),
        started=_time_of_day(entry.run.manifest.started_ns),
        phases=sorted(slowest, key=lambda phase: phase.iteration),
        application=_scalars(entry.run.application),
    )


def _title(comparison: Comparison) -> str:
    names = " and ".join(sorted({entry.run.manifest.simulation for entry in comparison.entries} - {""})) or "A run"
    return f"{names}: {len(comparison.entries)} runs" if comparison.several else f"{names}: output of one run"


def _time_of_day(ns: int | None) -> str:
    return datetime.fromtimestamp(ns // 10**9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if ns else quantities.ABSENT


def _scalars(values: Any) -> list[tuple[str, str]]:
    """What the application says about itself in app.json: its top level, as far as it fits in a cell."""
    return [
        (name, f"{value:.6g}" if isinstance(value, float) else str(value))
        for name, value in values.items()
        if isinstance(value, str | int | float)
    ]
