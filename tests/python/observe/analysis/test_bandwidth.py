"""Perceived and effective bandwidths (Wright 2014, section 4.1)."""

from collections.abc import Iterable
from itertools import pairwise

import pytest
from observe.analysis.conftest import Ask
from observe.analysis.random_trace import random_trace
from observe.synthetic import MIB, Call, Trace

from halcyon.observe.analysis.bandwidth import ALL, Bandwidth
from halcyon.observe.analysis.settings import Settings

# Wright 2014, tables B.1 to B.5: cores, perceived MPI, effective MPI, effective POSIX, all in MB/s.
APPENDIX_B = [
    (12, 34.920, 2.907, 11.105), (48, 57.940, 1.064, 2.335), (384, 61.051, 0.155, 0.244), (1536, 159.163, 0.102, 0.121),
    (1024, 246.878, 0.250, 2.398), (12, 207.496, 17.290, 33.002), (1536, 308.307, 0.201, 0.622),
    (32, 141.099, 4.421, 30.101), (1536, 129.882, 0.084, 0.106), (1, 680.528, 680.528, 1134.095),
    (256, 173.696, 0.678, 19.049), (4096, 118.793, 0.029, 0.585),
]  # fmt: skip


def whole(found: Iterable[Bandwidth], kind: str = "write") -> Bandwidth:
    return next(one for one in found if one.file is None and one.kind == kind)


@pytest.mark.parametrize(("cores", "perceived", "effective", "posix"), APPENDIX_B)
def test_published_figures_are_consistent_with_the_definitions(
    ask: Ask, cores: int, perceived: float, effective: float, posix: float
) -> None:
    """Calls that take the published times yield the published bandwidths, and the interval holds the perceived one.

    The union of the ranks' times is at least their mean, so that perceived is at most effective x ranks. Published
    figures are means over runs, each with its own confidence interval: on 48 cores they miss this bound by 13 %.
    """
    ranks = min(cores, 8)  # of `cores` ranks, so many are simulated
    trace = Trace(ranks)
    file = trace.file("/scratch/ior")
    megabyte = 1_000_000
    busy_ms = 1000 / effective  # each rank moves 1 MB
    wall_ms = max(1000 * ranks / (perceived * ranks / cores), busy_ms)
    for rank in range(ranks):
        start = (wall_ms - busy_ms) * rank / max(ranks - 1, 1)
        outer = trace.mpi_write(rank, file, rank * megabyte, megabyte, start, busy_ms)
        trace.write(rank, file, rank * megabyte, megabyte, start, min(1000 / posix, busy_ms), inside=outer)
    found = whole(ask(trace).bandwidths)
    assert found.effective_mpi == pytest.approx(effective * megabyte, rel=1e-3)
    assert found.effective_posix == pytest.approx(posix * megabyte, rel=1e-3)
    assert found.perceived_mpi is not None
    assert found.perceived_mpi == pytest.approx(perceived / cores * ranks * megabyte, rel=0.14)
    assert found.perceived_posix_low is not None
    assert found.perceived_posix_high is not None
    assert found.perceived_posix_low <= found.perceived_posix_high


def test_a_union_counts_time_once(ask: Ask) -> None:
    trace = Trace(2)
    file = trace.file("/scratch/shared")
    for rank in range(2):
        outer = trace.mpi_write(rank, file, rank * MIB, MIB, 10 + rank * 5, 10)
        trace.write(rank, file, rank * MIB, MIB, 12 + rank * 5, 5, inside=outer)
    found = whole(ask(trace).bandwidths)
    assert (found.mpi_bytes, found.mpi_s, found.mpi_wall_s) == (2 * MIB, 0.020, 0.015)
    assert found.perceived_mpi == pytest.approx(2 * MIB / 0.015)
    assert found.effective_mpi == pytest.approx(2 * MIB / 0.020)
    assert found.perceived_posix == pytest.approx(2 * MIB / 0.010)
    assert found.perceived_posix_high == pytest.approx(2 * 2 * MIB / 0.010)


