"""Bytes read again, and bytes read to be overwritten."""

import pytest
from observe.analysis.conftest import Ask
from observe.analysis.random_trace import random_trace
from observe.synthetic import MIB, Call, Trace

from halcyon.observe.analysis.settings import Settings


def test_rereads_by_oneself_and_after_others_are_told_apart(ask: Ask) -> None:
    trace = Trace(2)
    file = trace.file("/scratch/input")
    for rank in range(2):
        trace.read(rank, file, 0, 3 * MIB, 10 + 20 * rank, 5)
        trace.read(rank, file, 0, MIB, 16 + 20 * rank, 5)
    (found,) = ask(trace).revisits.rereads
    assert (found.own_bytes, found.others_bytes) == (2 * MIB, 3 * MIB)
    assert found.at_least == 5 * MIB


def test_a_write_in_between_makes_a_read_new(ask: Ask) -> None:
    trace = Trace(1)
    file = trace.file("/scratch/state")
    trace.read(0, file, 0, MIB, 0, 1)
    trace.write(0, file, 0, MIB, 2, 1)
    trace.read(0, file, 0, MIB, 4, 1)
    assert ask(trace).revisits.rereads == []


def slow_rereads(calls: list[Call], file: int) -> tuple[int, int]:
    """4 bytes at a time: read by this process (by any other) since the last write to the file."""
    by_whom: dict[int, set[int]] = {}
    own = others = 0
    for call in sorted(calls, key=lambda call: call.start_ns):
        if call.file != file or call.level == "mpiio" or not call.moved:
            continue
        if call.kind == "write":
            by_whom = {}
        elif call.kind == "read":
            assert call.offset is not None
            for block in range(call.offset, call.offset + call.moved, 4):
                known = by_whom.setdefault(block, set())
                own += 4 * (call.process in known)
                others += 4 * (bool(known) and call.process not in known)
                known.add(call.process)
    return own, others


@pytest.mark.parametrize("seed", range(4))
def test_rereads_are_those_of_an_obvious_implementation(ask: Ask, seed: int) -> None:
    trace = random_trace(seed)
    found = {one.file: (one.own_bytes, one.others_bytes) for one in ask(trace).revisits.rereads}
    for file in range(len(trace.files)):
        assert found.get(file, (0, 0)) == slow_rereads(trace.calls, file)


def test_cycles_are_counted_with_their_locks_and_makers(ask: Ask) -> None:
    trace = Trace(2)
    file = trace.file("/scratch/table")
    for rank in range(2):
        trace.add(rank, "posix", "fcntl", "lock", 100, 1, file=file)
        trace.read(rank, file, rank * MIB, MIB, 101, 5)
        trace.write(rank, file, rank * MIB, MIB, 108, 5)
        trace.add(rank, "posix", "fcntl", "unlock", 120, 1, file=file)
        trace.read(rank, file, 10 * MIB, 100, 130, 1)
        trace.write(rank, file, 10 * MIB + 50, 100, 132, 1)  # overlaps, unlocked
        trace.read(rank, file, 20 * MIB, 100, 140, 1)
        trace.write(rank, file, 20 * MIB + 100, 100, 142, 1)  # beside it
    (found,) = ask(trace).revisits.cycles
    assert (found.inside, found.cycles, found.locked, found.ranks) == (None, 4, 2, [0, 1])
    assert found.bytes_read == 2 * (MIB + 100)
    assert found.read_s == pytest.approx(2 * 0.006)
    assert found.lock_s == pytest.approx(0.004)


def test_what_is_examined_is_bounded_and_said(ask: Ask) -> None:
    trace = Trace(4)
    file = trace.file("/scratch/input")
    for rank in range(4):
        for piece in range(50):
            trace.read(rank, file, 0, MIB, piece * 10, 5)
    revisits = ask(trace, Settings(examined_calls=120)).revisits
    assert (revisits.candidates, revisits.examined) == (200, 100)
    (found,) = revisits.rereads
    assert found.bytes == 100 * MIB
    assert found.at_least == 199 * MIB  # of all calls: from sums


def test_one_large_pair_is_examined_in_part(ask: Ask) -> None:
    trace = Trace(1)
    file = trace.file("/scratch/input")
    for piece in range(50):
        trace.read(0, file, 0, MIB, piece * 10, 5)
    assert ask(trace, Settings(examined_calls=20)).revisits.examined == 20
