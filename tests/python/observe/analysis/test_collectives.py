"""Time that ranks lose to one another in collective calls."""

import pytest
from observe.analysis import scenarios
from observe.analysis.conftest import Ask, FindingsOf, finding_of, is_found
from observe.analysis.test_findings import pick
from observe.synthetic import MIB, Trace

from halcyon.observe.analysis.settings import Settings
from halcyon.observe.findings import findings


def test_waiting_for_the_last_rank_is_found_with_that_rank(findings_of: FindingsOf) -> None:
    one = pick(findings_of(scenarios.late_rank), "collective-wait")
    assert one.seconds_lost == pytest.approx(20 * 3 * 0.080)
    assert (one.ranks, one.files, one.calls) == ([3], [0], 80)
    assert one.worst is not None
    assert one.worst.end_s - one.worst.start_s == pytest.approx(0.125)
    assert "rank 3" in one.explanation


def test_ranks_that_come_together_wait_for_nobody(findings_of: FindingsOf) -> None:
    assert findings_of(scenarios.late_rank, late_ms=2.0) == []


def test_an_exchange_that_takes_longest_is_found(findings_of: FindingsOf) -> None:
    one = pick(findings_of(scenarios.late_rank, late_ms=0.0, own_ms=100.0), "collective-exchange")
    assert one.seconds_lost == pytest.approx(20 * 4 * 0.105)
    assert "collective-wait" not in {each.key for each in findings_of(scenarios.late_rank, late_ms=0.0, own_ms=100.0)}


@pytest.mark.parametrize("function", ["MPI_File_set_view", "MPI_File_set_size"])
def test_calls_that_move_nothing_exchange_nothing(ask: Ask, function: str) -> None:
    trace = Trace(2)
    file = trace.file("/scratch/shared")
    for step in range(20):
        for rank in range(2):
            trace.add(rank, "mpiio", function, "view", step * 500.0, 100, file=file, bytes=64)
    answers = ask(trace)
    assert answers.collectives.all[0].exchange_s == pytest.approx(20 * 2 * 0.1)
    assert {one.key for one in findings(answers)} == {"collective-setup"}


@pytest.mark.parametrize(("function", "kind"), [("MPI_File_set_view", "view"), ("MPI_File_preallocate", "resize")])
def test_waiting_in_calls_that_move_nothing_has_no_bytes(ask: Ask, function: str, kind: str) -> None:
    trace = Trace(2)
    file = trace.file("/scratch/shared")
    for step in range(20):
        for rank in range(2):
            trace.add(rank, "mpiio", function, kind, step * 500.0 + 80 * rank, 100 - 80 * rank, file=file, bytes=64)
    answers = ask(trace)
    assert answers.collectives.all[0].bytes == 0
    assert finding_of(answers, "collective-wait").bytes is None


def test_clocks_that_cannot_be_compared_tell_nobody_to_be_late(ask: Ask) -> None:
    trace = scenarios.late_rank()
    trace.hosts = ("n0", "n1")
    answers = ask(trace)
    assert not answers.collectives.comparable
    assert {one.key for one in findings(answers)} == {"mpiio-overhead-write"}


def test_the_error_of_clocks_is_no_waiting(ask: Ask) -> None:
    trace = scenarios.late_rank()
    trace.hosts, trace.clock_error_ns = ("n0", "n1"), 75_000_000
    (one,) = ask(trace).collectives.all
    assert one.waited_s == pytest.approx(20 * 3 * 0.005)


def test_calls_that_did_not_meet_are_not_taken_for_waiting(ask: Ask) -> None:
    trace = Trace(2)  # each opens the file for itself, one after the other
    file = trace.file("/scratch/own")
    for rank in range(2):
        outer = trace.add(rank, "mpiio", "MPI_File_open", "open", rank * 1000.0, 50, file=file)
        trace.add(rank, "posix", "open", "open", rank * 1000.0 + 5, 5, file=file, inside=outer)
    (one,) = ask(trace).collectives.all
    assert (one.turns, one.waited_s) == (1, 0.0)


def test_aggregators_that_write_for_all_are_as_it_should_be(ask: Ask) -> None:
    trace = scenarios.collective()
    trace.clock_error_ns = 0
    answers = ask(trace)
    (one,) = answers.collectives.all
    assert (one.ranks, one.turns, one.bytes) == (8, 40, 40 * 8 * 2 * MIB)
    assert one.communicate_s > one.exchange_s > 0
    assert findings(answers) == []