def test_what_mpiio_did_not_move_is_not_bounded_by_its_times(ask: Ask) -> None:
    trace = Trace(1)
    shared, alone = trace.file("/scratch/shared"), trace.file("/scratch/alone")
    outer = trace.mpi_write(0, shared, 0, 8 * MIB, 0, 4)
    trace.write(0, shared, 0, 8 * MIB, 1, 3, inside=outer)
    trace.write(0, alone, 0, MIB, 10, 100)
    found = ask(trace).bandwidths
    assert (whole(found).perceived_posix_low, whole(found).bounds_from) == (None, None)
    bounded = next(one for one in found if one.file is not None and one.mpi_bytes and one.kind == "write")
    assert bounded.bounds_from == "MPI-IO"
    assert bounded.perceived_posix_low is not None
    assert bounded.perceived_posix_high is not None
    assert bounded.perceived_posix_low <= bounded.perceived_posix_high


def test_buffered_writes_count_when_they_reach_the_file(ask: Ask) -> None:
    trace = Trace(1, mpi=False)
    file = trace.file("/scratch/log")
    trace.add(0, "stdio", "fwrite", "write", 0, 1, file=file, bytes=80, moved=0)
    trace.add(0, "stdio", "fclose", "close", 2, 3, file=file, moved=80, offset=0)
    found = whole(ask(trace).bandwidths)
    assert (found.posix_bytes, found.posix_s) == (80, 0.003)


def test_what_stdio_moved_counts_not_what_it_was_asked_for(ask: Ask) -> None:
    trace = Trace(1, mpi=False)
    file = trace.file("/scratch/input")
    first = trace.add(0, "stdio", "fgets", "read", 0, 1, file=file, bytes=256)
    trace.read(0, file, 0, 349, 0, 1, inside=first)
    trace.add(0, "stdio", "fgets", "read", 2, 1, file=file, bytes=256)
    log = trace.file("/scratch/log")
    trace.add(0, "stdio", "fprintf", "write", 4, 1, file=log, bytes=9)
    last = trace.add(0, "stdio", "fclose", "close", 6, 1, file=log)
    trace.write(0, log, 0, 9, 6, 1, inside=last)
    answers = ask(trace)
    assert (whole(answers.bandwidths, "read").posix_bytes, whole(answers.bandwidths).posix_bytes) == (349, 9)
    assert {one.path: one.reads + one.writes for one in answers.files} == {"/scratch/input": 1, "/scratch/log": 1}
    assert [(one.kind, one.lower, one.calls) for one in answers.sizes] == [("read", 256, 1), ("write", 8, 1)]


def test_what_stdio_moves_for_mpi_s_start_is_left_out(ask: Ask) -> None:
    trace = Trace(1)
    file = trace.file("/etc/openmpi/openmpi-mca-params.conf")
    start = trace.add(0, "mpiio", "MPI_Init", "control", 0, 10)
    asked = trace.add(0, "stdio", "fgets", "read", 1, 1, file=file, bytes=256, inside=start)
    trace.read(0, file, 0, 4096, 1, 1, inside=asked)
    trace.write(0, trace.file("/scratch/out"), 0, MIB, 20, 1)
    answers = ask(trace)
    assert whole(answers.bandwidths, ALL).posix_bytes == MIB
    assert answers.survey.calls == 1


@pytest.mark.parametrize("related", [True, False])
def test_the_whole_run_is_mpiio_and_what_went_past_it(ask: Ask, related: bool) -> None:
    trace = Trace(2, related=related)
    shared, own = trace.file("/scratch/shared"), trace.file("/scratch/own")
    for rank in range(2):
        outer = trace.mpi_write(rank, shared, rank * MIB, MIB, 0, 100)
        trace.write(rank, shared, rank * MIB, 2 * MIB, 10, 50, inside=outer)  # sieved
        trace.write(rank, own, rank * 50 * MIB, 50 * MIB, 200, 100)
    found = {(one.file, one.kind): one for one in ask(trace).bandwidths}
    assert found[None, "write"].bytes == 2 * MIB + 100 * MIB
    assert found[None, "all"].bytes == 2 * MIB + 100 * MIB
    assert (found[shared, "write"].bytes, found[own, "write"].bytes) == (2 * MIB, 100 * MIB)
    assert found[shared, "write"].bounds_from == "MPI-IO"
    assert found[None, "write"].bounds_from is None, "MPI-IO's times bound nothing of what went past it"
    assert found[own, "write"].bounds_from is None


