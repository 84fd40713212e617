"""Where reads and writes without an offset took place, from what the file's position was before."""

import ibis
from ibis import _

from halcyon.observe.schema import Kind, Level

APPENDS = 0o2000  # O_APPEND
BY_POSITION = (Kind.READ, Kind.WRITE)


def with_positions(calls: ibis.Table) -> ibis.Table:
    """`calls`, in which reads and writes of level posix without an offset have the one that follows from those before.

    An open sets the position to 0 (unknown when it appends), a seek to what it returned, and each read or write without
    an offset of its own moves it on by what it transferred, or asked for where that is not known. Positions are
    followed for each file of a process: sources do not tell descriptors of the same file apart.
    """
    opens = (_.kind == Kind.OPEN) & _.level.isin((Level.POSIX, Level.STDIO))
    seeks = _.kind == Kind.SEEK
    moves = (_.level == Level.POSIX) & _.kind.isin(BY_POSITION) & _.offset.isnull()
    rows = calls.mutate(
        _sets=_.file.notnull() & (opens | seeks),
        _at=ibis.cases(
            (opens & ((ibis.coalesce(_.argument, 0) & APPENDS) == 0), ibis.literal(0, "int64")),
            (seeks & (_.level == Level.POSIX), _.result),
            else_=ibis.null("int64"),
        ),
        _moves=ibis.ifelse(
            _.file.notnull() & moves, ibis.greatest(ibis.coalesce(_.moved, _.bytes, 0), 0), ibis.null("int64")
        ),
    )
    order = ["end_ns", "number"]
    so_far = ibis.cumulative_window(group_by=["process", "file"], order_by=order)
    rows = rows.mutate(_turn=_._sets.cast("int64").sum().over(so_far))
    turn = ["process", "file", "_turn"]
    in_turn = ibis.cumulative_window(group_by=turn, order_by=order)
    rows = rows.mutate(
        _base=_._at.max().over(ibis.window(group_by=turn)),
        _gone=ibis.coalesce(_._moves.sum().over(in_turn), 0).cast("int64") - ibis.coalesce(_._moves, 0),
    )
    followed = rows._moves.notnull() & (rows._turn > 0)
    offset = ibis.ifelse(followed, rows._base + rows._gone, rows.offset)
    return rows.mutate(offset=offset).drop("_sets", "_at", "_moves", "_turn", "_base", "_gone")
