"""Tables for a terminal."""

import shutil
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from halcyon.printed.paths import folded
from halcyon.quantities import ABSENT
from halcyon.terminal import VisibleConsole
from halcyon.visible_text import visible

WIDE = 200
"""Columns of output that goes to a file or another program."""
DEFAULT_MOST = 30
"""Rows of a table that says nothing else."""
_GAP = 3  # between columns, as rich draws them
_NARROWEST = 16  # of a column of words, which folds


def console_for_tables(elsewhere: int = WIDE) -> Console:
    """As wide as the terminal; `elsewhere` columns where there is none and COLUMNS does not say."""
    return VisibleConsole(highlight=False, width=shutil.get_terminal_size((elsewhere, 0)).columns)


def print_lines(console: Console, table: Table) -> None:
    """Prints a table without blanks at the ends of its lines."""
    for line in console.render_lines(table, pad=False):
        text = Text.assemble(*((piece.text, piece.style or "") for piece in line))
        text.rstrip()
        console.print(text, soft_wrap=True)


def print_table(
    console: Console,
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    words: int = 1,
    most: int = DEFAULT_MOST,
    note: str = "",
) -> None:
    """Prints a title, a note and the first `most` rows; nothing without rows.

    The first `words` columns are text, the others numbers. Where not all fit, empty ones go first. The note says when
    there are more rows, or more columns than fit the terminal.
    """
    if not rows:
        return
    lines: Sequence[Sequence[str]] = [[visible(value) for value in row] for row in rows]
    shown = lines[:most]
    if _columns_that_fit(columns, shown, words, console.width) < len(columns):
        columns, lines = _without_empty(columns, lines, words)
        shown = lines[:most]
    count = _columns_that_fit(columns, shown, words, console.width)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, name in enumerate(columns[:count]):
        left = number < words
        table.add_column(Text(name), justify="left" if left else "right", no_wrap=not left, overflow="fold")
    room = _room_for_first(columns[:count], shown, words, console.width)
    for row in shown:
        first = folded(row[0], room) if words and "/" in row[0] else row[0]
        table.add_row(Text(first), *(Text(value) for value in row[1:count]))
    notes = [
        note,
        f"the first {most} of {len(rows):,}; --json has all" if len(rows) > most else "",
        f"a wider terminal shows: {', '.join(columns[count:])}" if count < len(columns) else "",
    ]
    console.print()
    console.print(Text(title, style="bold"))
    if any(notes):
        console.print(Text("; ".join(each for each in notes if each), style="dim"), soft_wrap=True)
    print_lines(console, table)


def _without_empty(
    columns: Sequence[str], rows: Sequence[Sequence[str]], words: int
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Without columns of numbers in which no row has any."""
    kept = [at for at in range(len(columns)) if at < words or any(row[at] not in ("", ABSENT) for row in rows)]
    return [columns[at] for at in kept], [[row[at] for at in kept] for row in rows]


def _columns_that_fit(columns: Sequence[str], rows: Sequence[Sequence[str]], words: int, width: int) -> int:
    """Words may fold, numbers are shown in full or not at all."""
    used = 0
    for number, name in enumerate(columns):
        own = max(len(name), *(len(row[number]) for row in rows))
        used += (min(own, _NARROWEST) if number < words else own) + (_GAP if number else 0)
        if used > width:
            return max(number, words)
    return len(columns)


def _room_for_first(columns: Sequence[str], rows: Sequence[Sequence[str]], words: int, width: int) -> int:
    """What the other columns leave, of which those of words fold."""
    used = 0
    for number, name in enumerate(columns[1:], start=1):
        own = max(len(name), *(len(row[number]) for row in rows))
        used += (min(own, _NARROWEST) if number < words else own) + _GAP
    return max(width - used, _NARROWEST)