def test_waiting_for_transfers_belongs_to_all_but_to_no_direction(ask: Ask) -> None:
    trace = Trace(1)
    file = trace.file("/scratch/shared")
    trace.add(0, "mpiio", "MPI_File_iwrite_at", "write", 0, 1, file=file, offset=0, bytes=MIB)
    trace.add(0, "mpiio", "MPI_Wait", "wait", 5, 9, file=file)
    found = ask(trace).bandwidths
    assert whole(found).mpi_s == pytest.approx(0.001)
    assert whole(found, ALL).mpi_s == pytest.approx(0.010)


def test_calls_inside_calls_of_their_own_level_count_once(ask: Ask) -> None:
    trace = Trace(1)
    file = trace.file("/scratch/shared")
    outer = trace.mpi_write(0, file, 0, MIB, 0, 10, call="MPI_File_write_all")
    inner = trace.mpi_write(0, file, 0, MIB, 1, 8, call="MPI_File_write_at", inside=outer)
    posix = trace.write(0, file, 0, MIB, 2, 6, inside=inner)
    trace.write(0, file, 0, MIB, 3, 4, inside=posix)
    found = whole(ask(trace).bandwidths)
    assert (found.mpi_bytes, found.posix_bytes) == (MIB, MIB)
    assert (found.mpi_s, found.posix_s) == (0.010, 0.006)


def slow_union(calls: Iterable[Call]) -> int:
    """Nanosecond marks at which calls begin or end, and whether any is in progress between two of them."""
    own = list(calls)
    marks = sorted({time for call in own for time in (call.start_ns, call.end_ns)})
    return sum(
        after - before
        for before, after in pairwise(marks)
        if any(call.start_ns <= before and call.end_ns >= after for call in own)
    )


@pytest.mark.parametrize("seed", range(5))
def test_unions_are_those_of_an_obvious_implementation(ask: Ask, seed: int) -> None:
    trace = random_trace(seed)
    found = ask(trace).bandwidths
    for one in found:
        if one.kind == ALL:
            continue
        calls = [call for call in trace.calls if call.kind == one.kind and one.file in (None, call.file)]
        mpi = [call for call in calls if call.level == "mpiio"]
        low = [call for call in calls if call.level == "posix" or (call.level == "stdio" and call.moved)]
        # A buffered fwrite that moved nothing is no transfer.
        assert one.mpi_wall_s == pytest.approx(slow_union(mpi) / 1e9, abs=1e-9)
        assert one.mpi_bytes == sum(call.bytes or 0 for call in mpi)
        assert one.posix_bytes == sum(call.moved or 0 for call in low)
        assert one.posix_s == pytest.approx(sum(call.duration_ns for call in low) / 1e9)
        assert one.posix_wall_s == pytest.approx(slow_union(low) / 1e9, abs=1e-9)


def test_coarse_times_are_within_their_resolution(ask: Ask) -> None:
    trace = random_trace(7)
    exact = whole(ask(trace).bandwidths)
    answers = ask(trace, Settings(exact_calls=0, time_bins=10_000))
    coarse = whole(answers.bandwidths)
    steps = answers.survey.moments.count().to_pyarrow().as_py()
    assert exact.posix_wall_s <= coarse.posix_wall_s
    assert coarse.posix_wall_s <= exact.posix_wall_s + steps * answers.survey.resolution_ns / 1e9
    assert coarse.posix_s == exact.posix_s


def test_a_run_without_calls_has_no_bandwidth(ask: Ask) -> None:
    assert ask(Trace(1)).bandwidths == []


def test_mpis_start_and_end_are_no_io(ask: Ask) -> None:
    trace = Trace(1)
    shared_memory, file = trace.file("/dev/shm/mpi"), trace.file("/scratch/out")
    for name, at in (("MPI_Init", 0.0), ("MPI_Finalize", 500.0)):
        outer = trace.add(0, "mpiio", name, "control", at, 100)
        trace.write(0, shared_memory, 0, 7 * MIB, at + 10, 1, inside=outer)
    trace.write(0, file, 0, MIB, 200, 4)
    answers = ask(trace)
    assert (answers.survey.calls, answers.survey.setup_calls) == (1, 4)
    assert answers.io_s == pytest.approx(0.004)
    assert whole(answers.bandwidths).posix_bytes == MIB
    assert [one.path for one in answers.files] == ["/scratch/out"]
    assert answers.phases_of["all"][0].seconds == pytest.approx([0.004])
