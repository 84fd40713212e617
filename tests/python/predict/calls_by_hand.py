"""Streams of calls as a program would make them, on a clock of their own, and the models that they leave."""

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from halcyon.compiled import core

OPEN, CLOSE, READ, WRITE, COPY, SYNC = range(6)
FUNCTIONS = {1: "open64", 2: "close", 3: "pread64", 4: "pwrite64", 5: "copy_file_range", 6: "fsync"}
CALL_NS, GAP_NS = 20_000, 5_000


@dataclass
class Calls:
    """Columns of halcyon._core.Replay."""

    rows: list[dict[str, int]] = field(default_factory=list)
    paths: list[str] = field(default_factory=lambda: [""])
    now_ns: int = 0

    def computes(self, ns: int) -> None:
        """Time without calls, on top of GAP_NS."""
        self.now_ns += ns

    def opens(self, context: int, path: str) -> None:
        self.paths.append(path)
        self.calls(context, OPEN)

    def writes(self, context: int, offset: int, size: int) -> None:
        self.calls(context, WRITE, offset, size)

    def reads(self, context: int, offset: int, size: int) -> None:
        self.calls(context, READ, offset, size)

    def syncs(self, context: int) -> None:
        self.calls(context, SYNC)

    def closes(self, context: int) -> None:
        self.calls(context, CLOSE)

    def calls(self, context: int, operation: int, offset: int = -1, size: int = -1) -> None:
        """Of the file that was opened last."""
        self.now_ns += GAP_NS
        self.rows.append(
            {
                "context": context,
                "function": operation + 1,
                "operation": operation,
                "truncates": 0,
                "file": len(self.paths) - 1,
                "offset": offset,
                "bytes": size,
                "moved": size,
                "start_ns": self.now_ns,
                "wait_ns": 0,
                "duration_ns": CALL_NS,
            }
        )
        self.now_ns += CALL_NS

    def save(self, path: Path, stacks: dict[int, str] | None = None, functions: dict[int, str] | None = None) -> Path:
        """Lets a model learn them, and saves it."""
        types = {"context": "u4", "function": "u4", "operation": "u1", "truncates": "u1", "file": "u4"}
        columns: dict[str, Any] = {
            name: np.array([row[name] for row in self.rows], types.get(name, "i8"))
            for name in (*types, "offset", "bytes", "moved", "start_ns", "wait_ns", "duration_ns")
        }
        replay: Any = core().Replay(self.paths)  # type: ignore[attr-defined]
        replay.score(columns)
        replay.save(path, FUNCTIONS if functions is None else functions, stacks or {})
        return path


STACKS = {
    1: "libc.so.6+0x114f libhdf5.so.103+0x8a21 cloud+0x1a2b libc.so.6+0x2724a",
    2: "libc.so.6+0x10e2 libhdf5.so.103+0x9000 cloud+0x1b00",
    3: "libc.so.6+0x10e2 libmpi.so.40+0x11 mca_io_ompio.so+0x3 cloud+0x1c00",
    4: "libc.so.6+0x99 libhdf5.so.103+0x77",
}


def simulation(steps: int, pieces: int = 9, pause_ns: int = 500_000_000) -> Calls:
    """Reads its input; then each step writes a file: a header, and pieces behind it."""
    calls = Calls()
    calls.opens(7, "/run/input.txt")
    calls.reads(8, 0, 4096)
    calls.closes(9)
    for step in range(steps):
        calls.computes(pause_ns)
        calls.opens(1, f"/run/out.{step:06d}.dat")
        calls.writes(2, 0, 96)
        for piece in range(pieces):
            calls.writes(3, 2048 + 1024 * piece, 1024)
        calls.closes(4)
    return calls


def with_changing_counts(steps: int) -> Calls:
    """Each step writes another number of pieces."""
    calls, dice = Calls(), random.Random(3)
    for step in range(steps):
        calls.computes(100_000_000)
        calls.opens(1, f"/run/particles.{step}")
        for piece in range(dice.randint(10, 20)):
            calls.writes(2, 100 * piece, 100)
        calls.closes(3)
    return calls
