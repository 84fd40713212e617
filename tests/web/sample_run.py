"""A data set as a simulation leaves it that writes checkpoints through HDF5 and MPI-IO, with data sieving.

Every checkpoint, each rank writes its part of each variable: H5Dwrite calls MPI_File_write_at_all, which moves the
part in cycles of lock, read, write, unlock. One rank is slow, rank 0 writes a log. All of it follows from the seed.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from halcyon.observe.conform import conform
from halcyon.observe.dataset import DatasetWriter
from halcyon.observe.schema import TABLES, RunInfo

SERVERS = ["oss01-ost0", "oss01-ost1", "oss02-ost2", "oss02-ost3", "oss03-ost4", "oss03-ost5"]
CYCLE = [("fcntl", "lock"), ("pread64", "read"), ("pwrite64", "write"), ("fcntl", "unlock")]
CYCLE_MEDIAN_NS = [400_000, 500_000, 900_000, 60_000]
SIEVE = 512 * 1024
STRIPE = 1 << 20


@dataclass(frozen=True)
class Shape:
    """How large the run is. It has about checkpoints x ranks x variables x (2 + 4 x cycles) calls."""

    ranks: int = 64
    checkpoints: int = 8
    variables: int = 10
    cycles: int = 5
    mpi: bool = True
    """False: each rank writes a file of its own through POSIX."""
    setup: bool = False
    """With MPI's start and end."""
    seed: int = 1

    @property
    def duration_ns(self) -> int:
        return (self.checkpoints + 1) * 20_000_000_000


Columns = dict[str, npt.NDArray[np.generic] | list[str | None]]


def write_run(folder: Path, shape: Shape) -> None:
    """Writes the data set `folder`."""
    tables = [_startup(shape)]
    for checkpoint in range(shape.checkpoints):
        tables.append(_checkpoint(shape, checkpoint) if shape.mpi else _own_files(shape, checkpoint))
    if shape.setup:
        tables.append(_setup(shape))
    calls = pa.concat_tables(tables)
    info = RunInfo(
        source="halcyon 0.1.0",
        start=1_760_000_000.0,
        duration_ns=shape.duration_ns,
        ranks=shape.ranks if shape.mpi else None,
        command=f"mpirun -n {shape.ranks} ./flash4 -par sedov.par",
        user="ada",
        job="418-sedov",
    )
    with DatasetWriter(folder, info, synced=False) as writer:
        writer.write("calls", calls.sort_by([("process", "ascending"), ("start_ns", "ascending")]))
        for name, rows in {
            "processes": _processes(shape, calls),
            "files": _files(shape),
            "facts": _facts(shape),
            "absences": _absences(),
        }.items():
            writer.write(name, pa.Table.from_pylist(rows, TABLES[name]))


def _table(columns: Columns) -> pa.Table:
    return conform("calls", pa.table({name: pa.array(values) for name, values in columns.items()}))


