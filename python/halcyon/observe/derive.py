"""Fills columns of `calls` that follow from others: parent_level, parent_call, self_ns and step.

The engine does it: larger tables than memory go through files, and the result comes sorted by process and start.
"""

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.conform import all_columns
from halcyon.observe.schema import CALLS, Kind, Level

DERIVED = ("parent_level", "parent_call", "self_ns", "step")
TRANSFERS = (Kind.READ, Kind.WRITE, Kind.COPY)
ORDER = ("start_ns", "_thread", "number", "offset")
"""Of a process's calls. Offsets make calls without number, of which some begin at the same time, come out alike."""


@question
def derive(calls: ibis.Table) -> ibis.Table:
    """`calls` with its derived columns filled and its rows sorted by process, start, thread and number.

    Parents are looked up by process, thread and number. `self_ns` needs `number`; without it, it is known of POSIX
    calls alone, below which such sources show none. `step` counts calls that transferred something at a known offset.
    """
    calls = all_columns("calls", calls).drop(*DERIVED)
    # A call without thread is of the only one that its source knows.
    calls = calls.mutate(_thread=ibis.coalesce(_.thread, -1))
    calls = _with_step(_with_self(_with_parent(calls)))
    return calls.order_by(["process", *ORDER]).select(CALLS.names)


def _with_parent(calls: ibis.Table) -> ibis.Table:
    parents = calls.filter(_.number.notnull()).select(
        of_process="process", of_thread="_thread", of_number="number", parent_level="level", parent_call="call"
    )
    keys = [
        calls.process == parents.of_process,
        calls._thread == parents.of_thread,
        calls.parent == parents.of_number,
    ]
    return calls.left_join(parents, keys).drop("of_process", "of_thread", "of_number")


def _with_self(calls: ibis.Table) -> ibis.Table:
    inner = (
        calls.filter(_.parent.notnull())
        .group_by(of_process="process", of_thread="_thread", of_number="parent")
        .agg(inner_ns=(_.duration_ns + ibis.coalesce(_.wait_ns, 0)).sum())
    )
    keys = [calls.process == inner.of_process, calls._thread == inner.of_thread, calls.number == inner.of_number]
    joined = calls.left_join(inner, keys)
    known = joined.number.notnull() | (joined.level == Level.POSIX)
    own = joined.duration_ns - ibis.coalesce(joined.inner_ns, 0)
    return joined.mutate(self_ns=ibis.ifelse(known, own, ibis.null("int64"))).drop(
        "of_process", "of_thread", "of_number", "inner_ns"
    )


def _with_step(calls: ibis.Table) -> ibis.Table:
    transfer = _.kind.isin(TRANSFERS) & _.file.notnull() & _.offset.notnull() & (_.moved > 0)
    calls = calls.mutate(_transfer=ibis.coalesce(transfer, False))
    before = ibis.window(group_by=["process", "file", "level", "kind", "_transfer"], order_by=ORDER)
    step = calls.offset - (calls.offset + calls.moved).lag().over(before)
    return calls.mutate(step=ibis.ifelse(calls._transfer, step, ibis.null("int64")))
