"""What is wrong is found, with its cost; what is right is left alone."""

from collections.abc import Callable

import pytest
from observe.analysis import scenarios
from observe.analysis.conftest import Ask, FindingsOf, finding_of, is_found, pick
from observe.synthetic import MIB, Trace

from halcyon.observe.analysis.settings import Settings
from halcyon.observe.findings import Span, findings


@pytest.mark.parametrize("run", [scenarios.healthy, scenarios.collective])
def test_a_healthy_run_has_no_findings(findings_of: FindingsOf, run: Callable[[], Trace]) -> None:
    assert findings_of(run) == []


def test_a_run_without_calls_has_no_findings(ask: Ask) -> None:
    assert findings(ask(Trace(2))) == []


@pytest.mark.parametrize(
    ("run", "key"),
    [
        (scenarios.sieving, "data-sieving-new-data"),
        (scenarios.small_writes, "small-writes"),
        (scenarios.misaligned, "misaligned-writes"),
        (scenarios.metadata_storm, "metadata-storm"),
        (scenarios.slow_rank, "slow-rank-write"),
        (scenarios.slow_server, "slow-server"),
        (scenarios.uneven_servers, "uneven-servers"),
        (scenarios.frequent_sync, "frequent-sync"),
        (scenarios.rank_0_writes, "one-rank-writes"),
        (scenarios.all_read_the_same, "redundant-reads"),
        (scenarios.updates_in_place, "read-modify-write"),
    ],
)
def test_what_is_wrong_is_found_and_nothing_else(findings_of: FindingsOf, run: Callable[[], Trace], key: str) -> None:
    every = findings_of(run)
    assert [one.key for one in every] == [key]
    assert every[0].severity == "high"


def test_small_interleaved_pieces_are_small_too(findings_of: FindingsOf) -> None:
    keys = [one.key for one in findings_of(scenarios.interleaved)]
    assert keys == ["collective-buffering-write", "small-writes"]


def test_sieving_of_new_data_costs_its_reads_and_locks(findings_of: FindingsOf) -> None:
    one = pick(findings_of(scenarios.sieving), "data-sieving-new-data")
    cycles = 10 * 4 * 5
    assert one.seconds_lost == pytest.approx(cycles * (0.006 + 0.002 + 0.001))
    assert one.calls == cycles
    assert one.bytes == cycles * 3 // 4 * MIB // 2
    evidence = {each.key: each.value for each in one.evidence}
    assert evidence["empty_read_calls"] == 50
    assert "romio_ds_write=disable" in one.change
    assert (one.files, one.ranks) == ([0], [0, 1, 2, 3])


def test_starting_mpi_takes_no_part_in_the_time_that_findings_are_measured_by(ask: Ask) -> None:
    trace = scenarios.sieving()
    trace.add(0, "mpiio", "MPI_Init_thread", "control", 10_000, 600_000)
    assert ask(trace).io_s == pytest.approx(ask(scenarios.sieving()).io_s)


def test_sieving_of_a_file_in_use_is_told_apart(findings_of: FindingsOf) -> None:
    keys = {one.key for one in findings_of(scenarios.sieving, fresh=False)}
    assert "data-sieving" in keys
    assert "data-sieving-new-data" not in keys


def test_sieving_of_a_file_that_is_written_twice_is_an_update(ask: Ask) -> None:
    trace = scenarios.sieving()
    again = scenarios.sieving()
    for call in again.calls:
        call.start_ns += 3_000_000_000
    trace.calls += again.calls
    keys = {one.key for one in findings(ask(trace))}
    assert "data-sieving" in keys
    assert "data-sieving-new-data" not in keys


