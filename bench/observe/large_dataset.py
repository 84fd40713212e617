"""Makes a large data set in columns. The numbers are invented: drawn from a seeded generator, never measured.

Each rank opens a shared file and a log of its own, and in each of 20 phases writes strided pieces through MPI-IO, of
which most are made by data sieving: lock, read, write, unlock, five times over. A few lines go to the log through
stdio.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from halcyon.observe.dataset import DatasetWriter
from halcyon.observe.schema import TABLES, RunInfo

RANKS = 1000
PHASES = 20
PIECE = 524_288
PER_WRITE = 1 + 5 * 4  # the MPI-IO call and what it is made of
PHASE_NS = 60_000_000_000
SERVERS = 16

LEVELS = ["mpiio", "posix", "stdio"]
CALLS = ["MPI_File_write_at", "fcntl", "pread", "pwrite", "open", "fwrite", "stat"]
KINDS = ["write", "read", "lock", "unlock", "open", "stat"]

Numbers = npt.NDArray[np.int64]


def make(directory: Path, calls: int) -> None:
    """About `calls` records, of 1000 ranks."""
    each = calls // RANKS
    info = RunInfo("synthetic 1", 1.7e9, PHASES * PHASE_NS, RANKS, command="./model", user="ada", job="4711")
    with DatasetWriter(directory, info) as writer:
        writer.write("processes", _processes(each))
        writer.write("files", _files())
        for rank in range(RANKS):
            writer.write("calls", _calls(rank, each))


def _processes(each: int) -> pa.Table:
    rows = [
        {"process": rank, "rank": rank, "host": f"n{rank // 32:03}", "program": "/opt/model", "calls": each, "lost": 0}
        for rank in range(RANKS)
    ]
    return pa.Table.from_pylist(rows, TABLES["processes"])


def _files() -> pa.Table:
    servers = [f"OST{number:04}" for number in range(SERVERS)]
    shared = {
        "file": 0,
        "path": "/scratch/out.h5",
        "filesystem": "lustre",
        "block_bytes": 4096,
        "stripe_bytes": 1 << 20,
        "servers": servers,
    }
    logs = [
        shared | {"file": 1 + rank, "path": f"/scratch/log.{rank}", "servers": [servers[rank % SERVERS]]}
        for rank in range(RANKS)
    ]
    return pa.Table.from_pylist([shared, *logs], TABLES["files"])


def _calls(rank: int, count: int) -> pa.Table:
    noise = np.random.default_rng(rank)
    index = np.arange(count)
    write, place = index // PER_WRITE, index % PER_WRITE
    outer = place == 0
    step = (place - 1) % 4
    plain = (write % 50 == 7) & outer  # a line of the log in place of a piece
    asked = (write % 50 == 9) & outer  # a stat
    call = np.select([plain, asked, outer, step == 1, step == 2], [5, 6, 0, 2, 3], 1)
    kind = np.select([plain | outer & ~asked, asked, step == 0, step == 1, step == 2], [0, 5, 2, 1, 0], 3)
    level = np.select([plain, asked, outer], [2, 1, 0], 1)
    inside = ~outer & (write % 50 != 7) & (write % 50 != 9)
    call[0], kind[0], level[0] = 4, 4, 1

    per_phase = -(-count // PHASES)
    phase, within = index // per_phase, index % per_phase
    slot = min(200_000, PHASE_NS // 4 // per_phase)
    start = phase * PHASE_NS + within * slot + noise.integers(0, slot // 8 + 1, count)
    own = noise.integers(slot // 4, slot // 2, count)
    duration = np.where(outer & ~plain & ~asked, PER_WRITE * slot - slot // 4, own)
    self_ns = np.where(outer & ~plain & ~asked, duration - 20 * (slot * 3 // 8), duration)
    data = (kind == 0) | (kind == 1)
    piece = np.where(outer, 5 * PIECE - 100, PIECE)
    size = np.where(plain, 80, piece)
    chunk = np.where(outer, 0, (place - 1) // 4)
    offset = np.where(plain, write * 80, ((write * RANKS + rank) * 5 + chunk) * PIECE)
    return pa.table(
        {
            "process": np.full(count, rank, np.int32),
            "thread": np.zeros(count, np.int32),
            "number": index + 1,
            "parent": pa.array(write * PER_WRITE + 1, mask=~inside),
            "level": _named(level, LEVELS),
            "call": _named(call, CALLS),
            "kind": _named(kind, KINDS),
            "parent_level": _named(np.zeros(count, np.int64), ["mpiio"], ~inside),
            "parent_call": _named(np.zeros(count, np.int64), ["MPI_File_write_at"], ~inside),
            "file": np.where(plain, 1 + rank, 0).astype(np.int32),
            "offset": pa.array(offset, mask=(kind > 3)),
            "bytes": pa.array(size, mask=(kind > 3)),
            "moved": pa.array(size, mask=~data | (level == 0)),
            "start_ns": start,
            "duration_ns": duration,
            "wait_ns": np.zeros(count, np.int64),
            "self_ns": self_ns,
            "step": pa.array(np.where(chunk % 5 == 0, (RANKS - 1) * 5 * PIECE, 0), mask=~data | (write == 0)),
        }
    )


def _named(indices: Numbers, names: list[str], mask: npt.NDArray[np.bool_] | None = None) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices.astype(np.int32), mask=mask), pa.array(names))
