"""What a run's tables say in numbers. Formulas and their sources are explained in docs/report.md."""

from dataclasses import dataclass
from statistics import fmean, median

import ibis
import numpy as np
import pyarrow as pa
from ibis import _

from halcyon.database import question
from halcyon.offload.run_directory import Run

NS = 1e-9


@dataclass(frozen=True)
class Phase:
    """One output phase over its ranks: how long output blocked them, and what they had computed before it."""

    iteration: int
    ranks: int
    fastest_s: float
    mean_s: float
    slowest_s: float
    blocked_s: float  # of the rank that waited longest for room
    compute_s: float  # mean over ranks
    bytes: int

    @property
    def spread_s(self) -> float:
        """Slowest minus fastest rank."""
        return self.slowest_s - self.fastest_s

    @property
    def throughput(self) -> float | None:
        """Bytes per second by the slowest rank's time (Dorier 2014, figure 2.3); None when that time is 0."""
        return self.bytes / self.slowest_s if self.slowest_s > 0 else None


@dataclass(frozen=True)
class Spread:
    """A quantity over the phases of a run."""

    low: float
    median: float
    mean: float
    high: float

    @classmethod
    def of(cls, values: list[float]) -> "Spread | None":
        """None for no values."""
        return cls(min(values), median(values), fmean(values), max(values)) if values else None

    @property
    def width(self) -> float:
        """Highest minus lowest."""
        return self.high - self.low


@dataclass(frozen=True)
class ServerWork:
    """What servers did for the iterations of one file: mean over the servers of the run, in seconds.

    The five parts add up to the time since the file before (for the first: since the run began).
    """

    first_iteration: int
    last_iteration: int
    compress_s: float
    write_s: float
    other_s: float  # busy with the file, but neither of the two above
    slot_wait_s: float
    idle_s: float
    store_longest_s: float  # compress + write of the server that took longest

    @property
    def store_s(self) -> float:
        """Time to transform, compress and write."""
        return self.compress_s + self.write_s


@dataclass(frozen=True)
class RunStatistics:
    """The numbers of one run. None where the run left nothing from which to take them."""

    phases: list[Phase]
    work: list[ServerWork]
    run_s: float | None
    compute_s: float | None
    open_close_s: float | None  # opening and closing the output: neither computing nor in a phase
    visible_s: Spread | None  # over phases, of the slowest rank
    busiest_rank_visible_s: float  # all phases of the rank that spends most time in them
    rank_spread_s: Spread | None  # over phases, slowest minus fastest rank
    blocked_s: float  # longest time a rank waited for room in one phase
    bytes: int
    raw_bytes: int | None
    stored_bytes: int | None
    server_busy: float | None
    store_over_compute: float | None
    simulation_throughput: float | None
    server_throughput: float | None

    @property
    def visible_total_s(self) -> float:
        """What output added to the run, when each phase lasts as long as its slowest rank."""
        return sum(phase.slowest_s for phase in self.phases)

    @property
    def output_share(self) -> float | None:
        """The part of the run's time that its output phases take from the rank that spends most in them.

        Not of the phases' sum: ranks that do not wait for each other are slowest in different phases at one time.
        """
        return self.busiest_rank_visible_s / self.run_s if self.run_s and self.phases else None


def statistics_of(run: Run) -> RunStatistics:
    """All numbers of a run."""
    phases = phases_of(run)
    work = server_work_of(run)
    visible_total = sum(phase.slowest_s for phase in phases)
    handed_over = sum(phase.bytes for phase in phases)
    raw, stored = _file_bytes(run)
    storing_s = _time_storing(run)
    return RunStatistics(
        phases=phases,
        work=work,
        run_s=_run_time(run),
        compute_s=_compute_time(run, phases),
        open_close_s=_open_and_close_time(run),
        visible_s=Spread.of([phase.slowest_s for phase in phases]),
        busiest_rank_visible_s=_busiest_rank_visible(run),
        rank_spread_s=Spread.of([phase.spread_s for phase in phases]),
        blocked_s=max((phase.blocked_s for phase in phases), default=0.0),
        bytes=handed_over,
        raw_bytes=raw,
        stored_bytes=stored,
        server_busy=_server_busy(run, work),
        store_over_compute=_store_over_compute(phases, work),
        simulation_throughput=handed_over / visible_total if visible_total > 0 else None,
        server_throughput=raw / storing_s if raw is not None and storing_s > 0 else None,
    )


