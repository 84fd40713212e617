"""Runs with one thing wrong each, and a healthy one. The numbers are invented."""

import os
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace

from observe.synthetic import MIB, Trace

KIB = 1024
SERVERS = ["ost0", "ost1", "ost2", "ost3"]


def healthy(ranks: int = 8, phases: int = 6) -> Trace:
    """File per process: open, 16 aligned writes of 4 MiB, one sync, close; times scatter a little."""
    chance = random.Random(4)
    trace = Trace(ranks, hosts=("n0", "n1", "n2", "n3"))
    config = trace.file("/scratch/config", servers=["ost0"])
    for rank in range(ranks):
        trace.read(rank, config, 0, 2000, 1, 0.1)
    for phase in range(phases):
        for rank in range(ranks):
            server = (rank + phase) % 4
            file = trace.file(f"/scratch/out.{phase}.{rank}", stripe_bytes=MIB, servers=[SERVERS[server]])
            at = phase * 5000.0 + 100
            trace.add(rank, "posix", "open", "open", at, 0.5, file=file)
            at += 1
            for piece in range(16):
                length = 20 * chance.uniform(0.9, 1.1)
                trace.write(rank, file, piece * 4 * MIB, 4 * MIB, at, length)
                at += length + 0.01
            trace.add(rank, "posix", "fsync", "sync", at, 10, file=file)
            trace.add(rank, "posix", "close", "close", at + 11, 0.2, file=file)
    return trace


def collective(ranks: int = 8) -> Trace:
    """A shared file, written collectively, by one aggregator per node with 4 MiB at a time."""
    trace = Trace(ranks, hosts=("n0", "n1", "n2", "n3"))
    file = trace.file("/scratch/shared", stripe_bytes=MIB, servers=SERVERS)
    for step in range(40):
        for rank in range(ranks):
            start = step * 500.0
            outer = trace.mpi_write(
                rank, file, (step * ranks + rank) * 2 * MIB, 2 * MIB, start, 60, call="MPI_File_write_at_all"
            )
            if rank < 4:
                trace.write(rank, file, (step * 4 + rank) * 4 * MIB, 4 * MIB, start + 20, 35, inside=outer)
    return trace


