"""The passes over one data set's calls, each made once, when a table first asks for its result."""

from functools import cached_property
from typing import Any

import ibis
import pyarrow as pa
from ibis import _

from halcyon.observe.analysis import passes
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.analysis.volumes import with_direction
from halcyon.observe.dataset import Dataset


class Survey:
    """What all analyses of one data set share: `dataset`, `settings`, and the results of the passes as Ibis tables.

    A pass runs on the data set's engine (DuckDB or Spark). Its result is small and is kept in a DuckDB database in
    memory, where all further questions are asked, whatever the engine. Not for several threads at once.
    """

    def __init__(self, dataset: Dataset, settings: Settings | None = None) -> None:
        self.dataset = dataset
        self.settings = settings or Settings()
        self._local: Any = ibis.duckdb.connect()
        self._names = 0

    def keep(self, rows: ibis.Table | pa.Table) -> ibis.Table:
        """Runs an expression on the data set's engine (or takes rows that are there already) and keeps its result."""
        found = rows if isinstance(rows, pa.Table) else rows.to_pyarrow()
        self._names += 1
        name = f"kept_{self._names}"
        # Not create_table: the statement with which it drops its view afterwards is refused by DuckDB 2.
        self._local.con.register("incoming", found)
        self._local.con.execute(f"CREATE TABLE {name} AS SELECT * FROM incoming")
        self._local.con.unregister("incoming")
        return self._local.table(name)

    @cached_property
    def profile(self) -> ibis.Table:
        """passes.profile, with the direction of transfers."""
        return self.keep(with_direction(passes.profile(self.dataset.calls, self.dataset.files)))

    @cached_property
    def processes(self) -> ibis.Table:
        """Table `processes` of the data set, with `rank` of a process without MPI being its index, in `shown_rank`."""
        return self.keep(self.dataset.processes.mutate(shown_rank=ibis.coalesce(_.rank, _.process)))

    @cached_property
    def files(self) -> ibis.Table:
        """Table `files` of the data set."""
        return self.keep(self.dataset.files)

    @cached_property
    def calls(self) -> int:
        """How many calls were recorded."""
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
    def io_ns(self) -> int:
        """Time that all processes spent in I/O calls, in sum: of the calls that the application itself made.

        Without MPI_Init and MPI_Finalize: they are recorded, and take longer than a short run's I/O.
        """
        own = self.profile.filter(_.parent_level.isnull() & ~_.call.re_search("^MPI_(Init|Finalize)"))
        return self._number(own.duration_ns.sum())

    @cached_property
    def resolution_ns(self) -> int:
        """To what times are merged: 1 is exactly."""
        return self._step(self.settings.time_bins)

    @cached_property
    def moments(self) -> ibis.Table:
        """passes.moments in steps of `resolution_ns`."""
        return self.keep(with_direction(passes.moments(self.dataset.calls, self.resolution_ns)))

    @cached_property
    def file_resolution_ns(self) -> int:
        """To what times are merged per file."""
        files = self._number(self.profile.file.nunique())
        return self._step(max(self.settings.file_bins // max(files, 1), 64))

    @cached_property
    def file_moments(self) -> ibis.Table:
        """passes.file_moments in steps of `file_resolution_ns`."""
        return self.keep(with_direction(passes.file_moments(self.dataset.calls, self.file_resolution_ns)))

    @cached_property
    def activity_step_ns(self) -> int:
        """Of pictures of load over time."""
        return max(-(-self.end_ns // self.settings.activity_bins), 1)

    def _step(self, bins: int) -> int:
        return 1 if self.calls <= self.settings.exact_calls else max(-(-self.end_ns // bins), 1)

    def _number(self, value: ibis.Value) -> int:
        found = value.to_pyarrow().as_py()
        return int(found) if found is not None else 0
