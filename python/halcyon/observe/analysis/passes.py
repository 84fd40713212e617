"""The passes over the calls: what is grouped and summed where the data is, once; all else is asked of their results.

Each is an Ibis expression that runs alike on DuckDB and Spark. Keys keep level, kind and parent_level apart, so that
which calls count as transfers is decided afterwards (volumes.py), on few rows.
"""

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.schema import Kind, Level

MOVING = (Kind.READ, Kind.WRITE, Kind.COPY)
"""Kinds that transfer data by name; stdio's calls of other kinds (flush, close, seek) may move some, too."""


_WHERE = ("process", "file")
_WHO = ("level", "call", "kind", "parent_level", "parent_call")
_LEVELS = ("level", "kind", "parent_level")
_HOW_MUCH = ("offset", "bytes", "moved", "error")
_WHEN = ("start_ns", "duration_ns")
# Each pass begins with the columns that it needs: else Ibis takes all others through each of its steps.


def _volume(calls: ibis.Table | ibis.Deferred) -> ibis.Value:
    """Bytes moved; where the source does not tell (MPI-IO above all), the bytes that a successful call asked for.

    None of the kinds that move no data: their `bytes` are of a lock's range, of a new size, of a type.
    """
    asked = calls.kind.isin(MOVING) & calls.moved.isnull() & calls.error.isnull()
    return ibis.ifelse(asked, calls.bytes, calls.moved)


def _count(condition: ibis.Value) -> ibis.Value:
    return condition.cast("int64").sum().cast("int64").fill_null(0)


def _total(value: ibis.Value) -> ibis.Value:
    return value.sum().cast("int64").fill_null(0)


@question
def profile(calls: ibis.Table, files: ibis.Table) -> ibis.Table:
    """Sums per process, file, function, parent function, class of sizes and alignment.

    `size_class`: n for 2^n <= moved bytes < 2^(n+1), null for calls that moved none. `aligned`: on the file's blocks;
    null where that is not known. `consecutive`, `forward` and `backward` count `step` = 0, > 0, < 0. `empty` counts
    successful reads that returned nothing, `crossing` transfers that fit one stripe and touch two. `low` and `high`
    bound the bytes touched. `self_ns`: null where no source tells.
    """
    rows = calls.select(*_WHERE, *_WHO, *_HOW_MUCH, *_WHEN, "wait_ns", "self_ns", "step")
    return _classed(rows, files).aggregate(
        by=[*_WHERE, *_WHO, "size_class", "aligned"],
        calls=_.count(),
        errors=_.error.count(),
        volume=_total(_volume(_)),
        duration_ns=_total(_.duration_ns),
        self_ns=_.self_ns.sum().cast("int64"),
        wait_ns=_total(_.wait_ns),
        longest_ns=_.duration_ns.max(),
        first_ns=_.start_ns.min(),
        last_ns=(_.start_ns + _.duration_ns).max(),
        consecutive=_count(_.step == 0),
        forward=_count(_.step > 0),
        backward=_count(_.step < 0),
        empty=_count((_.moved == 0) & (_.bytes > 0) & _.error.isnull()),
        crossing=_count((_.some <= _.stripe) & (_.low % _.stripe + _.some > _.stripe)),
        low=_.low.min(),
        high=(_.low + _.some).max(),
    )


@question
def rare_steps(calls: ibis.Table, of: ibis.Table) -> ibis.Table:
    """Per process, file and direction of `of`: `share`, how many of its steps have a length that hardly repeats.

    Such a length is there twice at most, or makes less than a hundredth of the steps.
    """
    rows = calls.select(*_WHERE, "level", "step", direction="kind").filter(_.level == Level.POSIX, _.step.notnull())
    keys = [*_WHERE, "direction"]
    each = rows.semi_join(of, keys).aggregate(by=[*keys, "step"], times=_.count())
    each = each.mutate(every=_.times.sum().over(ibis.window(group_by=keys)))
    rare = (_.times <= 2) | (100 * _.times < _.every)
    return each.aggregate(by=keys, share=ibis.ifelse(rare, _.times, 0).sum() / _.times.sum())


