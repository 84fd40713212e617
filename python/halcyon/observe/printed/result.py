"""A table of results, as it is declared."""

from typing import Any

from rich.console import Console

from halcyon.observe.result_columns import Printed, columns_of
from halcyon.printed.tables import DEFAULT_MOST, print_table


def print_result(console: Console, printed: Printed, value: Any) -> None:
    """Prints a table as it is declared: the columns of its rows that have heads. `value`: the table."""
    rows = printed.rows(value)
    if not rows:
        return
    columns = [one for one in columns_of(type(rows[0])) if one.column.head is not None]
    print_table(
        console,
        printed.title,
        [str(one.column.head) for one in columns],
        [[one.text(row) for one in columns] for row in rows],
        words=printed.words,
        most=DEFAULT_MOST if printed.most is None else printed.most,
        note=printed.note(value),
    )
