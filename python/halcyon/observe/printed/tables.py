"""Tables for a terminal."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text


def print_table(
    console: Console,
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    words: int = 1,
    most: int = 30,
    note: str = "",
) -> None:
    """Prints a title, a note and the first `most` rows; nothing without rows.

    The first `words` columns are text, the others numbers. When there are more rows, the note says so.
    """
    if not rows:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, name in enumerate(columns):
        left = number < words
        table.add_column(Text(name), justify="left" if left else "right", no_wrap=not left, overflow="fold")
    for row in rows[:most]:
        table.add_row(*(Text(value) for value in row))
    more = f"the first {most} of {len(rows):,}; --json has all" if len(rows) > most else ""
    console.print()
    console.print(Text(title, style="bold"))
    if note or more:
        console.print(Text("; ".join(part for part in (note, more) if part), style="dim"), soft_wrap=True)
    console.print(table)


def binary_size(value: int) -> str:
    """Of a power of two: `512 KiB`."""
    power = min((value.bit_length() - 1) // 10, len(_BINARY) - 1)
    return f"{value >> (10 * power)} {_BINARY[power]}"


_BINARY = ("B", "KiB", "MiB", "GiB", "TiB")
