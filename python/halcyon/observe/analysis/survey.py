"""The passes over one data set's calls, each made once, when a table first asks for its result."""

from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import Any

import ibis
import pyarrow as pa
from ibis import _

from halcyon.database import Database
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

    def keep(self, name: str, rows: ibis.Table | pa.Table) -> ibis.Table:
        """Runs an expression on the data set's engine (or takes rows that are there already) and keeps its result.

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

    def once(self, make: "Callable[[Survey], ibis.Table]") -> ibis.Table:
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
        return self._number(self._plain_profile.filter(_.level == Level.LOG).count()) > 0

    @cached_property
    def all_calls(self) -> ibis.Table:
        """With MPI's start and end, which what stdio moved for them has as its `parent_call`, too."""
        calls = self.dataset.calls
        inner = calls.filter((_.level == Level.STDIO) & _.parent_call.isin(SETUP))
        buffered = inner.select("process", "thread", "number", "parent_call").to_pyarrow()
        return _with_setup_named(calls, buffered) if len(buffered) else calls

    @cached_property
    def _plain_profile(self) -> ibis.Table:
        return self.keep("plain_profile", passes.profile(self.all_calls, self.dataset.files))

    @cached_property
    def _stdio_told(self) -> bool:
        return self._number(tells_stdio(self._plain_profile).count()) > 0

    def directed(self, rows: ibis.Table) -> ibis.Table:
        """`rows` of calls or of their sums with columns `direction` and `transfer`."""
        return with_direction(rows, stdio_told=self._stdio_told)

    @cached_property
    def profile(self) -> ibis.Table:
        """passes.profile of `rows`, with the direction of transfers."""
        return without_log(self.profile_with_log) if self.has_log else self.profile_with_log

    @cached_property
    def profile_with_log(self) -> ibis.Table:
        """passes.profile of `rows_with_log`, with the direction of transfers. None of level log is a `transfer`."""
        # Kept once more: as a condition, it would be part of most of the questions that follow.
        return self.keep("profile", without_setup(self.directed(self._plain_profile)))

    @cached_property
    def jumps(self) -> ibis.Table:
        """passes.jumps of `rows`, with the direction of transfers."""
        of = {"low_process": "process", "low_file": "file", "low_level": "level", "low_kind": "kind"}
        touched = self.profile.filter(_.low.notnull())
        lows = touched.aggregate(by=list(of.values()), lowest=_.low.min()).rename(of).to_pyarrow()
        return self.keep("jumps", self.directed(passes.jumps(self.rows, ibis.memtable(lows))))

    @cached_property
    def disordered(self) -> ibis.Table:
        """`process`, `file` and `direction` of those that go forward and back by distances that hardly repeat."""
        least = self.settings.random_steps
        sums = self.profile.filter(_.transfer & _.file.notnull()).aggregate(
            by=["process", "file", "direction"],
            **{name: _[name].sum().cast("int64") for name in ("consecutive", "forward", "backward")},
        )
        steps = _.consecutive + _.forward + _.backward
        both = sums.filter((_.backward > 0) & (_.backward >= least * steps) & (_.forward >= least * steps))
        found = both.select("process", "file", "direction").to_pyarrow()
        if not len(found):  # need not look at each call
            return self.keep("disordered", found)
        rare = self.keep("rare_steps", passes.rare_steps(self.rows, ibis.memtable(found)))
        return rare.filter(_.share >= self.settings.random_share).drop("share")

    @cached_property
    def durations(self) -> ibis.Table:
        """passes.durations of `rows`, with the direction of transfers."""
        return self.keep("durations", self.directed(passes.durations(self.rows, self.dataset.files)))

    @cached_property
    def setup_calls(self) -> int:
        """How many calls `rows` leaves out, but for those of level log."""
        return self._number(without_log(self._plain_profile).calls.sum()) - self.calls

    @cached_property
    def processes(self) -> ibis.Table:
        """Table `processes` of the data set, with `shown_rank`.

        That is the rank; without MPI the process's index; and below 0 for processes beside those of MPI (the launcher).
        """
        own = self.keep("processes", self.dataset.processes)
        beside = -1 - _.process if self._number(own.rank.count()) else _.process
        return own.mutate(shown_rank=ibis.coalesce(_.rank, beside))

    @cached_property
    def files(self) -> ibis.Table:
        """Table `files` of the data set."""
        return self.keep("files", self.dataset.files)

    @cached_property
    def calls(self) -> int:
        """How many calls there are in `rows`."""
        return self._number(self.profile.calls.sum())

    @cached_property
    def end_ns(self) -> int:
        """When the last call ended, or the run's duration where that is known and longer."""
        last = self._number(self.profile.last_ns.max())
        return max(last, self.dataset.info.duration_ns or 0, 1)

    @cached_property
    def ranks(self) -> int:
        """Size of MPI_COMM_WORLD; without MPI, the number of processes that did I/O."""
        return self.dataset.info.ranks or self._number(self.profile.process.nunique())

    @cached_property
    def mpi(self) -> bool:
        """Whether there are ranks of MPI."""
        return bool(self.dataset.info.ranks) or self._number(self.processes.rank.count()) > 0

    @cached_property
    def io_ns(self) -> int:
        """Time that all processes spent in I/O calls, in sum: of the calls that the application itself made.

        Without SETUP, as `profile`: these calls take longer than a short run's I/O.
        """
        return self._number(self.profile.filter(self.outer).duration_ns.sum())

    @cached_property
    def levels(self) -> set[str]:
        """Of `rows` and of the calls that made them. Most runs have no MPI-IO, and need not be asked for it."""
        both = self.profile.select("level", "parent_level").distinct().to_pyarrow()
        return {level for column in both.columns for level in column.to_pylist() if level is not None}

    @cached_property
    def related(self) -> bool:
        """Whether the source tells which call made which (Darshan does not)."""
        if not self.levels & {Level.MPIIO, Level.HDF5}:
            return True
        upper = self.profile.filter(_.level.isin([Level.MPIIO, Level.HDF5]) & _.self_ns.isnull())
        return self._number(upper.count()) == 0

    @cached_property
    def outer(self) -> ibis.Deferred:
        """Condition: a call that the application itself made. Where no source tells, the calls of upper levels."""
        if self.related:
            return _.parent_level.isnull()
        return _.level.isin([Level.MPIIO, Level.HDF5])

    @cached_property
    def resolution_ns(self) -> int:
        """To what times are merged: 1 is exactly."""
        return self._step(self.settings.time_bins)

    @cached_property
    def _fine_moments(self) -> ibis.Table | None:
        """passes.file_moments to `resolution_ns`, from which all else follows; None when that would be too large."""
        each = self.profile.aggregate(
            by=["file", "level", "kind", "parent_level"],
            calls=_.calls.sum(),
            steps=((_.last_ns.max() - _.first_ns.min()) // self.resolution_ns) + 1,
        )
        groups = self._number(ibis.least(each.calls, each.steps).sum())
        if groups > self.settings.moment_groups:
            return None
        return self.keep("fine_moments", self.directed(passes.file_moments(self.rows, self.resolution_ns)))

    @cached_property
    def moments(self) -> ibis.Table:
        """passes.moments in steps of `resolution_ns`."""
        fine = self._fine_moments
        if fine is None:
            return self.keep("moments", self.directed(passes.moments(self.rows, self.resolution_ns)))
        sums = {name: _[name].sum().cast("int64") for name in ("calls", "volume", "duration_ns", "late_ns")}
        keys = ["level", "kind", "parent_level", "direction", "transfer", "bin"]
        rows = fine.aggregate(by=keys, **sums, begin_ns=_.begin_ns.min(), end_ns=_.end_ns.max())
        return self.keep("moments", rows)

    @cached_property
    def moments_with_log(self) -> ibis.Table:
        """`moments` of `rows_with_log`."""
        if not self.has_log:
            return self.moments
        return self.keep("moments_with_log", self.directed(passes.moments(self.rows_with_log, self.resolution_ns)))

    @cached_property
    def file_resolution_ns(self) -> int:
        """To what times are merged per file."""
        if self._fine_moments is not None:
            return self.resolution_ns
        files = self._number(self.profile.file.nunique())
        return self._step(max(self.settings.moment_groups // max(2 * files, 1), 64))

    @cached_property
    def file_moments(self) -> ibis.Table:
        """passes.file_moments of transfers, in steps of `file_resolution_ns`."""
        fine = self._fine_moments
        if fine is not None:
            return fine.filter(_.file.notnull())
        return self.keep("file_moments", self.directed(passes.transfer_moments(self.rows, self.file_resolution_ns)))

    @cached_property
    def ending_step_ns(self) -> int:
        """Of `endings`: a whole number of steps of `resolution_ns`."""
        wanted = max(-(-self.end_ns // self.settings.concurrency_bins), 1)
        return -(-wanted // self.resolution_ns) * self.resolution_ns

    @cached_property
    def endings(self) -> ibis.Table:
        """passes.endings of `rows_with_log` in steps of `ending_step_ns`."""
        return self.keep("endings", passes.endings(self.rows_with_log, self.ending_step_ns))

    @cached_property
    def activity_step_ns(self) -> int:
        """Of pictures of load over time."""
        return max(-(-self.end_ns // self.settings.activity_bins), 1)

    def _step(self, bins: int) -> int:
        return 1 if self.calls <= self.settings.exact_calls else max(-(-self.end_ns // bins), 1)

    def _number(self, value: ibis.Value) -> int:
        found = value.to_pyarrow().as_py()
        return int(found) if found is not None else 0