@pytest.mark.parametrize(
    ("piece", "key"),
    [(64, "data-sieving-small-pieces"), (16384, "data-sieving-new-data"), (None, "data-sieving-new-data")],
)
def test_pieces_that_a_call_each_would_make_slower_are_better_sieved(ask: Ask, piece: int | None, key: str) -> None:
    trace = scenarios.sieving()
    if piece is not None:
        trace.facts.append({"process": 0, "file": 0, "key": "mpi.view", "value": f"{piece} bytes every {4 * piece}"})
    found = [one for one in findings(ask(trace)) if one.key.startswith("data-sieving")]
    assert [one.key for one in found] == [key]
    assert ("Set the MPI-IO hint romio_ds_write=disable" in found[0].change) == (piece != 64)
    if piece == 64:
        assert "A cycle writes 8,192 pieces of 64 bytes at once, 2.44 µs for each" in found[0].explanation


def test_what_sieving_reads_is_no_ranks_reading(ask: Ask) -> None:
    trace = scenarios.sieving()
    for call in trace.calls:
        if call.kind == "read" and call.process != 0:
            call.moved = 0
    assert not [one for one in findings(ask(trace)) if one.key == "one-rank-reads"]


def test_collective_calls_without_buffering_need_the_hint(findings_of: FindingsOf) -> None:
    independent = pick(findings_of(scenarios.interleaved), "collective-buffering-write")
    collective = pick(findings_of(scenarios.interleaved, call="MPI_File_write_at_all"), "collective-buffering-write")
    assert "MPI_File_write_all" in independent.change
    assert "cb_nodes" in collective.change


def test_small_writes_are_measured_by_the_runs_own_large_ones(findings_of: FindingsOf) -> None:
    alone = pick(findings_of(scenarios.small_writes), "small-writes")
    assert alone.seconds_lost == pytest.approx(2.0 * (1 - 1000 / MIB))
    assert alone.estimate.startswith("at most")
    beside = pick(findings_of(scenarios.small_writes, with_large=True), "small-writes")
    assert beside.seconds_lost == pytest.approx(2.0 - 2_000_000 / 2e9, rel=1e-3)
    assert "2.00 GB/s" in beside.estimate


def test_misalignment_is_measured_by_the_runs_own_aligned_transfers(findings_of: FindingsOf) -> None:
    one = pick(findings_of(scenarios.misaligned), "misaligned-writes")
    assert one.seconds_lost == pytest.approx(120 * 0.010)
    assert one.files == [0]


def test_misalignment_in_one_stream_is_none_where_nothing_shows_a_cost(ask: Ask) -> None:
    assert not is_found(ask(scenarios.misaligned_in_turn(1)), "misaligned-writes")


def test_pieces_below_a_block_are_small_and_not_misaligned(ask: Ask) -> None:
    answers = ask(scenarios.below_a_block())
    assert is_found(answers, "small-writes")
    assert not is_found(answers, "misaligned-writes")


def test_small_pieces_that_cross_stripes_without_need_are_misaligned(ask: Ask) -> None:
    trace = Trace(2)
    file = trace.file("/scratch/table", block_bytes=MIB, stripe_bytes=MIB, servers=["ost1", "ost2"])
    for number in range(400):
        trace.write(number % 2, file, number * MIB + MIB - 100, 200, number * 3.0, 2)
    assert is_found(ask(trace), "misaligned-writes")


def test_misalignment_without_comparison_has_no_cost(ask: Ask) -> None:
    trace = scenarios.misaligned_in_turn(2)
    one = finding_of(ask(trace), "misaligned-writes")
    assert one.seconds_lost is None
    assert one.severity == "low"


def test_repeated_questions_are_told_from_many_files(findings_of: FindingsOf) -> None:
    repeated = pick(findings_of(scenarios.metadata_storm), "metadata-storm")
    # Of 50 rounds of open, stat and close by each of 4 ranks, 49 repeat.
    assert repeated.seconds_lost == pytest.approx(4 * 49 * 0.007)
    many = pick(findings_of(scenarios.metadata_storm, repeated=False), "metadata-storm")
    assert many.seconds_lost == pytest.approx(4 * 50 * 0.007)
    assert "Write fewer files: one for all ranks" in many.change


