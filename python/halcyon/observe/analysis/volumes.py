"""Which calls count as transfers, and in which direction."""

import ibis
from ibis import _

from halcyon.observe.schema import Kind, Level

READ, WRITE = "read", "write"


def with_direction(rows: ibis.Table, *, stdio_told: bool) -> ibis.Table:
    """Adds two columns to rows with level, kind, parent_level and a `volume` in bytes.

    `stdio_told`: what stdio moved between its buffers and the files are calls of their own, below stdio's; see
    tells_stdio. Bytes of stdio's own calls are then those that the application asked for, and cross no file's border.

    `direction`: read, write or null, by the kind; a copy writes to its file; other calls of stdio that move bytes write
    (a flush, a close, a seek over a full buffer). `transfer`: it belongs to the traffic between the processes and their
    files: POSIX calls and what stdio's calls moved between their buffer and the file, but none that another
    call of these two levels made, which would be counted twice.
    """
    counted = [Level.POSIX] if stdio_told else [Level.POSIX, Level.STDIO]
    below = _.parent_level.isin(counted).fill_null(False)
    stdio_moves = (_.level == Level.STDIO) & (_.volume > 0).fill_null(False)
    direction = ibis.cases(
        (_.kind == Kind.READ, READ),
        (_.kind.isin([Kind.WRITE, Kind.COPY]), WRITE),
        (stdio_moves, WRITE),
        else_=ibis.null("string"),
    )
    return rows.mutate(direction=direction).mutate(
        transfer=_.direction.notnull() & ((_.level == Level.POSIX) | (stdio_moves & (not stdio_told))) & ~below
    )


def without_log(rows: ibis.Table) -> ibis.Table:
    """Without the calls by which logs answer those of the levels above, whose bytes they move once more."""
    return rows.filter(_.level != Level.LOG)


def tells_stdio(rows: ibis.Table) -> ibis.Table:
    """The rows by which a source shows stdio's transfers as calls that stdio's calls made. Halcyon's recordings do."""
    return rows.filter(
        (_.level == Level.POSIX) & (_.parent_level == Level.STDIO) & _.kind.isin([Kind.READ, Kind.WRITE])
    )
