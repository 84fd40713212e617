"""Builds data sets with known truth. The numbers are invented, never measured.

Columns that follow from others (number, self_ns, step, …) are derived here in the slowest, most obvious way.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from halcyon.observe.dataset import DatasetWriter
from halcyon.observe.schema import TABLES, RunInfo

MIB = 1 << 20


@dataclass
class Call:
    """One call; times in nanoseconds."""

    process: int
    level: str
    call: str
    kind: str
    start_ns: int
    duration_ns: int
    file: int | None = None
    offset: int | None = None
    bytes: int | None = None
    moved: int | None = None
    error: int | None = None
    argument: int | None = None
    timed: bool = True
    """Whether the source tells its times; they order it here all the same."""
    inside: "Call | None" = None
    children_ns: int = 0
    number: int = 0
    step: int | None = None

    @property
    def end_ns(self) -> int:
        return self.start_ns + self.duration_ns


@dataclass
class Trace:
    """A run in the making: `ranks` processes, one per entry of `hosts` (repeated)."""

    ranks: int = 1
    hosts: Sequence[str] = ("n0",)
    mpi: bool = True
    launchers: int = 0
    """The first so many processes are none of MPI's."""
    clock_error_ns: int | None = None
    related: bool = True
    """Whether it tells which call made which."""
    calls: list[Call] = field(default_factory=list)
    files: list[dict[str, object]] = field(default_factory=list)
    facts: list[dict[str, object]] = field(default_factory=list)
    absences: list[dict[str, object]] = field(default_factory=list)

    def file(
        self,
        path: str,
        block_bytes: int | None = 4096,
        stripe_bytes: int | None = None,
        servers: Sequence[str] | None = None,
        filesystem: str = "lustre",
    ) -> int:
        """Adds a file; its index."""
        index = len(self.files)
        self.files.append(
            {
                "file": index,
                "path": path,
                "filesystem": filesystem,
                "block_bytes": block_bytes,
                "stripe_bytes": stripe_bytes,
                "servers": servers,
            }
        )
        return index

    def add(
        self, process: int, level: str, call: str, kind: str, start_ms: float, duration_ms: float, **values: object
    ) -> Call:
        """Adds a call; times in milliseconds. `inside`: the call that makes it."""
        made = Call(process, level, call, kind, round(start_ms * 1e6), round(duration_ms * 1e6), **values)  # type: ignore[arg-type]
        if made.inside is not None:
            made.inside.children_ns += made.duration_ns
        self.calls.append(made)
        return made

    def write(
        self, process: int, file: int, offset: int, size: int, start_ms: float, duration_ms: float, **values: object
    ) -> Call:
        """A POSIX write that moves all it was given."""
        whole = {"file": file, "offset": offset, "bytes": size, "moved": size} | values
        return self.add(process, "posix", "pwrite", "write", start_ms, duration_ms, **whole)

    def read(
        self, process: int, file: int, offset: int, size: int, start_ms: float, duration_ms: float, **values: object
    ) -> Call:
        """A POSIX read that gets all it asked for."""
        whole = {"file": file, "offset": offset, "bytes": size, "moved": size} | values
        return self.add(process, "posix", "pread", "read", start_ms, duration_ms, **whole)

    def mpi_write(
        self, process: int, file: int, offset: int, size: int, start_ms: float, duration_ms: float, **values: object
    ) -> Call:
        """An independent MPI-IO write; its POSIX calls are added with `inside`."""
        whole = {"call": "MPI_File_write_at", "file": file, "offset": offset, "bytes": size} | values
        name = str(whole.pop("call"))
        return self.add(process, "mpiio", name, "write", start_ms, duration_ms, **whole)

    def store(self, directory: Path, **info: object) -> Path:
        """Writes the data set."""
        self._derive()
        end = max((call.end_ns for call in self.calls), default=0)
        known = {"source": "synthetic 1", "start": 1.7e9, "duration_ns": end, "ranks": self.ranks if self.mpi else None}
        with DatasetWriter(directory, RunInfo(**(known | info)), synced=False) as writer:  # type: ignore[arg-type]
            writer.write(
                "calls", pa.Table.from_pylist([_row(call, self.related) for call in self.calls], TABLES["calls"])
            )
            writer.write("processes", pa.Table.from_pylist(self._processes(end), TABLES["processes"]))
            for name in ("files", "facts", "absences"):
                writer.write(name, pa.Table.from_pylist(getattr(self, name), TABLES[name]))
        return directory

    def _processes(self, end: int) -> list[dict[str, object]]:
        return [
            {
                "process": rank,
                "rank": rank - self.launchers if self.mpi and rank >= self.launchers else None,
                "host": self.hosts[rank % len(self.hosts)],
                "program": "/opt/cloud/model",
                "start_ns": 0,
                "end_ns": end,
                "ended": "exit",
                "calls": sum(call.process == rank for call in self.calls),
                "lost": 0,
                "clock_error_ns": self.clock_error_ns,
            }
            for rank in range(self.ranks)
        ]

    def _derive(self) -> None:
        # Of calls that begin at once, the outer one is the longer one.
        self.calls.sort(key=lambda call: (call.process, call.start_ns, -call.duration_ns))
        numbers: dict[int, int] = {}
        ends: dict[tuple[object, ...], int] = {}
        for call in self.calls:
            call.number = numbers[call.process] = numbers.get(call.process, 0) + 1
            if call.kind in ("read", "write") and call.offset is not None:
                key = (call.process, call.file, call.level, call.kind)
                call.step = call.offset - ends[key] if key in ends else None
                ends[key] = call.offset + (call.moved if call.moved is not None else call.bytes or 0)


def _row(call: Call, related: bool) -> dict[str, object]:
    parent = call.inside if related else None
    return {
        "process": call.process,
        "thread": 0,
        "number": call.number,
        "parent": parent.number if parent else None,
        "level": call.level,
        "call": call.call,
        "kind": call.kind,
        "parent_level": parent.level if parent else None,
        "parent_call": parent.call if parent else None,
        "file": call.file,
        "offset": call.offset,
        "bytes": call.bytes,
        "moved": call.moved,
        "result": call.moved,
        "error": call.error,
        "start_ns": call.start_ns if call.timed else None,
        "duration_ns": call.duration_ns if call.timed else None,
        "wait_ns": 0,
        "self_ns": call.duration_ns - call.children_ns if call.timed and (related or call.level == "posix") else None,
        "step": call.step,
        "argument": call.argument,
    }
