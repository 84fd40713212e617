"""Traces at random, for comparisons with slow and obvious implementations."""

import random

from observe.synthetic import Trace

KIB = 1024


def random_trace(seed: int, ranks: int = 3, writes: int = 25) -> Trace:
    """MPI-IO writes made of POSIX calls, plain reads, stats and stdio, in bursts, on a shared file and others."""
    chance = random.Random(seed)
    trace = Trace(ranks, hosts=("n0", "n1"))
    shared = trace.file("/scratch/shared", stripe_bytes=64 * KIB, servers=["ost2", "ost0", "ost1"])
    own = [trace.file(f"/scratch/own.{rank}", block_bytes=None, servers=["ost1"]) for rank in range(ranks)]
    for rank in range(ranks):
        now = chance.uniform(0, 5)
        for number in range(writes):
            if number % 10 == 0:
                now += 2000
            now += chance.uniform(0, 3)
            now = _one(trace, chance, rank, shared, own[rank], now)
    return trace


def _one(trace: Trace, chance: random.Random, rank: int, shared: int, own: int, now: float) -> float:
    offset, size = chance.randrange(40) * 16 * KIB, chance.choice([100, 4 * KIB, 200 * KIB])
    length = chance.uniform(0.1, 4)
    match chance.randrange(5):
        case 0 | 1:
            outer = trace.mpi_write(rank, shared, offset, size, now, length)
            part = length / 5
            trace.add(rank, "posix", "fcntl", "lock", now + 0.1 * part, part, file=shared, inside=outer)
            trace.read(rank, shared, offset, size, now + 1.2 * part, part, inside=outer)
            trace.write(rank, shared, offset, size, now + 2.3 * part, part, inside=outer)
            trace.add(rank, "posix", "fcntl", "unlock", now + 3.4 * part, part, file=shared, inside=outer)
        case 2:
            trace.read(rank, chance.choice([shared, own]), offset, size, now, length)
        case 3:
            trace.add(rank, "posix", "stat", "stat", now, length, file=own)
        case 4:
            moved = chance.choice([0, 4096])
            trace.add(rank, "stdio", "fwrite", "write", now, length, file=own, offset=offset, bytes=80, moved=moved)
    return now + length