def _busiest_rank_visible(run: Run) -> float:
    most = _most_visible(run.phases).to_pyarrow()["most"][0].as_py()
    return most * NS if most is not None else 0.0


@question
def _most_visible(phases: ibis.Table) -> ibis.Table:
    return phases.group_by("rank").aggregate(total=_.visible_ns.sum()).aggregate(most=_.total.max())


def phases_of(run: Run) -> list[Phase]:
    """The output phases in order of iteration."""
    return [Phase(**row) for row in _phases(run.phases).to_pyarrow().to_pylist()]


@question
def _phases(phases: ibis.Table) -> ibis.Table:
    return (
        phases.group_by("iteration")
        .agg(
            ranks=_.count(),
            fastest_s=_.visible_ns.min() * NS,
            mean_s=_.visible_ns.mean() * NS,
            slowest_s=_.visible_ns.max() * NS,
            blocked_s=_.blocked_ns.max() * NS,
            compute_s=_.compute_ns.mean() * NS,
            bytes=_.bytes.sum().cast("int64"),
        )
        .order_by("iteration")
    )


def visible_seconds(run: Run) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """The times that output blocked ranks, one for each rank and phase, ascending."""
    column = _visible(run.phases).to_pyarrow()["visible_ns"]
    return np.asarray(column.to_numpy(), np.float64) * NS


@question
def _visible(phases: ibis.Table) -> ibis.Table:
    return phases.order_by("visible_ns").select("visible_ns")


def server_work_of(run: Run) -> list[ServerWork]:
    """Busy and idle time of the servers, file by file (Dorier 2014, figure 3.7); parts of an iteration together."""
    start = ibis.memtable(pa.table({"started_ns": pa.array([run.manifest.started_ns or None], pa.int64())}))
    rows = _server_work(run.files, start)
    return [ServerWork(**row) for row in rows.to_pyarrow().to_pylist()]


@question
def _server_work(files: ibis.Table, start: ibis.Table) -> ibis.Table:
    per_file = (
        files.filter(_.writer.startswith("n"))
        .group_by("writer", "first_iteration")
        .agg(
            last_iteration=_.last_iteration.max(),
            end_ns=_.end_ns.max(),
            begin_ns=_.begin_ns.min(),
            inside_ns=(_.end_ns - _.begin_ns).sum(),
            slot_ns=_.slot_wait_ns.sum(),
            compress_ns=_.compress_ns.sum(),
            write_ns=_.write_ns.sum(),
        )
    )
    before = _.end_ns.lag().over(ibis.window(group_by="writer", order_by="end_ns"))
    since_ns = ibis.coalesce(before, _.started_ns, _.begin_ns)
    timed = (
        per_file.cross_join(start)
        .mutate(since_ns=since_ns)
        .mutate(other_ns=ibis.greatest(_.inside_ns - _.compress_ns - _.write_ns, 0))
    )
    idle_ns = _.end_ns - _.since_ns - _.other_ns - _.slot_ns - _.compress_ns - _.write_ns
    return (
        timed.mutate(idle_ns=ibis.greatest(idle_ns, 0))
        .group_by("first_iteration")
        .agg(
            last_iteration=_.last_iteration.max(),
            compress_s=_.compress_ns.mean() * NS,
            write_s=_.write_ns.mean() * NS,
            other_s=_.other_ns.mean() * NS,
            slot_wait_s=_.slot_ns.mean() * NS,
            idle_s=_.idle_ns.mean() * NS,
            store_longest_s=(_.compress_ns + _.write_ns).max() * NS,
        )
        .order_by("first_iteration")
    )