@pytest.mark.parametrize("repeated", [True, False])
def test_a_program_without_mpi_is_not_told_of_ranks(ask: Ask, repeated: bool) -> None:
    trace = scenarios.metadata_storm(repeated=repeated)
    trace.mpi = False
    change = finding_of(ask(trace), "metadata-storm").change
    assert "ranks" not in change
    assert "MPI" not in change


def test_a_slow_rank_is_named_with_its_node(findings_of: FindingsOf) -> None:
    one = pick(findings_of(scenarios.slow_rank), "slow-rank-write")
    assert one.ranks == [5]
    assert "Rank 5 on n1" in one.title
    assert "6 of 6" in one.title


def test_a_slow_server_is_named(findings_of: FindingsOf) -> None:
    one = pick(findings_of(scenarios.slow_server), "slow-server")
    assert "ost2" in one.title
    assert [each.key for each in findings_of(scenarios.slow_server)].count("slow-server") == 1
    # 4 ranks x 3 files x 8 writes of 50 ms that should take 10 ms
    assert one.seconds_lost == pytest.approx(4 * 3 * 8 * 0.040)


def test_all_but_one_sync_per_file_and_process_are_lost(findings_of: FindingsOf) -> None:
    one = pick(findings_of(scenarios.frequent_sync), "frequent-sync")
    assert one.seconds_lost == pytest.approx(2 * 49 * 0.012)


def test_one_aggregator_per_node_is_right(ask: Ask) -> None:
    trace = scenarios.collective()
    trace.hosts = ("n0",)
    for call in trace.calls:
        if call.level == "posix":
            assert call.inside is not None
    alone = [call for call in trace.calls if call.level == "mpiio" or call.process == 0]
    trace.calls = alone
    assert not is_found(ask(trace), "one-rank-writes")
    trace.hosts = ("n0", "n1")
    assert finding_of(ask(trace), "one-rank-writes").change.startswith("Set the MPI-IO hint cb_nodes")


def test_rereads_cost_their_share_of_the_reads(findings_of: FindingsOf) -> None:
    one = pick(findings_of(scenarios.all_read_the_same), "redundant-reads")
    assert one.bytes == 7 * 30 * MIB
    assert one.seconds_lost == pytest.approx(7 * 30 * 0.010)
    assert "MPI_Bcast" in one.change


def test_cycles_cost_their_reads_and_locks(findings_of: FindingsOf) -> None:
    one = pick(findings_of(scenarios.updates_in_place), "read-modify-write")
    assert one.calls == 160
    assert one.seconds_lost == pytest.approx(160 * (0.006 + 0.002))


def test_a_short_run_has_no_grave_findings(ask: Ask) -> None:
    trace = scenarios.small_writes()
    for call in trace.calls:
        call.start_ns, call.duration_ns = call.start_ns // 50, call.duration_ns // 50
    assert {one.severity for one in findings(ask(trace, Settings(worth_seconds=0)))} == {"low"}
    assert {one.severity for one in findings(ask(trace, Settings(worth_seconds=0, grave_seconds=0)))} == {"high"}


def test_what_costs_little_is_no_finding(ask: Ask) -> None:
    trace = scenarios.healthy()
    log = trace.file("/scratch/log")
    for line in range(500):
        trace.write(0, log, line * 80, 80, line * 60 + 3, 0.002)
    assert findings(ask(trace)) == []


def test_thresholds_are_settings(ask: Ask) -> None:
    answers = ask(scenarios.frequent_sync(), Settings(sync_share=0.99))
    assert not is_found(answers, "frequent-sync")


@pytest.mark.parametrize("name", ["worth_share", "worth_run_share", "worth_seconds"])
def test_each_bound_of_what_is_worth_a_line_counts(ask: Ask, name: str) -> None:
    bound = 1000.0 if name == "worth_seconds" else 0.99
    assert findings(ask(scenarios.frequent_sync(), Settings(**{name: bound}))) == []  # type: ignore[arg-type]


