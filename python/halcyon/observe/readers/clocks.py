"""Brings the clocks of a run's nodes together."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from halcyon.compiled import TraceReader


@dataclass(frozen=True)
class Measurement:
    """How far a node's clock was ahead of the reference at one moment."""

    at_ns: int
    """By the node's clock."""
    offset_ns: int
    error_ns: int


@dataclass(frozen=True)
class Clock:
    """From one node's monotonic clock to nanoseconds of the epoch, as the reference node counts them."""

    to_epoch_ns: int
    """Of the reference, or of the node itself where nothing was measured."""
    measured: list[Measurement] = field(default_factory=list)
    error_ns: int | None = None
    """Bound of the error against the reference; None: only the time of day relates the two."""

    def of(self, times_ns: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Times of this node's clock as the reference's. Between two measurements the offset drifts evenly."""
        if not self.measured:
            return np.asarray(times_ns + self.to_epoch_ns, dtype=np.int64)
        first, last = self.measured[0], self.measured[-1]
        drift = (last.offset_ns - first.offset_ns) / (last.at_ns - first.at_ns) if last.at_ns > first.at_ns else 0.0
        offset = first.offset_ns + np.rint(drift * (times_ns - first.at_ns)).astype(np.int64)
        return np.asarray(times_ns - offset + self.to_epoch_ns, dtype=np.int64)

    def of_one(self, time_ns: int) -> int:
        """One time."""
        return int(self.of(np.array([time_ns], dtype=np.int64))[0])


def clocks_of(readers: Sequence[TraceReader]) -> dict[bytes, Clock]:
    """The clock of each node by its name. The reference is that of rank 0's node, or of the first process' without MPI.

    Each job of a run (two mpiruns in a script) measures against its own rank 0; the first to have done so counts.
    """
    by_start = sorted(readers, key=lambda r: r.start_realtime_ns)
    first = {reader.clock: reader for reader in reversed(by_start)}
    own = {name: reader.start_realtime_ns - reader.start_ns for name, reader in first.items()}
    reference = next((r.clock for r in by_start if _fact(r, b"mpi.rank") == [b"0"]), by_start[0].clock)
    clocks = {reference: Clock(own[reference], error_ns=0)}
    for reader in by_start:
        measured = [_measurement(value) for value in _fact(reader, b"clock.offset")]
        if measured and reader.clock not in clocks:
            clocks[reader.clock] = Clock(own[reference], measured, max(m.error_ns for m in measured))
    return {name: clocks.get(name, Clock(own[name])) for name in own}


def _fact(reader: TraceReader, wanted: bytes) -> list[bytes]:
    return [value for _, _, key, value in reader.facts if key == wanted]


def _measurement(text: bytes) -> Measurement:
    offset, error, at = (int(part) for part in text.split())
    return Measurement(at, offset, error)