def _run_time(run: Run) -> float | None:
    """As the application said; else as run.json; else between begin and end; else from the first rank to the last."""
    manifest = run.manifest
    if (own := _said_by_application(run, "run_s")) is not None:
        return own
    if manifest.run_s is not None:
        return manifest.run_s
    if manifest.started_ns and manifest.ended_ns and manifest.ended_ns >= manifest.started_ns:
        return (manifest.ended_ns - manifest.started_ns) * NS
    row = _first_and_last(run.phases).to_pyarrow().to_pylist()[0]
    return (row["last"] - row["first"]) * NS if row["first"] is not None else None


@question
def _first_and_last(phases: ibis.Table) -> ibis.Table:
    return phases.aggregate(first=(_.begin_ns - _.compute_ns).min(), last=(_.begin_ns + _.visible_ns).max())


def _said_by_application(run: Run, name: str) -> float | None:
    """A time in app.json, which the application measures alike whatever its approach."""
    value = run.application.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def _compute_time(run: Run, phases: list[Phase]) -> float | None:
    if (own := _said_by_application(run, "compute_s")) is not None:
        return own
    if run.manifest.compute_s is not None:
        return run.manifest.compute_s
    return sum(phase.compute_s for phase in phases) if phases else None


def _open_and_close_time(run: Run) -> float | None:
    manifest = run.manifest
    for parts in (
        [_said_by_application(run, "open_s"), _said_by_application(run, "close_s")],
        [manifest.open_s, manifest.close_s],
    ):
        known = [part for part in parts if part is not None]
        if len(known) == len(parts):
            return sum(known)
    return None


def _file_bytes(run: Run) -> tuple[int | None, int | None]:
    row = _sums(run.files).to_pyarrow().to_pylist()[0]
    return row["raw"], row["stored"]


@question
def _sums(files: ibis.Table) -> ibis.Table:
    return files.aggregate(raw=_.raw_bytes.sum().cast("int64"), stored=_.stored_bytes.sum().cast("int64"))


def _time_storing(run: Run) -> float:
    """How long at least one writer was storing: the union of the intervals, in seconds."""
    rows = _times_of_storing(run.files).to_pyarrow()
    total_ns, reached_ns = 0, 0
    for begin, end in zip(rows["begin_ns"].to_pylist(), rows["end_ns"].to_pylist(), strict=True):
        total_ns += max(0, end - max(begin, reached_ns))
        reached_ns = max(reached_ns, end)
    return total_ns * NS


@question
def _times_of_storing(files: ibis.Table) -> ibis.Table:
    return files.select("begin_ns", "end_ns").order_by("begin_ns", "end_ns")


def _server_busy(run: Run, work: list[ServerWork]) -> float | None:
    """Share of the servers' time that was not idle: as they counted it, else from the files they left."""
    counted = [run.counts[server] for server in run.servers if server in run.counts]
    busy = sum(counts.busy_ns for counts in counted)
    whole = busy + sum(counts.idle_ns for counts in counted)
    if whole and len(counted) == len(run.servers):
        return busy / whole
    busy_s = sum(item.store_s + item.other_s for item in work)
    whole_s = busy_s + sum(item.slot_wait_s + item.idle_s for item in work)
    return busy_s / whole_s if whole_s > 0 else None


def _store_over_compute(phases: list[Phase], work: list[ServerWork]) -> float | None:
    """Mean time to store an iteration over the mean time to compute one: above 1, a server cannot keep up."""
    iterations = sum(item.last_iteration - item.first_iteration + 1 for item in work)
    compute_s = fmean(phase.compute_s for phase in phases) if phases else 0.0
    if not iterations or compute_s <= 0:
        return None
    return sum(item.store_s for item in work) / iterations / compute_s
