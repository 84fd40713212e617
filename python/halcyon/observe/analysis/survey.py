"""The passes over one data set's calls, each made once, when a table first asks for its result."""

from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import Any

import ibis
import pyarrow as pa
from ibis import _

from halcyon.database import Asked, Database, Given, Rows, question
from halcyon.observe.analysis import passes
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.analysis.volumes import tells_stdio, with_direction, without_log
from halcyon.observe.dataset import Dataset
from halcyon.observe.schema import Level

SETUP = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")
"""Functions that begin and end MPI."""


def without_setup(calls: ibis.Table) -> ibis.Table:
    """Rows with columns call and parent_call, without MPI's start and end and what these make."""
    return calls.filter(~_.call.isin(SETUP) & ~_.parent_call.isin(SETUP).fill_null(False))


def _with_setup_named(calls: ibis.Table, buffered: pa.Table) -> ibis.Table:
    """`calls`, in which what stdio moved for MPI's start and end has these as its `parent_call`, like stdio's call.

    `buffered`: process, thread, number and parent_call of stdio's calls there.
    """
    names = ["of_process", "of_thread", "of_number", "setup"]
    made = ibis.memtable(buffered.rename_columns(names)).mutate(of_thread=_.of_thread.fill_null(-1))
    rows = calls.mutate(own_thread=_.thread.fill_null(-1))
    same = [rows.process == made.of_process, rows.own_thread == made.of_thread, rows.parent == made.of_number]
    named = rows.left_join(made, same).mutate(parent_call=ibis.coalesce(_.setup, _.parent_call))
    return named.select(*calls.columns)


