"""What one run cost, in the terms of the demo's tables; and ratios between runs of one round, with their spread."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from halcyon.errors import InternalError
from halcyon.offload.departures import COUNTED
from halcyon.offload.run_directory import Run, open_run
from halcyon.offload.run_statistics import NS, RunStatistics, Spread, statistics_of, visible_seconds


@dataclass(frozen=True)
class Measurement:
    """One run, in seconds. `visible_s`: the slowest rank of each phase. `spread_s`: the longest time that
    output blocked a rank in any phase, minus the shortest. `store_s`: mean over phases of the time until they were on
    the device. `start_stop_s`: opening and closing the output, part of `run_s`."""

    visible_s: Spread
    visible_total_s: float
    spread_s: float
    run_s: float
    compute_s: float
    compute_phase_s: float
    store_s: float
    start_stop_s: float
    server_busy: float | None
    blocked_s: float
    bytes: int
    counts: dict[str, int]
    iterations: int
    server_core: str

    @property
    def store_over_compute(self) -> float:
        """Above 1 the storage cannot keep up, whatever the way of output."""
        return self.store_s / self.compute_phase_s


def measure(directory: Path) -> Measurement:
    """Reads a finished run of the cloud model."""
    run = open_run(directory)
    numbers = statistics_of(run)
    blocked = visible_seconds(run)
    if not (numbers.visible_s and numbers.run_s and numbers.compute_s):
        raise InternalError(f"{directory}: the run ended in order and left no times")
    return Measurement(
        visible_s=numbers.visible_s,
        visible_total_s=numbers.visible_total_s,
        spread_s=float(blocked[-1] - blocked[0]),
        run_s=numbers.run_s,
        compute_s=numbers.compute_s,
        compute_phase_s=fmean(phase.compute_s for phase in numbers.phases),
        store_s=_store_time(run, numbers),
        start_stop_s=numbers.open_close_s or 0.0,
        server_busy=numbers.server_busy,
        blocked_s=sum(phase.blocked_s for phase in numbers.phases),
        bytes=numbers.bytes,
        counts={name: sum(getattr(c, name) for c in run.counts.values()) for name in [*COUNTED, *_BYTE_COUNTS]},
        iterations=len(numbers.phases),
        server_core=_server_core(directory),
    )


_BYTE_COUNTS = ("skipped_bytes", "spilled_bytes", "inlined_bytes")


def _store_time(run: Run, numbers: RunStatistics) -> float:
    """A server's mean time for the files of a phase; without a server, output is over when it is stored."""
    servers = run.files.filter(run.files.writer.startswith("n")).to_pyarrow().to_pylist()
    phases = len({row["first_iteration"] for row in servers})
    if phases:
        return float(sum(row["end_ns"] - row["begin_ns"] for row in servers) * NS / phases)
    return numbers.visible_s.mean if numbers.visible_s else 0.0


def _server_core(directory: Path) -> str:
    """What the server said about its core: `own core`, `shared core`; empty without a server."""
    log = directory / "server-n0000.log"
    said = log.read_text(errors="replace") if log.is_file() else ""
    if re.search("bound to core", said):
        return "own core"
    return "shared core" if said else ""


Figure = Callable[[Measurement], float]
"""A figure of a run."""


@dataclass(frozen=True)
class Ratio:
    """A figure over the same figure of the reference, taken round by round; and the reference over itself."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> "Ratio":
        found = list(values)
        return cls(median(found), min(found), max(found))


def ratio(runs: Sequence[Measurement], references: Sequence[Measurement], figure: Figure) -> Ratio:
    """`figure` of each run over that of the reference of its round."""
    return Ratio.of(figure(run) / figure(reference) for run, reference in zip(runs, references, strict=True))


def visible(measured: Measurement) -> float:
    """The median over phases."""
    return measured.visible_s.median


def spread(measured: Measurement) -> float:
    """Over ranks and phases."""
    return measured.spread_s


def run_time(measured: Measurement) -> float:
    """From start to end, with opening and closing of the output."""
    return measured.run_s


def steady_time(measured: Measurement) -> float:
    """Without opening and closing of the output."""
    return measured.run_s - measured.start_stop_s