def test_an_aggregator_that_still_writes_is_not_waited_for(ask: Ask) -> None:
    answers = ask(scenarios.behind_the_aggregator())
    (one,) = answers.collectives.all
    assert one.communicate_s > 5.0
    assert one.waited_s == pytest.approx(19 * 3 * 0.0001)  # between two of its calls
    assert not is_found(answers, "collective-wait")


def test_what_an_aggregator_computes_between_its_calls_is_waited_for(findings_of: FindingsOf) -> None:
    one = pick(findings_of(scenarios.behind_the_aggregator, own_ms=80.0), "collective-wait")
    assert one.seconds_lost == pytest.approx(20 * 3 * 0.080 + 19 * 3 * 0.0001)
    assert one.ranks == [0]
    assert "I/O" not in one.change


def test_ranks_that_left_before_the_last_one_came_exchange_nothing_more(ask: Ask) -> None:
    (one,) = ask(scenarios.behind_the_aggregator()).collectives.all
    # Rank 0 has 19.9 ms of its own in each call, of which the others see 9.9 ms after it came.
    assert one.exchange_s == pytest.approx(20 * (0.0199 + 3 * 0.0099))


@pytest.mark.parametrize("inside_hdf5", [False, True])
def test_a_late_rank_that_is_in_mpiio_on_the_same_file_is_not_waited_for(ask: Ask, inside_hdf5: bool) -> None:
    trace = scenarios.late_rank()
    for step in range(20):
        for piece in (-2, 0, 1, 2):  # 30 ms of the 80 ms that rank 3 comes late; 10 ms more before that
            begin = step * 500.0 + 5 + piece * 10
            if begin < 0:
                continue
            outer = trace.add(3, "hdf5", "H5Dwrite", "write", begin, 10, file=0) if inside_hdf5 else None
            trace.mpi_write(3, 0, 0, 80, begin, 10, inside=outer)
    (one,) = ask(trace).collectives.all
    assert one.waited_s == pytest.approx(20 * 3 * 0.050)
    assert one.last_rank == 3


@pytest.mark.parametrize("level", ["posix", "stdio", "hdf5", "mpiio"])
def test_a_late_rank_that_is_in_other_io_is_waited_for(ask: Ask, level: str) -> None:
    trace = scenarios.late_rank()
    log = trace.file("/scratch/log")
    for step in range(20):
        trace.add(3, level, "write", "write", step * 500.0 + 5, 70, file=log, offset=0, bytes=80, moved=80)
    (one,) = ask(trace).collectives.all
    assert one.waited_s == pytest.approx(20 * 3 * 0.080)
    assert one.last_rank == 3


def test_what_hdf5_does_before_its_mpiio_call_is_waited_for(findings_of: FindingsOf) -> None:
    one = pick(findings_of(_filtering_before_writing), "collective-wait")
    assert one.seconds_lost == pytest.approx(20 * 3 * 0.080)
    assert one.ranks == [3]


def _filtering_before_writing() -> Trace:
    """Each rank is in H5Dwrite all the time; rank 3 compresses 80 ms longer than the others before it writes."""
    trace = Trace(4)
    file = trace.file("/scratch/shared")
    for step in range(20):
        for rank in range(4):
            begin, late = step * 500.0, 80.0 if rank == 3 else 0.0
            outer = trace.add(rank, "hdf5", "H5Dwrite", "write", begin, 130, file=file)
            call, offset = "MPI_File_write_at_all", (step * 4 + rank) * 4 * MIB
            inner = trace.mpi_write(rank, file, offset, 4 * MIB, begin + 5 + late, 125 - late, call=call, inside=outer)
            trace.write(rank, file, offset, 4 * MIB, begin + 89, 40, inside=inner)
    return trace


def test_calls_that_overlap_cover_their_union(ask: Ask) -> None:
    trace = scenarios.late_rank()
    for step in range(20):
        for begin, length in ((-10.0, 30.0), (0.0, 5.0), (10.0, 30.0), (70.0, 30.0)):  # of several threads
            at = max(step * 500.0 + begin, 0.0)
            trace.mpi_write(3, 0, 0, 80, at, length + min(step * 500.0 + begin, 0.0))
    (one,) = ask(trace).collectives.all
    assert one.waited_s == pytest.approx(20 * 3 * 0.030)


def test_the_bound_counts_all_calls_of_mpiio_that_are_looked_at(ask: Ask) -> None:
    trace = scenarios.late_rank()  # 80 collective calls
    for step in range(20):
        trace.mpi_write(0, 0, 0, 80, step * 500.0 + 300, 1)
    assert ask(trace, Settings(examined_calls=99)).collectives.all == []
    assert len(ask(trace, Settings(examined_calls=100)).collectives.all) == 1