class Survey:
    """What all analyses of one data set share: `dataset`, `settings`, and the results of the passes as Ibis tables.

    A pass runs on the data set's engine (DuckDB or Spark). Its result is small and is kept in a DuckDB database in
    memory, where all further questions are asked, whatever the engine. Not for several threads at once.
    """

    def __init__(self, dataset: Dataset, settings: Settings | None = None) -> None:
        self.dataset = dataset
        self.settings = settings or Settings()
        self._local: Any = Database().connect()
        self._names: Counter[str] = Counter()
        self._made: dict[object, ibis.Table] = {}

    def keep(self, name: str, rows: Rows | pa.Table) -> ibis.Table:
        """Asks a question (or takes rows that are there already) and keeps the answer.

        `name`: the same for all data sets, so that the questions that follow are compiled once (Database).
        """
        found = rows if isinstance(rows, pa.Table) else rows.to_pyarrow()
        self._names[name] += 1
        table = f"{name}_{self._names[name]}"
        # Not create_table: the statement with which it drops its view afterwards is refused by DuckDB 2.
        self._local.con.register("incoming", found)
        self._local.con.execute(f"CREATE TABLE {table} AS SELECT * FROM incoming")
        self._local.con.unregister("incoming")
        return self._local.table(table)

    def once(self, make: "Callable[[Survey], Rows]") -> ibis.Table:
        """The result of `make`, a function of a module: it is run for the first who asks, and kept for the others."""
        if make not in self._made:
            self._made[make] = self.keep(make.__name__.strip("_"), make(self))
        return self._made[make]

    @cached_property
    def rows(self) -> ibis.Table:
        """The calls, without MPI's start and end and what these make: they are no I/O of the application.

        Nor with those of level log, by which logs answer other calls: what they take and move is counted there.
        """
        return without_log(self.rows_with_log) if self.has_log else self.rows_with_log

    @cached_property
    def rows_with_log(self) -> ibis.Table:
        """`rows`, and the calls of level log: for what is told level by level."""
        # A source without such calls need not pay for looking at each name.
        return without_setup(self.all_calls) if self.setup_calls else self.all_calls

    @cached_property
    def has_log(self) -> bool:
        """Whether there are calls of level log: a program ran on logs (`halcyon run --log`)."""
        return any_row(_of_log(self._plain_profile))

    @cached_property
    def all_calls(self) -> ibis.Table:
        """With MPI's start and end, which what stdio moved for them has as its `parent_call`, too."""
        calls = self.dataset.calls
        buffered = _of_stdio_for_setup(calls).to_pyarrow()
        return _with_setup_named(calls, buffered) if len(buffered) else calls

    @cached_property
    def _plain_profile(self) -> ibis.Table:
        return self.keep("plain_profile", passes.profile(self.all_calls, self.dataset.files))

    @cached_property
    def _stdio_told(self) -> bool:
        return self._number(_of_stdio(self._plain_profile)) > 0

    def directed(self, rows: Rows) -> Asked:
        """`rows` of calls or of their sums with columns `direction` and `transfer`."""
        return _directed(rows, self._stdio_told)

    @cached_property
    def profile(self) -> ibis.Table:
        """passes.profile of `rows`, with the direction of transfers."""
        return without_log(self.profile_with_log) if self.has_log else self.profile_with_log

    @cached_property
    def profile_with_log(self) -> ibis.Table:
        """passes.profile of `rows_with_log`, with the direction of transfers. None of level log is a `transfer`."""
        # Kept once more: as a condition, it would be part of most of the questions that follow.
        return self.keep("profile", _without_setup(self.directed(self._plain_profile)))

    @cached_property
    def jumps(self) -> ibis.Table:
        """passes.jumps of `rows`, with the direction of transfers."""
        lows = _lowest_bytes(self.profile).to_pyarrow()
        return self.keep("jumps", self.directed(passes.jumps(self.rows, ibis.memtable(lows))))

    @cached_property
    def disordered(self) -> ibis.Table:
        """`process`, `file` and `direction` of those that go forward and back by distances that hardly repeat."""
        found = _back_and_forth(self.profile, self.settings.random_steps).to_pyarrow()
        if len(found):  # else it need not look at each call
            rare = passes.rare_steps(self.rows, ibis.memtable(found))
            found = _mostly_rare(rare, self.settings.random_share).to_pyarrow()
        return self.keep("disordered", found)

    @cached_property
    def durations(self) -> ibis.Table:
        """passes.durations of `rows`, with the direction of transfers."""
        return self.keep("durations", self.directed(passes.durations(self.rows, self.dataset.files)))

    @cached_property
    def setup_calls(self) -> int:
        """How many calls `rows` leaves out, but for those of level log."""
        return self._number(_calls(without_log(self._plain_profile))) - self.calls

    @cached_property
    def processes(self) -> ibis.Table:
        """Table `processes` of the data set, with `shown_rank`.

        That is the rank; without MPI the process's index; and below 0 for processes beside those of MPI (the launcher).
        """
        return self.keep("processes", _with_shown_rank(self.dataset.processes))

    @cached_property
    def files(self) -> ibis.Table:
        """Table `files` of the data set."""
        return self.keep("files", self.dataset.files)

    @cached_property
    def calls(self) -> int:
        """How many calls there are in `rows`."""
        return self._number(_calls(self.profile))

    @cached_property
    def end_ns(self) -> int:
        """When the last call ended, or the run's duration where that is known and longer."""
        last = self._number(_last_ns(self.profile))
        return max(last, self.dataset.info.duration_ns or 0, 1)

    @cached_property
    def ranks(self) -> int:
        """Size of MPI_COMM_WORLD; without MPI, the number of processes that did I/O."""
        return self.dataset.info.ranks or self._number(_different(self.profile, "process"))

    @cached_property
    def mpi(self) -> bool:
        """Whether there are ranks of MPI."""
        return bool(self.dataset.info.ranks) or self._number(_ranked(self.processes)) > 0

    @cached_property
    def io_ns(self) -> int:
        """Time that all processes spent in I/O calls, in sum: of the calls that the application itself made.

        Without SETUP, as `profile`: these calls take longer than a short run's I/O.
        """
        return self._number(_outer_ns(self.profile, self.related))

    @cached_property
    def levels(self) -> set[str]:
        """Of `rows` and of the calls that made them. Most runs have no MPI-IO, and need not be asked for it."""
        both = _levels(self.profile).to_pyarrow()
        return {level for column in both.columns for level in column.to_pylist() if level is not None}

    @cached_property
    def related(self) -> bool:
        """Whether the source tells which call made which (Darshan does not)."""
        if not self.levels & {Level.MPIIO, Level.HDF5}:
            return True
        return self._number(_unrelated(self.profile)) == 0

    @cached_property
    def outer(self) -> ibis.Deferred:
        """See outer."""
        return outer(self.related)

    @cached_property
    def resolution_ns(self) -> int:
        """To what times are merged: 1 is exactly."""
        return self._step(self.settings.time_bins)

    @cached_property
    def _fine_moments(self) -> ibis.Table | None:
        """passes.file_moments to `resolution_ns`, from which all else follows; None when that would be too large."""
        groups = self._number(_groups_of_moments(self.profile, Given(self.resolution_ns)))
        if groups > self.settings.moment_groups:
            return None
        return self.keep("fine_moments", self.directed(passes.file_moments(self.rows, Given(self.resolution_ns))))

    @cached_property
    def moments(self) -> ibis.Table:
        """passes.moments in steps of `resolution_ns`."""
        fine = self._fine_moments
        if fine is None:
            return self.keep("moments", self.directed(passes.moments(self.rows, Given(self.resolution_ns))))
        return self.keep("moments", _of_all_files(fine))

    @cached_property
    def moments_with_log(self) -> ibis.Table:
        """`moments` of `rows_with_log`."""
        if not self.has_log:
            return self.moments
        return self.keep(
            "moments_with_log", self.directed(passes.moments(self.rows_with_log, Given(self.resolution_ns)))
        )

    @cached_property
    def file_resolution_ns(self) -> int:
        """To what times are merged per file."""
        if self._fine_moments is not None:
            return self.resolution_ns
        files = self._number(_different(self.profile, "file"))
        return self._step(max(self.settings.moment_groups // max(2 * files, 1), 64))

    @cached_property
    def file_moments(self) -> ibis.Table:
        """passes.file_moments of transfers, in steps of `file_resolution_ns`."""
        fine = self._fine_moments
        if fine is not None:
            return self.keep("file_moments", _of_files(fine))
        return self.keep(
            "file_moments", self.directed(passes.transfer_moments(self.rows, Given(self.file_resolution_ns)))
        )

    @cached_property
    def ending_step_ns(self) -> int:
        """Of `endings`: a whole number of steps of `resolution_ns`."""
        wanted = max(-(-self.end_ns // self.settings.concurrency_bins), 1)
        return -(-wanted // self.resolution_ns) * self.resolution_ns

    @cached_property
    def endings(self) -> ibis.Table:
        """passes.endings of `rows_with_log` in steps of `ending_step_ns`."""
        return self.keep("endings", passes.endings(self.rows_with_log, Given(self.ending_step_ns)))

    @cached_property
    def activity_step_ns(self) -> int:
        """Of pictures of load over time."""
        return max(-(-self.end_ns // self.settings.activity_bins), 1)

    def _step(self, bins: int) -> int:
        return 1 if self.calls <= self.settings.exact_calls else max(-(-self.end_ns // bins), 1)

    def _number(self, asked: Asked) -> int:
        """The only one of an answer; 0 for null."""
        found = asked.to_pyarrow()[0][0].as_py()
        return int(found) if found is not None else 0


def any_row(rows: Rows) -> bool:
    """Whether there is one at all."""
    return len(_first(rows).to_pyarrow()) > 0


@question
def _first(rows: ibis.Table) -> ibis.Table:
    return rows.limit(1)


def outer(related: bool) -> ibis.Deferred:
    """Condition: a call that the application itself made. Where no source tells, the calls of upper levels."""
    return _.parent_level.isnull() if related else _.level.isin([Level.MPIIO, Level.HDF5])


_without_setup = question(without_setup)


@question
def _directed(rows: ibis.Table, stdio_told: bool) -> ibis.Table:
    return with_direction(rows, stdio_told=stdio_told)


@question
def _of_stdio_for_setup(calls: ibis.Table) -> ibis.Table:
    inner = calls.filter((_.level == Level.STDIO) & _.parent_call.isin(SETUP))
    return inner.select("process", "thread", "number", "parent_call")


@question
def _of_stdio(profile: ibis.Table) -> ibis.Table:
    return tells_stdio(profile).aggregate(number=_.count())


@question
def _of_log(profile: ibis.Table) -> ibis.Table:
    return profile.filter(_.level == Level.LOG)


@question
def _calls(profile: ibis.Table) -> ibis.Table:
    return profile.aggregate(number=_.calls.sum())


@question
def _last_ns(profile: ibis.Table) -> ibis.Table:
    return profile.aggregate(number=_.last_ns.max())


@question
def _different(profile: ibis.Table, column: str) -> ibis.Table:
    return profile.aggregate(number=_[column].nunique())


@question
def _ranked(processes: ibis.Table) -> ibis.Table:
    return processes.aggregate(number=_.rank.count())


@question
def _with_shown_rank(processes: ibis.Table) -> ibis.Table:
    mpi = _.rank.max().over(ibis.window()).notnull()
    return processes.mutate(shown_rank=ibis.coalesce(_.rank, ibis.ifelse(mpi, -1 - _.process, _.process)))


@question
def _outer_ns(profile: ibis.Table, related: bool) -> ibis.Table:
    return profile.filter(outer(related)).aggregate(number=_.duration_ns.sum())


@question
def _levels(profile: ibis.Table) -> ibis.Table:
    return profile.select("level", "parent_level").distinct()


@question
def _unrelated(profile: ibis.Table) -> ibis.Table:
    upper = profile.filter(_.level.isin([Level.MPIIO, Level.HDF5]) & _.self_ns.isnull())
    return upper.aggregate(number=_.count())


@question
def _lowest_bytes(profile: ibis.Table) -> ibis.Table:
    of = {"low_process": "process", "low_file": "file", "low_level": "level", "low_kind": "kind"}
    touched = profile.filter(_.low.notnull())
    return touched.aggregate(by=list(of.values()), lowest=_.low.min()).rename(of)


@question
def _back_and_forth(profile: ibis.Table, least: float) -> ibis.Table:
    sums = profile.filter(_.transfer & _.file.notnull()).aggregate(
        by=["process", "file", "direction"],
        **{name: _[name].sum().cast("int64") for name in ("consecutive", "forward", "backward")},
    )
    steps = _.consecutive + _.forward + _.backward
    both = sums.filter((_.backward > 0) & (_.backward >= least * steps) & (_.forward >= least * steps))
    return both.select("process", "file", "direction")


@question
def _mostly_rare(rare: ibis.Table, least: float) -> ibis.Table:
    return rare.filter(_.share >= least).drop("share")


@question
def _groups_of_moments(profile: ibis.Table, resolution_ns: ibis.Value) -> ibis.Table:
    each = profile.aggregate(
        by=["file", "level", "kind", "parent_level"],
        calls=_.calls.sum(),
        steps=((_.last_ns.max() - _.first_ns.min()) // resolution_ns) + 1,
    )
    return each.aggregate(number=ibis.least(_.calls, _.steps).sum())


@question
def _of_all_files(moments: ibis.Table) -> ibis.Table:
    sums = {name: _[name].sum().cast("int64") for name in ("calls", "volume", "duration_ns", "late_ns")}
    keys = ["level", "kind", "parent_level", "direction", "transfer", "bin"]
    return moments.aggregate(by=keys, **sums, begin_ns=_.begin_ns.min(), end_ns=_.end_ns.max())


@question
def _of_files(moments: ibis.Table) -> ibis.Table:
    return moments.filter(_.file.notnull())
