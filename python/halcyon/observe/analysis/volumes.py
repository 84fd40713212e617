"""Which calls count as transfers, and in which direction."""

import ibis
from ibis import _

from halcyon.observe.schema import Kind, Level

READ, WRITE = "read", "write"


def with_direction(rows: ibis.Table) -> ibis.Table:
    """Adds two columns to rows with level, kind, parent_level and a `volume` in bytes.

    `direction`: read, write or null, by the kind; a copy writes to its file; other calls of stdio that move bytes write
    (a flush, a close, a seek over a full buffer). `transfer`: it belongs to the traffic between the processes and their
    files: POSIX calls and what stdio's calls moved between their buffer and the file, but none that another
    call of these two levels made, which would be counted twice.
    """
    below = _.parent_level.isin([Level.POSIX, Level.STDIO]).fill_null(False)
    stdio_moves = (_.level == Level.STDIO) & (_.volume > 0).fill_null(False)
    direction = ibis.cases(
        (_.kind == Kind.READ, READ),
        (_.kind.isin([Kind.WRITE, Kind.COPY]), WRITE),
        (stdio_moves, WRITE),
        else_=ibis.null("string"),
    )
    return rows.mutate(direction=direction).mutate(
        transfer=_.direction.notnull() & ((_.level == Level.POSIX) | stdio_moves) & ~below
    )
