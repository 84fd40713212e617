"""What MPI-IO calls are made of (Wright 2014, figures 4.8 to 4.10)."""

import pytest
from observe.analysis.conftest import Ask
from observe.analysis.random_trace import random_trace
from observe.synthetic import MIB, Trace

from halcyon.observe.analysis.decomposition import call_parts


def sieved(cycles: int = 5) -> Trace:
    """One write of 2.5 MiB in five cycles of lock, read, write, unlock, as in figure 4.9."""
    trace = Trace(2)
    file = trace.file("/scratch/flash.h5")
    for rank in range(2):
        outer = trace.mpi_write(rank, file, 0, 5 * MIB // 2, 100, 100, call="MPI_File_write_at_all")
        for cycle in range(cycles):
            at = 105 + cycle * 18
            offset, size = cycle * MIB // 2, MIB // 2
            trace.add(rank, "posix", "fcntl", "lock", at, 1, file=file, inside=outer)
            trace.read(rank, file, offset, size, at + 2, 6, inside=outer, moved=0 if rank else size)
            trace.write(rank, file, offset, size, at + 9, 4, inside=outer)
            trace.add(rank, "posix", "fcntl", "unlock", at + 14, 1, file=file, inside=outer)
    return trace


def test_shares_add_up_to_the_functions_time(ask: Ask) -> None:
    (shares,) = ask(sieved()).functions
    assert shares.function == "MPI_File_write_at_all"
    assert (shares.calls, shares.seconds) == (2, pytest.approx(0.2))
    assert (shares.lock_s, shares.read_s, shares.write_s, shares.unlock_s) == pytest.approx((0.01, 0.06, 0.04, 0.01))
    assert shares.communicate_s == pytest.approx(0.08)
    assert shares.other_s == 0


def test_shares_per_rank_tell_ranks_apart(ask: Ask) -> None:
    shares = ask(sieved()).functions_per_rank
    assert sorted(one.rank for one in shares if one.rank is not None) == [0, 1]
    assert all(one.read_s == pytest.approx(0.03) for one in shares)


def test_parts_tell_how_many_calls_one_call_makes(ask: Ask) -> None:
    parts = {(part.part, part.kind): part for part in ask(sieved()).parts}
    assert parts["pread", "read"].per_call == 5
    assert parts["fcntl", "lock"].calls == 10
    assert parts["pread", "read"].bytes == 5 * MIB // 2  # rank 1 read past the end


def test_an_example_is_the_longest_call_with_its_sequence(ask: Ask) -> None:
    trace = sieved()
    longer = trace.mpi_write(1, 0, 0, MIB, 500, 300, call="MPI_File_write_at_all")
    trace.write(1, 0, 0, MIB, 550, 200, inside=longer)
    (example,) = ask(trace).examples
    assert (example.rank, example.start_s, example.seconds) == (1, 0.5, 0.3)
    assert [(part.call, part.start_s, part.seconds) for part in example.parts] == [("pwrite", 0.05, 0.2)]


def test_an_example_descends_through_all_levels(ask: Ask) -> None:
    trace = Trace(1)
    file = trace.file("/scratch/a.h5")
    top = trace.add(0, "hdf5", "H5Dwrite", "write", 0, 20, file=file)
    middle = trace.mpi_write(0, file, 0, MIB, 1, 15, inside=top)
    trace.write(0, file, 0, MIB, 2, 10, inside=middle)
    answers = ask(trace)
    example = next(one for one in answers.examples if one.function == "H5Dwrite")
    assert [(part.depth, part.call) for part in example.parts] == [(1, "MPI_File_write_at"), (2, "pwrite")]
    shares = next(one for one in answers.functions if one.function == "H5Dwrite")
    assert (shares.write_s, shares.communicate_s) == pytest.approx((0.015, 0.005))


def test_parts_of_a_call_come_in_their_order(ask: Ask) -> None:
    answers = ask(sieved(2))
    rows = call_parts(answers.survey.dataset, 0, 0, 1).to_pyarrow().to_pylist()
    assert [row["kind"] for row in rows] == ["lock", "read", "write", "unlock"] * 2


@pytest.mark.parametrize("seed", range(3))
def test_shares_are_those_of_an_obvious_implementation(ask: Ask, seed: int) -> None:
    trace = random_trace(seed)
    (shares,) = ask(trace).functions
    made = [call for call in trace.calls if call.inside is not None]
    for kind, seconds in [("lock", shares.lock_s), ("read", shares.read_s), ("unlock", shares.unlock_s)]:
        assert seconds == pytest.approx(sum(call.duration_ns for call in made if call.kind == kind) / 1e9)
    outer = sum(call.duration_ns - call.children_ns for call in trace.calls if call.level == "mpiio")
    assert shares.communicate_s == pytest.approx(outer / 1e9)


def test_without_relations_nothing_is_taken_apart_and_no_time_counts_twice(ask: Ask) -> None:
    """As in Darshan's traces: calls of both levels, and nothing that tells which made which."""
    trace = sieved()
    trace.related = False
    answers = ask(trace)
    assert (answers.functions, answers.parts, answers.examples) == ([], [], [])
    assert answers.io_s == pytest.approx(0.2)
    assert next(one for one in answers.times if one.level == "mpiio").self_s is None
    assert answers.phases_of["write"][0].seconds == pytest.approx([0.1, 0.1])
    assert answers.files[0].seconds == pytest.approx(0.2)
