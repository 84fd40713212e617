"""The demo's tables in a terminal. A number is never cut: a terminal that is too narrow breaks the lines itself."""

from rich import box
from rich.console import Console
from rich.table import Table

from halcyon.demo.table_rows import Rows


def print_rows(rows: Rows, console: Console) -> None:
    """As a table, as wide as its longest words need at least."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=rows.title, title_justify="left")
    widths = _longest_words(rows)
    for place, (head, longest) in enumerate(zip(rows.heads, widths, strict=True)):
        style = "green" if head in rows.stressed else ""
        justify = "right" if place > 0 and not _is_text(rows, place) else "left"
        table.add_column(head, justify=justify, style=style, min_width=longest)  # type: ignore[arg-type]
    for section in rows.sections:
        for row in section:
            table.add_row(*row, style="yellow" if row[0] in rows.doubtful else None)
        table.add_section()
    width = max(console.width, sum(widths) + 2 * len(widths))  # columns, and the space between them
    wide = Console(file=console.file, width=width, highlight=False, force_terminal=console.is_terminal)
    wide.print(table, crop=False)


def _is_text(rows: Rows, place: int) -> bool:
    return rows.heads[place] == "counts"


def _longest_words(rows: Rows) -> list[int]:
    lines = [rows.heads, *(row for section in rows.sections for row in section)]
    return [max(len(word) for line in lines for word in [*line[place].split(), ""]) for place in range(len(rows.heads))]
