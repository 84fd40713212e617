"""What is wrong is found, with its cost; what is right is left alone."""

from collections.abc import Callable

import pytest
from observe.analysis import scenarios
from observe.analysis.conftest import Ask
from observe.synthetic import MIB, Trace

from halcyon.observe.analysis.settings import Settings
from halcyon.observe.findings import Finding, findings


def found(ask: Ask, trace: Trace, key: str) -> Finding:
    every = {one.key: one for one in findings(ask(trace))}
    assert key in every, f"found only {sorted(every)}"
    return every[key]


@pytest.mark.parametrize("run", [scenarios.healthy, scenarios.collective])
def test_a_healthy_run_has_no_findings(ask: Ask, run: Callable[[], Trace]) -> None:
    assert findings(ask(run())) == []


def test_a_run_without_calls_has_no_findings(ask: Ask) -> None:
    assert findings(ask(Trace(2))) == []


@pytest.mark.parametrize(
    ("run", "key"),
    [
        (scenarios.sieving, "data-sieving-new-data"),
        (scenarios.interleaved, "collective-buffering-write"),
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
def test_the_gravest_finding_is_what_is_wrong(ask: Ask, run: Callable[[], Trace], key: str) -> None:
    every = findings(ask(run()))
    assert every[0].key == key, [(one.key, one.seconds_lost) for one in every]
    assert every[0].severity in ("high", "medium")


def test_sieving_of_new_data_costs_its_reads_and_locks(ask: Ask) -> None:
    one = found(ask, scenarios.sieving(), "data-sieving-new-data")
    cycles = 10 * 4 * 5
    assert one.seconds_lost == pytest.approx(cycles * (0.006 + 0.002 + 0.001))
    assert one.calls == cycles
    assert one.bytes == cycles * 3 // 4 * MIB // 2
    evidence = {each.what: each.value for each in one.evidence}
    assert evidence["of these returned nothing"] == "50 calls"
    assert "romio_ds_write=disable" in one.change
    assert (one.files, one.ranks) == ([0], [0, 1, 2, 3])


def test_starting_mpi_takes_no_part_in_the_time_that_findings_are_measured_by(ask: Ask) -> None:
    trace = scenarios.sieving()
    for rank in range(4):
        trace.add(rank, "mpiio", "MPI_Init_thread", "control", 10_000, 600_000)
    assert found(ask, trace, "data-sieving-new-data").severity == "high"


def test_sieving_of_a_file_in_use_is_told_apart(ask: Ask) -> None:
    keys = {one.key for one in findings(ask(scenarios.sieving(fresh=False)))}
    assert "data-sieving" in keys
    assert "data-sieving-new-data" not in keys


def test_collective_calls_without_buffering_need_the_hint(ask: Ask) -> None:
    independent = found(ask, scenarios.interleaved(), "collective-buffering-write")
    collective = found(ask, scenarios.interleaved("MPI_File_write_at_all"), "collective-buffering-write")
    assert "MPI_File_write_all" in independent.change
    assert "cb_nodes" in collective.change


def test_small_writes_are_measured_by_the_runs_own_large_ones(ask: Ask) -> None:
    alone = found(ask, scenarios.small_writes(), "small-writes")
    assert alone.seconds_lost == pytest.approx(2.0 * (1 - 1000 / MIB))
    assert alone.estimate.startswith("at most")
    beside = found(ask, scenarios.small_writes(with_large=True), "small-writes")
    assert beside.seconds_lost == pytest.approx(2.0 - 2_000_000 / 2e9, rel=1e-3)
    assert "2.00 GB/s" in beside.estimate


def test_misalignment_is_measured_by_the_runs_own_aligned_transfers(ask: Ask) -> None:
    one = found(ask, scenarios.misaligned(), "misaligned-writes")
    assert one.seconds_lost == pytest.approx(120 * 0.010)
    assert one.files == [0]


def test_misalignment_without_comparison_has_no_cost(ask: Ask) -> None:
    trace = Trace(1)
    file = trace.file("/scratch/shared")
    for number in range(120):
        trace.write(0, file, 100 + number * MIB, MIB, number * 30.0, 20)
    one = found(ask, trace, "misaligned-writes")
    assert one.seconds_lost is None
    assert one.severity == "low"


def test_repeated_questions_are_told_from_many_files(ask: Ask) -> None:
    repeated = found(ask, scenarios.metadata_storm(), "metadata-storm")
    # Of 50 rounds of open, stat and close by each of 4 ranks, 49 repeat.
    assert repeated.seconds_lost == pytest.approx(4 * 49 * 0.007)
    many = found(ask, scenarios.metadata_storm(repeated=False), "metadata-storm")
    assert many.seconds_lost == pytest.approx(4 * 50 * 0.007)
    assert "fewer files" in many.change


def test_a_slow_rank_is_named_with_its_node(ask: Ask) -> None:
    one = found(ask, scenarios.slow_rank(), "slow-rank-write")
    assert one.ranks == [5]
    assert "Rank 5 on n1" in one.title
    assert "6 of 6" in one.title


def test_a_slow_server_is_named(ask: Ask) -> None:
    one = found(ask, scenarios.slow_server(), "slow-server")
    assert "ost2" in one.title
    # 4 ranks x 3 files x 8 writes of 50 ms that should take 10 ms
    assert one.seconds_lost == pytest.approx(4 * 3 * 8 * 0.040)


def test_all_but_one_sync_per_file_and_process_are_lost(ask: Ask) -> None:
    one = found(ask, scenarios.frequent_sync(), "frequent-sync")
    assert one.seconds_lost == pytest.approx(2 * 49 * 0.012)


def test_one_aggregator_per_node_is_right(ask: Ask) -> None:
    trace = scenarios.collective()
    trace.hosts = ("n0",)
    for call in trace.calls:
        if call.level == "posix":
            assert call.inside is not None
    alone = [call for call in trace.calls if call.level == "mpiio" or call.process == 0]
    trace.calls = alone
    assert "one-rank-writes" not in {one.key for one in findings(ask(trace))}
    trace.hosts = ("n0", "n1")
    assert found(ask, trace, "one-rank-writes").change.startswith("Set the MPI-IO hint cb_nodes")


def test_rereads_cost_their_share_of_the_reads(ask: Ask) -> None:
    one = found(ask, scenarios.all_read_the_same(), "redundant-reads")
    assert one.bytes == 7 * 30 * MIB
    assert one.seconds_lost == pytest.approx(7 * 30 * 0.010)
    assert "MPI_Bcast" in one.change


def test_cycles_cost_their_reads_and_locks(ask: Ask) -> None:
    one = found(ask, scenarios.updates_in_place(), "read-modify-write")
    assert one.calls == 160
    assert one.seconds_lost == pytest.approx(160 * (0.006 + 0.002))


def test_what_costs_little_is_no_finding(ask: Ask) -> None:
    trace = scenarios.healthy()
    log = trace.file("/scratch/log")
    for line in range(500):
        trace.write(0, log, line * 80, 80, line * 60 + 3, 0.002)
    assert findings(ask(trace)) == []


def test_thresholds_are_settings(ask: Ask) -> None:
    answers = ask(scenarios.frequent_sync(), Settings(sync_share=0.99))
    assert "frequent-sync" not in {one.key for one in findings(answers)}


def test_every_finding_says_all_that_is_asked_of_it(ask: Ask) -> None:
    for run in (scenarios.sieving, scenarios.interleaved, scenarios.slow_server, scenarios.all_read_the_same):
        for one in findings(ask(run())):
            assert one.title
            assert one.explanation.endswith(".")
            assert one.change.endswith(".")
            assert one.estimate
            assert one.evidence