@question
def jumps(calls: ibis.Table, lows: ibis.Table) -> ibis.Table:
    """Per process, file, level, kind and parent's level: how the transfers jump that do not begin where the last ended.

    `lows`: `low_process`, `low_file`, `low_level`, `low_kind` and `lowest`, the first byte that these touched.
    `restarts`: jumps back to that byte. Of the other jumps, `stride` is the most frequent distance from the end of a
    transfer to the begin of the next, `most` how many have it; of equally frequent ones any.
    """
    rows = calls.select(*_WHERE, *_LEVELS, *_HOW_MUCH, "step").filter(_.step != 0)
    same = [
        rows.process == lows.low_process,
        rows.file == lows.low_file,
        rows.level == lows.low_level,
        rows.kind == lows.low_kind,
    ]
    rows = rows.left_join(lows, same)
    keys = [*_WHERE, *_LEVELS]
    # First per distance: an engine can do that through files, however many distances random access has.
    each = rows.aggregate(
        by=[*keys, "step"],
        calls=_.count(),
        volume=_total(_volume(_)),
        restarts=_count((_.step < 0) & (_.offset == _.lowest)),
    )
    each = each.mutate(others=_.calls - _.restarts)
    return each.aggregate(
        by=keys,
        volume=_total(_.volume),
        restarts=_total(_.restarts),
        most=_.others.max().cast("int64"),
        stride=_.step.argmax(_.others),
    )


def _classed(calls: ibis.Table, files: ibis.Table) -> ibis.Table:
    """`calls` with `some` (bytes moved, null for none), `size_class`, `low` and `aligned` as profile() says."""
    units = files.select(unit_file="file", block="block_bytes", stripe="stripe_bytes")
    rows = calls.left_join(units, calls.file == units.unit_file)
    rows = rows.mutate(some=ibis.ifelse(_.moved > 0, _.moved, ibis.null("int64")))
    rows = rows.mutate(
        size_class=_.some.log2().floor().cast("int32"),
        low=ibis.ifelse(_.some.notnull(), _.offset, ibis.null("int64")),
    )
    return rows.mutate(aligned=_.low % _.block.nullif(0) == 0)


@question
def durations(calls: ibis.Table, files: ibis.Table) -> ibis.Table:
    """How many calls took how long, in classes of durations as endings() has them: medians follow from it.

    `size_class` and `aligned` as profile() says.
    """
    rows = calls.select(*_WHERE, *_WHO, *_HOW_MUCH, *_WHEN)
    rows = _with_duration_class(_timed(_classed(rows, files)))
    return rows.aggregate(
        by=[*_WHERE, *_WHO, "size_class", "aligned", "duration_class"],
        calls=_.count(),
        volume=_total(_volume(rows)),
        duration_ns=_total(_.duration_ns),
    )


def _timed(calls: ibis.Table) -> ibis.Table:
    return calls.filter(calls.start_ns.notnull() & calls.duration_ns.notnull())


@question
def moments(calls: ibis.Table, width_ns: ibis.Value) -> ibis.Table:
    """Sums per level, kind, parent's level and step of time in which calls began; `width_ns` 1 keeps all apart."""
    return _moments(_timed(calls.select(*_OF_MOMENTS)), [], width_ns)


@question
def file_moments(calls: ibis.Table, width_ns: ibis.Value) -> ibis.Table:
    """The same per file (null: none), of all calls."""
    return _moments(_timed(calls.select(*_OF_MOMENTS)), ["file"], width_ns)


@question
def transfer_moments(calls: ibis.Table, width_ns: ibis.Value) -> ibis.Table:
    """The same per file, of the calls that moved data and of all of MPI-IO (which may not tell what it moved)."""
    rows = _timed(calls.select(*_OF_MOMENTS))
    rows = rows.filter(_.file.notnull() & ((ibis.coalesce(_.moved, _.bytes) > 0) | (_.level == Level.MPIIO)))
    return _moments(rows, ["file"], width_ns)


_OF_MOMENTS = ("file", *_LEVELS, *_HOW_MUCH, *_WHEN)