def sieving(*, fresh: bool = True) -> Trace:
    """Independent strided writes through MPI-IO, in cycles of lock, read, write, unlock."""
    trace = Trace(4)
    file = trace.file("/scratch/flash.h5", stripe_bytes=MIB, servers=SERVERS)
    for write in range(10):
        for rank in range(4):
            start = write * 200.0
            offset = (write * 4 + rank) * 5 * MIB // 2
            if not fresh:
                trace.add(rank, "mpiio", "MPI_File_read_at", "read", start - 20, 5, file=file, offset=offset, bytes=MIB)
            outer = trace.mpi_write(rank, file, offset, 5 * MIB // 2, start, 100)
            for cycle in range(5):
                at = start + 2 + cycle * 19
                where, size = offset + cycle * MIB // 2, MIB // 2
                trace.add(rank, "posix", "fcntl", "lock", at, 2, file=file, inside=outer)
                trace.read(rank, file, where, size, at + 2, 6, inside=outer, moved=0 if rank == 3 else size)
                trace.write(rank, file, where, size, at + 9, 6, inside=outer)
                trace.add(rank, "posix", "fcntl", "unlock", at + 16, 1, file=file, inside=outer)
    return trace


def interleaved(call: str = "MPI_File_write_at", ranks: int = 8) -> Trace:
    """Each rank writes its own 32 KiB pieces of a shared file, round robin."""
    trace = Trace(ranks, hosts=("n0", "n1"))
    file = trace.file("/scratch/shared", stripe_bytes=MIB, servers=SERVERS)
    for piece in range(320 // ranks):
        for rank in range(ranks):
            offset = (piece * ranks + rank) * 32 * KIB
            outer = trace.mpi_write(rank, file, offset, 32 * KIB, piece * 10.0, 6, call=call)
            trace.write(rank, file, offset, 32 * KIB, piece * 10.0 + 1, 4, inside=outer)
    return trace


def small_writes(*, with_large: bool = False) -> Trace:
    """2000 writes of 1000 bytes, a millisecond each; on request, large ones beside them that reach 2 GB/s."""
    trace = Trace(1)
    file = trace.file("/scratch/table", block_bytes=None)
    for number in range(2000):
        trace.write(0, file, number * 1000, 1000, number * 1.5, 1)
    if with_large:
        other = trace.file("/scratch/field")
        for number in range(20):
            trace.write(0, other, number * 4 * MIB, 4 * MIB, 5000 + number * 3, 4 * MIB / 2e6)
    return trace


def misaligned() -> Trace:
    """1 MiB writes behind a header of 100 bytes; they take twice as long as the aligned ones of another file."""
    trace = Trace(2)
    files = [trace.file(f"/scratch/{n}", stripe_bytes=MIB, servers=SERVERS) for n in range(2)]
    for number in range(120):
        trace.write(0, files[0], 100 + number * MIB, MIB, number * 30.0, 20)
        trace.write(1, files[1], number * MIB, MIB, number * 30.0, 10)
    return trace


def below_a_block() -> Trace:
    """Two ranks write every second piece of 64 bytes; pieces on a block's border happen to take half as long."""
    trace = Trace(2)
    file = trace.file("/scratch/table")
    for number in range(64 * 64):
        offset = number * 64
        trace.write(number % 2, file, offset, 64, number * 3.0, 1 if offset % 4096 == 0 else 2)
    return trace


def metadata_storm(*, repeated: bool = True) -> Trace:
    """Each rank opens, asks and closes again and again (or many files), and writes a little."""
    trace = Trace(4)
    files = [trace.file(f"/scratch/{n}") for n in range(1 if repeated else 200)]
    for number in range(50):
        for rank in range(4):
            at = number * 30.0
            file = files[0 if repeated else number * 4 + rank]
            trace.add(rank, "posix", "open", "open", at, 4, file=file)
            trace.add(rank, "posix", "stat", "stat", at + 5, 2, file=file)
            if number % 10 == 0:
                trace.write(rank, file, rank * MIB, MIB, at + 8, 3)
            trace.add(rank, "posix", "close", "close", at + 12, 1, file=file)
    return trace


def slow_rank() -> Trace:
    """The healthy run, but rank 5 takes three times as long for each write."""
    trace = healthy()
    for call in trace.calls:
        if call.process == 5:
            base = (call.start_ns // 5_000_000_000) * 5_000_000_000
            call.start_ns = base + (call.start_ns - base) * 3
            call.duration_ns *= 3
    return trace


def slow_by_its_flags(flags: int, *, all_ranks: bool = False) -> Trace:
    """The run with a slow rank, but that rank (or each) opened its files with these flags."""
    trace = slow_rank()
    for call in trace.calls:
        if call.kind == "open":
            call.argument = os.O_WRONLY | os.O_CREAT | (flags if all_ranks or call.process == 5 else 0)
    return trace


def slow_by_its_calls(pieces: int = 8) -> Trace:
    """The run with a slow rank, but that rank writes the same bytes in more calls."""
    trace = slow_rank()
    for call in [call for call in trace.calls if call.process == 5 and call.kind == "write"]:
        assert call.bytes is not None
        assert call.offset is not None
        call.bytes = call.moved = call.bytes // pieces
        call.duration_ns //= pieces
        for piece in range(1, pieces):
            part = replace(call, start_ns=call.start_ns + piece * call.duration_ns)
            part.offset = call.offset + piece * call.bytes
            trace.calls.append(part)
    return trace


def synchronous(flags: int = os.O_DSYNC, *, others: bool = False) -> Trace:
    """100 writes of 64 KiB, each of which waits 12 ms for the device; on request, as many that do not, in 1 ms."""
    trace = Trace(1)
    for waits in (True, False) if others else (True,):
        file = trace.file(f"/scratch/{'log' if waits else 'field'}")
        opened = os.O_WRONLY | os.O_CREAT | (flags if waits else 0)
        trace.add(0, "posix", "open", "open", 5000.0 * (not waits), 0.1, file=file, argument=opened)
        for number in range(100):
            begin = 5000.0 * (not waits) + 1 + number * 20.0
            trace.write(0, file, number * 64 * KIB, 64 * KIB, begin, 12 if waits else 1)
    return trace


def slow_server() -> Trace:
    """Writes to files on ost2 take five times as long."""
    trace = Trace(4)
    for rank in range(4):
        for number in range(12):
            file = trace.file(f"/scratch/{rank}.{number}", stripe_bytes=MIB, servers=[SERVERS[number % 4]])
            for piece in range(8):
                length = 50 if number % 4 == 2 else 10
                trace.write(rank, file, piece * MIB, MIB, number * 1000 + piece * 60, length)
    return trace


def uneven_servers() -> Trace:
    """All large files begin and end on ost1."""
    trace = Trace(4)
    trace.write(0, trace.file("/scratch/small", servers=SERVERS, stripe_bytes=MIB), 0, 4 * MIB, 0, 10)
    for rank in range(4):
        file = trace.file(f"/scratch/{rank}", stripe_bytes=MIB, servers=["ost1"])
        for piece in range(20):
            trace.write(rank, file, piece * 4 * MIB, 4 * MIB, 100 + piece * 60, 50)
    return trace


def frequent_sync() -> Trace:
    """A sync after each write of 1 MiB."""
    trace = Trace(2)
    for rank in range(2):
        file = trace.file(f"/scratch/{rank}")
        for number in range(50):
            trace.write(rank, file, number * MIB, MIB, number * 20.0, 2)
            trace.add(rank, "posix", "fsync", "sync", number * 20.0 + 3, 12, file=file)
    return trace


def rank_0_writes() -> Trace:
    """Rank 0 of 8 writes for all."""
    trace = Trace(8, hosts=("n0", "n1"))
    file = trace.file("/scratch/gathered", stripe_bytes=MIB, servers=SERVERS)
    for number in range(60):
        trace.write(0, file, number * 4 * MIB, 4 * MIB, number * 30.0, 25)
    return trace


def all_read_the_same() -> Trace:
    """Each of 8 ranks reads the whole input."""
    trace = Trace(8, hosts=("n0", "n1"))
    file = trace.file("/scratch/input", stripe_bytes=MIB, servers=SERVERS)
    for rank in range(8):
        for piece in range(30):
            trace.read(rank, file, piece * MIB, MIB, piece * 20.0, 10)
    return trace


def updates_in_place() -> Trace:
    """Reads each record, changes it, writes it back, under a lock."""
    trace = Trace(2)
    file = trace.file("/scratch/records")
    for rank in range(2):
        for number in range(80):
            at, offset = number * 20.0, (rank * 80 + number) * MIB
            trace.add(rank, "posix", "fcntl", "lock", at, 1, file=file)
            trace.read(rank, file, offset, MIB, at + 1, 6)
            trace.write(rank, file, offset, MIB, at + 8, 6)
            trace.add(rank, "posix", "fcntl", "unlock", at + 15, 1, file=file)
    return trace


def late_rank(late_ms: float = 80.0, *, own_ms: float = 0.0) -> Trace:
    """A collective write in which rank 3 of 4 begins `late_ms` after the others; `own_ms` more of exchange in each."""
    trace = Trace(4)
    file = trace.file("/scratch/shared", stripe_bytes=MIB, servers=SERVERS)
    for step in range(20):
        for rank in range(4):
            begin = step * 500.0 + (late_ms if rank == 3 else 0.0)
            end = step * 500.0 + late_ms + own_ms + 45
            offset = (step * 4 + rank) * 4 * MIB
            outer = trace.mpi_write(rank, file, offset, 4 * MIB, begin, end - begin, call="MPI_File_write_at_all")
            trace.write(rank, file, offset, 4 * MIB, end - 41, 40, inside=outer)
    return trace


def behind_the_aggregator(own_ms: float = 0.0) -> Trace:
    """Collective writes whose one aggregator, rank 0 of 4, writes for 80 ms what the others handed over within 10 ms.

    The others are in the next call while it is still in the last one; before each call it computes for `own_ms`.
    """
    trace = Trace(4)
    file = trace.file("/scratch/shared", stripe_bytes=MIB, servers=SERVERS)
    period = 100 + own_ms
    for step in range(20):
        for rank in range(4):
            offset, call = (rank * 20 + step) * 4 * MIB, "MPI_File_write_at_all"
            if rank:
                begin = 0.0 if step == 0 else (step - 1) * period + own_ms + 10.0
                end = step * period + own_ms + 9.9
                trace.mpi_write(rank, file, offset, 4 * MIB, begin, end - begin, call=call)
                continue
            begin = step * period + own_ms
            outer = trace.mpi_write(0, file, offset, 4 * MIB, begin, 99.9, call=call)
            for piece in range(4):
                at = begin + 12 + piece * 20
                trace.write(0, file, (piece * 20 + step) * 4 * MIB, 4 * MIB, at, 20, inside=outer)
    return trace


def time_inside_mpiio(call: str = "MPI_File_write_at", hosts: Sequence[str] = ("n0",)) -> Trace:
    """Each write of MPI-IO takes 172 ms, the write of the file that it makes one."""
    trace = Trace(2, hosts=hosts)
    file = trace.file("/scratch/shared", stripe_bytes=MIB, servers=SERVERS)
    for step in range(20):
        for rank in range(2):
            offset, begin = (step * 2 + rank) * 4 * MIB, step * 200.0
            outer = trace.mpi_write(rank, file, offset, 4 * MIB, begin, 172, call=call)
            trace.write(rank, file, offset, 4 * MIB, begin + 170, 1, inside=outer)
    return trace


def opened_for_each_step(call: str = "MPI_File_open", times: int = 20, length_ms: float = 50.0) -> Trace:
    """Before each collective write of 10 ms, all ranks make another collective call that takes longer."""
    trace = Trace(4)
    file = trace.file("/scratch/shared", stripe_bytes=MIB, servers=SERVERS)
    for step in range(20):
        for rank in range(4):
            offset, begin = (step * 4 + rank) * 4 * MIB, step * 200.0
            if step < times:
                kind = "open" if call == "MPI_File_open" else "view"
                trace.add(rank, "mpiio", call, kind, begin, length_ms, file=file)
            outer = trace.mpi_write(
                rank, file, offset, 4 * MIB, begin + length_ms + 1, 10, call="MPI_File_write_at_all"
            )
            trace.write(rank, file, offset, 4 * MIB, begin + length_ms + 2, 8, inside=outer)
    return trace


def reads_at(blocks: Iterable[int]) -> Trace:
    """Reads of 4 KiB in 5 ms each, at these blocks of one file."""
    trace = Trace(1)
    file = trace.file("/scratch/table")
    for number, block in enumerate(blocks):
        trace.read(0, file, block * 4 * KIB, 4 * KIB, number * 6.0, 5)
    return trace


def misaligned_in_turn(ranks: int) -> Trace:
    """1 MiB writes behind a header of 100 bytes, by `ranks` in turn; none is aligned."""
    trace = Trace(ranks)
    file = trace.file("/scratch/shared")
    for number in range(120):
        trace.write(number % ranks, file, 100 + number * MIB, MIB, number * 30.0, 20)
    return trace