def test_what_is_grave_for_the_io_is_not_for_a_run_that_hardly_does_any(ask: Ask) -> None:
    whole = findings(ask(scenarios.frequent_sync()))[0]
    assert whole.severity == "high"
    # 1.2 s of two processes x 100 s
    part = findings(ask(scenarios.frequent_sync(), duration_ns=100_000_000_000))[0]
    assert (part.key, part.severity) == ("frequent-sync", "low")


def test_every_finding_says_all_that_is_asked_of_it(findings_of: FindingsOf) -> None:
    for run in (scenarios.sieving, scenarios.interleaved, scenarios.slow_server, scenarios.all_read_the_same):
        for one in findings_of(run):
            assert one.title
            assert one.explanation.endswith(".")
            assert one.change.endswith(".")
            assert one.estimate
            assert one.evidence


def test_findings_say_when_and_where_to_look_first(findings_of: FindingsOf) -> None:
    small = pick(findings_of(scenarios.small_writes, with_large=True), "small-writes")
    assert small.when == Span(0.0, 3.0 - 0.0005, None)  # not to the end of the run, where the large ones are
    assert small.worst == Span(0.0, 3.0 - 0.0005, 0)
    slow = pick(findings_of(scenarios.slow_rank), "slow-rank-write")
    assert slow.when is not None
    assert slow.worst is not None
    assert 0 < slow.when.start_s < 1
    assert slow.when.end_s > 25
    assert slow.worst.end_s - slow.worst.start_s < 5  # one phase of six
    server = pick(findings_of(scenarios.uneven_servers), "uneven-servers")
    assert server.when is not None
    assert server.when.start_s == 0
    assert server.when.end_s == pytest.approx(1.24, abs=0.01)  # a transfer counts when it begins


def test_every_finding_of_calls_says_when(findings_of: FindingsOf) -> None:
    for run in (scenarios.sieving, scenarios.interleaved, scenarios.misaligned, scenarios.metadata_storm):
        assert all(one.when is not None and one.worst is not None for one in findings_of(run))
    for run in (scenarios.frequent_sync, scenarios.rank_0_writes, scenarios.all_read_the_same):
        assert all(one.when is not None and one.worst is not None for one in findings_of(run))
    for run in (scenarios.updates_in_place, scenarios.slow_server):
        assert all(one.when is not None for one in findings_of(run))


def with_shared_pointer(opened: str | None = "shared") -> tuple[Trace, int, int]:
    """Small writes to a file, and to one beside it that MPI-IO wrote when it opened `opened`."""
    trace = Trace(2)
    shared, beside = trace.file("/scratch/shared"), trace.file("/tmp/session/shared_cid-0-19027.sm")
    file = {"shared": shared, "beside": beside}.get(opened or "")
    outer = trace.add(0, "mpiio", "MPI_File_open", "open", 0, 50, file=file)
    trace.add(0, "posix", "open", "open", 1, 1, file=beside, inside=outer)
    trace.write(0, beside, 0, 40, 3, 1, inside=outer)
    for number in range(200):
        trace.write(1, shared, number * 1000, 1000, 100 + number * 2.0, 1)
    return trace, shared, beside


def test_files_that_the_mpi_library_keeps_for_itself_are_not_listed(ask: Ask) -> None:
    trace, shared, _ = with_shared_pointer()
    assert finding_of(ask(trace), "small-writes").files == [shared]


@pytest.mark.parametrize("opened", ["beside", None])
def test_files_that_may_be_the_applications_are_listed(ask: Ask, opened: str | None) -> None:
    trace, shared, beside = with_shared_pointer(opened)
    assert finding_of(ask(trace), "small-writes").files == [shared, beside]


def test_a_file_that_the_application_reads_itself_is_listed(ask: Ask) -> None:
    trace, shared, beside = with_shared_pointer()
    trace.read(1, beside, 0, 40, 60, 1)
    assert finding_of(ask(trace), "small-writes").files == [shared, beside]