def _slowness(shape: Shape, checkpoint: int) -> npt.NDArray[np.float64]:
    """How much longer each rank takes: all differ, rank 7 is slow always, the third checkpoint meets another job."""
    random = np.random.default_rng([shape.seed, checkpoint, 1])
    slow = random.lognormal(0, 0.18 if checkpoint != 2 else 0.6, shape.ranks)
    slow[7 % shape.ranks] *= 2.4
    slow[shape.ranks // 2] *= 1.2
    return slow


def _checkpoint(shape: Shape, checkpoint: int) -> pa.Table:
    """H5Dwrite > MPI_File_write_at_all > cycles, all ranks at once."""
    random = np.random.default_rng([shape.seed, checkpoint, 2])
    dims = (shape.ranks, shape.variables, shape.cycles, len(CYCLE))
    durations = random.lognormal(0, 0.35, dims) * CYCLE_MEDIAN_NS * 10 / shape.variables * 5 / shape.cycles
    durations = (durations * _slowness(shape, checkpoint)[:, None, None, None] * 18).astype(np.int64)
    gaps = random.integers(300, 4_000, dims)
    communicate = (durations.sum((2, 3)) * random.uniform(0.05, 0.25, dims[:2])).astype(np.int64)
    inner = (durations + gaps).reshape(*dims[:2], -1)
    mpi_ns = inner.sum(2) + communicate
    hdf5_ns = mpi_ns + random.integers(20_000, 90_000, dims[:2])
    begin = (checkpoint + 1) * 20_000_000_000 + random.integers(0, 3_000_000, shape.ranks)
    hdf5_start = begin[:, None] + np.cumsum(hdf5_ns + 150_000, 1) - hdf5_ns - 150_000
    mpi_start = hdf5_start + 9_000
    start = (mpi_start + communicate)[:, :, None] + np.cumsum(inner, 2) - inner
    rank = np.arange(shape.ranks)
    variable_bytes = shape.cycles * SIEVE - 3_000
    part = (np.arange(shape.variables)[None, :] * shape.ranks + rank[:, None]) * variable_bytes + 2048
    file = 1 + checkpoint

    def upper(
        level: str, call: str, begins: npt.NDArray[np.int64], lasts: npt.NDArray[np.int64], own: npt.NDArray[np.int64]
    ) -> pa.Table:
        rows = begins.size
        parent = level == "mpiio"
        return _table(
            {
                "process": np.repeat(rank, shape.variables),
                "thread": np.zeros(rows, np.int32),
                "level": [level] * rows,
                "call": [call] * rows,
                "kind": ["write"] * rows,
                "parent_level": ["hdf5" if parent else None] * rows,
                "parent_call": ["H5Dwrite" if parent else None] * rows,
                "file": np.full(rows, file),
                "offset": part.ravel(),
                "bytes": np.full(rows, variable_bytes),
                "moved": np.full(rows, variable_bytes),
                "start_ns": begins.ravel(),
                "duration_ns": lasts.ravel(),
                "self_ns": own.ravel(),
            }
        )

    rows = start.size
    offsets = part[:, :, None] + np.repeat(np.arange(shape.cycles), 4)[None, None, :] * SIEVE
    moved = np.tile(np.array([0, SIEVE, SIEVE, 0]), rows // 4)
    moved[1::4] = np.where(random.random(rows // 4) < 0.8, 0, SIEVE)  # new data: nothing to read
    posix = _table(
        {
            "process": np.repeat(rank, rows // shape.ranks),
            "thread": np.zeros(rows, np.int32),
            "level": ["posix"] * rows,
            "call": [name for name, _ in CYCLE] * (rows // 4),
            "kind": [kind for _, kind in CYCLE] * (rows // 4),
            "parent_level": ["mpiio"] * rows,
            "parent_call": ["MPI_File_write_at_all"] * rows,
            "file": np.full(rows, file),
            "offset": offsets.ravel(),
            "bytes": np.full(rows, SIEVE),
            "moved": moved,
            "start_ns": start.ravel(),
            "duration_ns": durations.ravel(),
            "self_ns": durations.ravel(),
        }
    )
    return pa.concat_tables(
        [
            upper("hdf5", "H5Dwrite", hdf5_start, hdf5_ns, hdf5_ns - mpi_ns),
            upper("mpiio", "MPI_File_write_at_all", mpi_start, mpi_ns, communicate),
            posix,
        ]
    )


def _own_files(shape: Shape, checkpoint: int) -> pa.Table:
    """A write and an fsync per rank and variable, into the rank's own file."""
    random = np.random.default_rng([shape.seed, checkpoint, 3])
    dims = (shape.ranks, shape.variables, 2)
    durations = (random.lognormal(0, 0.4, dims) * [4_000_000, 9_000_000]).astype(np.int64)
    start = (checkpoint + 1) * 20_000_000_000 + np.cumsum(durations.reshape(shape.ranks, -1) + 2_000, 1)
    rows = durations.size
    return _table(
        {
            "process": np.repeat(np.arange(shape.ranks), rows // shape.ranks),
            "thread": np.zeros(rows, np.int32),
            "level": ["posix"] * rows,
            "call": ["write", "fsync"] * (rows // 2),
            "kind": ["write", "sync"] * (rows // 2),
            "file": np.repeat(np.arange(shape.ranks), rows // shape.ranks) + 1,
            "offset": np.tile([checkpoint * STRIPE, -1], rows // 2),
            "bytes": np.tile([STRIPE, 0], rows // 2),
            "moved": np.tile([STRIPE, 0], rows // 2),
            "start_ns": start.ravel(),
            "duration_ns": durations.ravel(),
            "self_ns": durations.ravel(),
        }
    )


def _startup(shape: Shape) -> pa.Table:
    """Each rank looks for its input and reads it; rank 0 writes a log now and then."""
    per_rank = [
        ("stat", "stat", 0, 40_000),
        ("openat", "open", 0, 900_000),
        ("read", "read", 65_536, 700_000),
        ("close", "close", 0, 90_000),
    ]
    random = np.random.default_rng([shape.seed, 4])
    rows = shape.ranks * len(per_rank)
    durations = (random.lognormal(0, 0.5, (shape.ranks, len(per_rank))) * [d for *_, d in per_rank]).astype(np.int64)
    start = 500_000_000 + np.cumsum(durations + 30_000, 1)
    sizes = [moved for _, _, moved, _ in per_rank] * shape.ranks
    posix = _table(
        {
            "process": np.repeat(np.arange(shape.ranks), len(per_rank)),
            "thread": np.zeros(rows, np.int32),
            "level": ["posix"] * rows,
            "call": [call for call, *_ in per_rank] * shape.ranks,
            "kind": [kind for _, kind, *_ in per_rank] * shape.ranks,
            "file": np.zeros(rows, np.int32),
            "offset": np.zeros(rows, np.int64),
            "bytes": np.array(sizes),
            "moved": np.array(sizes),
            "start_ns": start.ravel(),
            "duration_ns": durations.ravel(),
            "self_ns": durations.ravel(),
        }
    )
    lines = 12 * shape.checkpoints
    # While it computes, never during a checkpoint.
    line = np.arange(lines)
    times = line // 12 * 20_000_000_000 + 12_000_000_000 + line % 12 * 500_000_000
    log = _table(
        {
            "process": np.zeros(lines, np.int32),
            "thread": np.zeros(lines, np.int32),
            "level": ["stdio"] * lines,
            "call": ["fprintf"] * lines,
            "kind": ["write"] * lines,
            "file": np.full(lines, len(_files(shape)) - 1),
            "bytes": np.full(lines, 81),
            "offset": line // 50 * 4096,
            "moved": np.where(line % 50 == 49, 4096, 0),  # what stdio's buffer holds
            "start_ns": times,
            "duration_ns": np.full(lines, 2_100),
            "self_ns": np.full(lines, 2_100),
        }
    )
    return pa.concat_tables([posix, log])


def _setup(shape: Shape) -> pa.Table:
    """MPI_Init and MPI_Finalize of each rank, which take longer than any of its I/O."""
    rows = 2 * shape.ranks
    return _table(
        {
            "process": np.repeat(np.arange(shape.ranks), 2),
            "thread": np.zeros(rows, np.int32),
            "level": ["mpiio"] * rows,
            "call": ["MPI_Init", "MPI_Finalize"] * shape.ranks,
            "kind": ["control"] * rows,
            "start_ns": np.tile([1_000_000, shape.duration_ns - 400_000_000], shape.ranks),
            "duration_ns": np.full(rows, 300_000_000),
            "self_ns": np.full(rows, 300_000_000),
        }
    )


def _processes(shape: Shape, calls: pa.Table) -> list[dict[str, object]]:
    counts = np.bincount(calls["process"].to_numpy(), minlength=shape.ranks)
    return [
        {
            "process": rank,
            "rank": rank if shape.mpi else None,
            "host": f"node{1 + rank // 16:03d}",
            "pid": 4000 + rank,
            "start_ns": 0,
            "end_ns": shape.duration_ns,
            "ended": "exit",
            "calls": int(counts[rank]),
            "lost": 3 if rank == 5 else 0,
        }
        for rank in range(shape.ranks)
    ]


def _files(shape: Shape) -> list[dict[str, object]]:
    paths = ["/home/ada/sedov/sedov.par"]
    if shape.mpi:
        paths += [f"/scratch/ada/sedov/sedov_hdf5_chk_{i:04d}" for i in range(shape.checkpoints)]
    else:
        paths += [f"/scratch/ada/sedov/state.{rank:05d}" for rank in range(shape.ranks)]
    paths.append("/scratch/ada/sedov/sedov.log")
    return [
        {
            "file": index,
            "path": path,
            "filesystem": "nfs" if path.startswith("/home") else "lustre",
            "block_bytes": 4096,
            "stripe_bytes": None if path.startswith("/home") or not shape.mpi else STRIPE,
            "servers": None
            if path.startswith("/home") or not shape.mpi
            else [SERVERS[(index + i) % len(SERVERS)] for i in range(4)],
        }
        for index, path in enumerate(paths)
    ]


def _facts(shape: Shape) -> list[dict[str, object]]:
    facts = {"environment.SLURM_JOB_NAME": "418-sedov"}
    if shape.mpi:
        facts |= {
            "mpi.library": "Open MPI 4.1.4",
            "mpi.hint.romio_ds_write": "automatic",
            "mpi.hint.romio_cb_write": "disable",
            "mpi.hint.ind_wr_buffer_size": "524288",
            "hdf5.version": "1.10.8",
        }
    return [{"key": key, "value": value} for key, value in facts.items()]


def _absences() -> list[dict[str, object]]:
    return [
        {
            "process": 5,
            "what": "lost",
            "subject": "full buffer",
            "count": 3,
            "detail": "3 calls of rank 5 were made while its buffer was full.",
        },
        {
            "what": "not-seen",
            "subject": "mmap stores",
            "count": None,
            "detail": "Stores to mapped files are no calls; 2 files were mapped.",
        },
    ]
