"""Reads the calls of a data set for the timeline: all of them, or, of too many, the longest and sums of the others."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt

from halcyon.observe.analysis.survey import SETUP
from halcyon.observe.dataset import Dataset
from halcyon.observe.schema import Kind, Level
from halcyon.observe.viewer.columns import Values, describe
from halcyon.observe.viewer.document import Timeline, TimelineFunction, TimelineProcess


@dataclass(frozen=True)
class Limits:
    """What keeps the page below some 30 MB: a call takes about 12 bytes of it, a cell about 10."""

    every_call: int = 2_000_000
    """Up to so many calls, each is in the page."""
    longest: int = 400_000
    """Beyond that, so many of the longest."""
    cells: int = 1_200_000
    """At most so many sums of the others: one per process, level and time bin."""
    bins: int = 8192
    """At most so many time bins: more than a wide screen has pixels."""
    examples: int = 100_000
    """So many calls in all that the examples of a function are made of."""
    log_files: int = 10_000
    """Paths of so many files of logs."""


@dataclass(frozen=True)
class Calls:
    """The description for the document, and the columns that it describes."""

    timeline: Timeline
    columns: list[Values]


_DATA_KINDS = ", ".join(str(list(Kind).index(kind)) for kind in (Kind.READ, Kind.WRITE, Kind.COPY))

Arrays = dict[str, npt.NDArray[np.int64]]


def read_timeline(dataset: Dataset, limits: Limits | None = None) -> Calls:
    """The calls of a data set."""
    with duckdb.connect() as database:
        return _Reader(database, dataset, limits or Limits()).read()


class _Reader:
    """One reading: the tables that its queries share live in `database`."""

    def __init__(self, database: duckdb.DuckDBPyConnection, dataset: Dataset, limits: Limits) -> None:
        self.database = database
        self.limits = limits
        self.run_ns = dataset.info.duration_ns or 0
        for view, table in (("every_call", "calls"), ("processes", "processes"), ("every_file", "files")):
            database.read_parquet([str(path) for path in dataset.paths[table]]).create_view(view)
        self.processes = self._process_rows()
        self.levels = self._levels()
        self.functions = self._functions()
        self._lane_view()

    def read(self) -> Calls:
        total, duration_ns, without_times = self._rows(
            "SELECT count(*) FILTER (start_ns IS NOT NULL AND duration_ns IS NOT NULL),"
            " coalesce(max(start_ns + duration_ns), 0), count(*) FILTER (start_ns IS NULL OR duration_ns IS NULL)"
            " FROM every_call"
        )[0]
        duration_ns = max(int(duration_ns), self.run_ns, 1)
        threshold_ns, bin_ns, cells = None, None, []
        if total > self.limits.every_call:
            threshold_ns = self._threshold_ns(total)
            bin_ns = self._bin_ns(duration_ns)
            self._example_table()
            cells = self._cells(threshold_ns, bin_ns)
        calls = self._calls(threshold_ns)
        kept = len(calls[1].array)
        timeline = Timeline(
            duration_s=duration_ns / 1e9,
            processes=self.processes,
            levels=self.levels,
            kinds=[kind.value for kind in Kind],
            functions=self.functions,
            calls=kept,
            summed_calls=int(total) - kept,
            without_times=int(without_times),
            shorter_than_s=None if threshold_ns is None else threshold_ns / 1e9,
            bin_s=None if bin_ns is None else bin_ns / 1e9,
            log_paths=self._log_paths(),
            columns=[describe(values) for values in calls + cells],
        )
        return Calls(timeline, calls + cells)

    def _rows(self, query: str) -> list[tuple[int, ...]]:
        return self.database.execute(query).fetchall()

    def _arrays(self, query: str) -> Arrays:
        return {
            name: np.ma.filled(array, -1).astype(np.int64, copy=False)
            for name, array in self.database.execute(query).fetchnumpy().items()
        }

    def _process_rows(self) -> list[TimelineProcess]:
        rows = self.database.execute(
            "SELECT process, rank, host FROM processes ORDER BY rank NULLS LAST, process"
        ).fetchall()
        return [TimelineProcess(process, rank, host) for process, rank, host in rows]

    def _levels(self) -> list[str]:
        present = {level for (level,) in self.database.execute("SELECT DISTINCT level FROM every_call").fetchall()}
        return [level.value for level in Level if level.value in present]

    def _log_paths(self) -> dict[str, str]:
        if Level.LOG not in self.levels:
            return {}
        rows = self.database.execute(
            f"""SELECT file, any_value(path) FROM every_call JOIN every_file USING (file)
            GROUP BY file HAVING bool_and(level = '{Level.LOG}') ORDER BY file LIMIT {self.limits.log_files}"""
        ).fetchall()
        return {str(file): path for file, path in rows}

    def _functions(self) -> list[TimelineFunction]:
        rows = self.database.execute("SELECT DISTINCT call, level, kind FROM every_call ORDER BY ALL").fetchall()
        return [TimelineFunction(call, level, kind, setup=call in SETUP) for call, level, kind in rows]

    def _lane_view(self) -> None:
        """View `calls`: those with times, with their lane and the number of their function."""
        rows = [(process.process, row) for row, process in enumerate(self.processes)]
        self._small_table("row_of", "process INTEGER, row INTEGER", rows)
        levels = [(level, index) for index, level in enumerate(self.levels)]
        self._small_table("level_of", "level VARCHAR, level_index INTEGER", levels)
        functions = [(f.call, f.level, f.kind, i, list(Kind).index(Kind(f.kind))) for i, f in enumerate(self.functions)]
        columns = "call VARCHAR, level VARCHAR, kind VARCHAR, function INTEGER, kind_index INTEGER"
        self._small_table("function_of", columns, functions)
        self.database.execute(
            f"""CREATE VIEW calls AS
            SELECT row * {len(self.levels)} + level_index AS lane, process, coalesce(thread, 0) AS thread, level,
                   function, kind_index, coalesce(file, -1) AS file, coalesce("offset", -1) AS "offset",
                   coalesce(CASE WHEN kind_index NOT IN ({_DATA_KINDS}) OR (moved IS NULL AND error IS NULL) THEN bytes
                            ELSE moved END, -1) AS bytes,
                   coalesce(error, 0) AS error, start_ns, duration_ns
            FROM every_call JOIN row_of USING (process) JOIN level_of USING (level)
            JOIN function_of USING (call, level, kind)
            WHERE start_ns IS NOT NULL AND duration_ns IS NOT NULL"""
        )

    def _small_table(self, name: str, columns: str, rows: Sequence[tuple[object, ...]]) -> None:
        self.database.execute(f"CREATE TABLE {name} ({columns})")
        if rows:
            self.database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", rows)

    def _threshold_ns(self, total: int) -> int:
        """The duration that about `limits.longest` calls reach."""
        share = 1 - self.limits.longest / total
        [(quantile,)] = self._rows(f"SELECT approx_quantile(duration_ns, {share}) FROM calls")
        return int(quantile) + 1  # many calls may take exactly as long

    def _bin_ns(self, duration_ns: int) -> int:
        lanes = max(1, len(self.processes) * len(self.levels))
        bins = max(64, min(self.limits.bins, self.limits.cells // lanes))
        return max(1, math.ceil(duration_ns / bins))

    def _example_table(self) -> None:
        """Table `examples`: the longest calls of each MPI-IO and HDF5 function, all of whose parts are kept."""
        self.database.execute(
            """CREATE TABLE candidates AS
            SELECT process, thread, start_ns AS first_ns, start_ns + duration_ns AS last_ns, function
            FROM calls WHERE level IN ('mpiio', 'hdf5')
            QUALIFY row_number() OVER (PARTITION BY function ORDER BY duration_ns DESC, process, start_ns) <= 4"""
        )
        self.database.execute(
            f"""CREATE TABLE examples AS
            SELECT process, thread, first_ns, last_ns
            FROM (SELECT c.process, c.thread, first_ns, last_ns, count(*) AS parts
                  FROM candidates c JOIN calls ON calls.process = c.process AND calls.thread = c.thread
                       AND start_ns >= first_ns AND start_ns + duration_ns <= last_ns
                  GROUP BY ALL)
            QUALIFY sum(parts) OVER (ORDER BY parts, process, first_ns) <= {self.limits.examples}"""
        )

    def _kept(self, threshold_ns: int | None) -> str:
        """The condition for a call to be in the page by itself."""
        if threshold_ns is None:
            return "true"
        return (
            f"(duration_ns >= {threshold_ns} OR EXISTS (SELECT 1 FROM examples e WHERE e.process = calls.process"
            " AND e.thread = calls.thread AND start_ns >= first_ns AND start_ns + duration_ns <= last_ns))"
        )

    def _calls(self, threshold_ns: int | None) -> list[Values]:
        columns = self._arrays(
            f'SELECT lane, start_ns, duration_ns, function, file, "offset", bytes, thread, error FROM calls'
            f" WHERE {self._kept(threshold_ns)} ORDER BY lane, start_ns, duration_ns DESC"
        )
        return [
            Values("call_lane", "u32", self._lane_offsets(columns["lane"]), delta=True),
            Values("call_start", "i64", columns["start_ns"], delta=True),
            Values("call_duration", "i64", columns["duration_ns"]),
            Values("call_function", "u16", columns["function"]),
            Values("call_file", "i32", columns["file"]),
            Values("call_offset", "i64", columns["offset"], delta=True),
            Values("call_bytes", "i64", columns["bytes"]),
            Values("call_thread", "u16", columns["thread"]),
            Values("call_error", "i32", columns["error"]),
        ]

    def _cells(self, threshold_ns: int, bin_ns: int) -> list[Values]:
        """Sums of the calls that are not kept; each counts in the bin where it begins, for it is short."""
        columns = self._arrays(
            f"""SELECT lane, bin, sum(calls)::BIGINT AS calls, sum(busy)::BIGINT AS busy,
                       arg_max(kind_index, busy) AS kind, sum(bytes)::BIGINT AS bytes
            FROM (SELECT lane, start_ns // {bin_ns} AS bin, kind_index, count(*) AS calls, sum(duration_ns) AS busy,
                         sum(CASE WHEN kind_index IN ({_DATA_KINDS}) THEN greatest(bytes, 0) ELSE 0 END) AS bytes
                  FROM calls WHERE NOT {self._kept(threshold_ns)} GROUP BY ALL)
            GROUP BY lane, bin ORDER BY lane, bin"""
        )
        return [
            Values("cell_lane", "u32", self._lane_offsets(columns["lane"]), delta=True),
            Values("cell_bin", "i32", columns["bin"], delta=True),
            Values("cell_calls", "u32", columns["calls"]),
            Values("cell_busy", "i64", columns["busy"]),
            Values("cell_kind", "u8", columns["kind"]),
            Values("cell_bytes", "i64", columns["bytes"]),
        ]

    def _lane_offsets(self, lanes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Where each lane begins, and after the last one where it ends."""
        return np.searchsorted(lanes, np.arange(len(self.processes) * len(self.levels) + 1))