def _moments(rows: ibis.Table, keys: list[str], width_ns: ibis.Value) -> ibis.Table:
    """`late_ns`: how far into the step calls began, in sum."""
    return rows.aggregate(
        by=[*keys, *_LEVELS, (_.start_ns // width_ns).name("bin")],
        calls=_.count(),
        volume=_total(_volume(rows)),
        duration_ns=_total(_.duration_ns),
        begin_ns=_.start_ns.min(),
        end_ns=(_.start_ns + _.duration_ns).max(),
        late_ns=_total(_.start_ns % width_ns),
    )


DURATION_STEPS = 4
"""Per doubling: classes of durations are 19 % wide."""


@question
def endings(calls: ibis.Table, width_ns: ibis.Value) -> ibis.Table:
    """How many calls of each function and class of durations ended in each step of time; `late_ns` as for moments.

    Class n is from 2^(n/4) ns to 2^((n+1)/4) ns; 0 ns counts as 1.
    """
    rows = _timed(calls.select("level", "call", "kind", *_WHEN)).mutate(end=_.start_ns + _.duration_ns)
    rows = _with_duration_class(rows)
    return rows.aggregate(
        by=["level", "call", "kind", "duration_class", (_.end // width_ns).name("bin")],
        calls=_.count(),
        late_ns=_total(_.end % width_ns),
    )


def _with_duration_class(calls: ibis.Table) -> ibis.Table:
    rows = calls.mutate(length=ibis.ifelse(calls.duration_ns > 1, calls.duration_ns, 1))
    return rows.mutate(duration_class=(_.length.log2() * DURATION_STEPS).floor().cast("int32"))


@question
def phase_shares(calls: ibis.Table, lookup: ibis.Table, width_ns: ibis.Value) -> ibis.Table:
    """Sums per phase, process, level, kind, parent's level. `lookup`: phase of each step (bin) of `width_ns`."""
    rows = _timed(calls.select("process", *_LEVELS, *_HOW_MUCH, *_WHEN))
    rows = rows.mutate(bin=rows.start_ns // width_ns).inner_join(lookup, "bin")
    return rows.aggregate(
        by=["phase", "process", *_LEVELS],
        calls=_.count(),
        volume=_total(_volume(rows)),
        duration_ns=_total(_.duration_ns),
        begin_ns=_.start_ns.min(),
        end_ns=(_.start_ns + _.duration_ns).max(),
    )


@question
def collectives(calls: ibis.Table, every: ibis.Table, clocks: ibis.Table) -> ibis.Table:
    """One row per collective call: the `turn`-th of a function on a file by each of its processes.

    `calls`: those to look at, of `every` call of MPI-IO on their files. `clocks`: `clock_process` and `clock_error_ns`.
    `arrived_ns` is when the last process began, `last` that process, `left_ns` when the last one ended, `begin_ns` when
    the first began. `waited_ns`: what the others waited for the last one, in sum: from their own begin to its begin,
    less the time that it was in calls of MPI-IO on the same file meanwhile (an aggregator that still writes what the
    others have handed over is not late) and the clocks' error, at most their own time (without calls below); none of
    those that were through before it began, which cannot have waited for it. `exchange_ns`: from the last one's begin
    to each one's end, in sum, but at most to the end of all less `parts_ns`, the longest time that any process spent in
    calls below. `own_ns`: the processes' own times.
    """
    rows = _outside_of_last(_turns(calls), every)
    rows = rows.inner_join(clocks, rows.process == clocks.clock_process)
    whole = ibis.window(group_by=["file", "call", "turn"])
    rows = rows.mutate(left_ns=_.end_ns.max().over(whole), parts_ns=(_.duration_ns - _.self_ns).max().over(whole))
    late = _.outside_ns.max().over(whole) - _.outside_ns - _.clock_error_ns
    together_ns = ibis.least(_.end_ns - _.arrived_ns, _.left_ns - _.arrived_ns - _.parts_ns)
    rows = rows.mutate(late_ns=late, together_ns=ibis.greatest(together_ns, 0))
    waits = (_.end_ns >= _.arrived_ns) & (_.late_ns > 0)
    rows = rows.mutate(waited=ibis.ifelse(waits, ibis.least(_.late_ns, _.self_ns), 0))
    return rows.aggregate(
        by=["file", "call", "turn", "arrived_ns"],
        processes=_.count(),
        begin_ns=_.start_ns.min(),
        left_ns=_.left_ns.max(),
        last=_.last.max(),
        duration_ns=_total(_.duration_ns),
        own_ns=_total(_.self_ns),
        parts_ns=_.parts_ns.max().cast("int64"),
        waited_ns=_total(_.waited),
        exchange_ns=_total(_.together_ns),
        volume=_total(_volume(_)),
    )


def _turns(calls: ibis.Table) -> ibis.Table:
    """The timed calls with `end_ns`, `turn`, `arrived_ns` and `last` (of those that began last, the lowest number)."""
    rows = _timed(calls).filter(_.self_ns.notnull()).mutate(end_ns=_.start_ns + _.duration_ns)
    same = ibis.window(group_by=["process", "file", "call"], order_by=["start_ns", "duration_ns"])
    rows = rows.mutate(turn=ibis.row_number().over(same).cast("int64"))
    together = ibis.window(group_by=["file", "call", "turn"])
    rows = rows.mutate(arrived_ns=_.start_ns.max().over(together))
    latest = ibis.ifelse(_.start_ns == _.arrived_ns, _.process, ibis.null("int32"))
    return rows.mutate(last=latest.min().over(together))


def _outside_of_last(turns: ibis.Table, every: ibis.Table) -> ibis.Table:
    """`turns` with `outside_ns`: how long their `last` process had been in no MPI-IO on their file when they began.

    Counted from an arbitrary moment of that process and file: only differences tell. The moments are put among the
    process' calls on the file as calls that take no time.
    """
    order = ["start_ns", "duration_ns", "process", "call", "turn"]
    numbered = ibis.row_number().over(ibis.window(group_by=["last", "file"], order_by=order))
    turns = turns.mutate(moment=numbered.cast("int64"))
    moments = turns.select("last", "file", "start_ns", end_ns=_.start_ns, moment=_.moment)
    outer = _timed(every).filter((_.parent_level != Level.MPIIO).fill_null(True))
    outer = outer.semi_join(turns.select("last", "file").distinct(), [("process", "last"), "file"])
    own = outer.select("file", "start_ns", last=_.process, end_ns=_.start_ns + _.duration_ns, moment=ibis.literal(-1))
    rows = ibis.union(moments, own.select(*moments.columns).cast(moments.schema()))
    order = ["start_ns", "end_ns", "moment"]
    before = ibis.rows_window(preceding=(None, 1), following=None, group_by=["last", "file"], order_by=order)
    rows = rows.mutate(busy_until_ns=_.end_ns.max().over(before))
    rows = rows.mutate(idle_ns=ibis.greatest(_.start_ns - ibis.coalesce(_.busy_until_ns, _.start_ns), 0))
    so_far = ibis.cumulative_window(group_by=["last", "file"], order_by=order)
    rows = rows.mutate(outside_ns=_.idle_ns.sum().over(so_far).cast("int64")).filter(_.moment >= 0)
    return turns.inner_join(rows.select("last", "file", "moment", "outside_ns"), ["last", "file", "moment"])


@question
def stripes(calls: ibis.Table, layouts: ibis.Table, width_ns: ibis.Value) -> ibis.Table:
    """Sums per file, kind, step of time, place among the servers of the first stripe touched, and stripes touched.

    `layouts`: file, stripe, width (number of servers). `front` bytes lie in the first stripe touched, `back` in the
    last where that is another one; all between are whole. Transfers without an offset are left out, but for files that
    lie on one server.
    """
    rows = _timed(calls.select("file", *_LEVELS, *_HOW_MUCH, *_WHEN)).filter(
        ((_.level == Level.POSIX) & _.kind.isin(MOVING) | (_.level == Level.STDIO)) & (_.moved > 0)
    )
    rows = rows.inner_join(layouts, rows.file == layouts.layout_file)
    rows = rows.filter(_.offset.notnull() | (_.width == 1)).mutate(offset=_.offset.fill_null(0))
    rows = rows.mutate(within=_.offset % _.stripe).mutate(touched=(_.within + _.moved - 1) // _.stripe + 1)
    rows = rows.mutate(
        bin=_.start_ns // width_ns,
        first=(_.offset // _.stripe) % _.width,
        front=ibis.ifelse(_.touched == 1, _.moved, _.stripe - _.within),
        back=ibis.ifelse(_.touched == 1, 0, (_.within + _.moved - 1) % _.stripe + 1),
    )
    return rows.aggregate(
        by=["file", *_LEVELS, "first", "touched", "bin"],
        calls=_.count(),
        volume=_total(_.moved),
        front=_total(_.front),
        back=_total(_.back),
        duration_ns=_total(_.duration_ns),
    )
