"""What is wrong is found, with its cost; what is right is left alone."""

import json
import os
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pytest
from observe.analysis import scenarios
from observe.analysis.conftest import Ask, FindingsOf
from observe.synthetic import MIB, Trace

from halcyon.observe.analysis.settings import Settings
from halcyon.observe.findings import Finding, Span, findings
from halcyon.observe.findings.finding import Unit
from halcyon.observe.printed.plain import as_json


def pick(every: list[Finding], key: str) -> Finding:
    """The finding called `key`."""
    named = {one.key: one for one in every}
    assert key in named, f"found only {sorted(named)}"
    return named[key]


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


def misaligned_in_turn(ranks: int) -> Trace:
    """1 MiB writes behind a header of 100 bytes, by `ranks` in turn; none is aligned."""
    trace = Trace(ranks)
    file = trace.file("/scratch/shared")
    for number in range(120):
        trace.write(number % ranks, file, 100 + number * MIB, MIB, number * 30.0, 20)
    return trace


def test_misalignment_in_one_stream_is_none_where_nothing_shows_a_cost(ask: Ask) -> None:
    assert "misaligned-writes" not in {one.key for one in findings(ask(misaligned_in_turn(1)))}


def test_misalignment_without_comparison_has_no_cost(ask: Ask) -> None:
    trace = misaligned_in_turn(2)
    one = pick(findings(ask(trace)), "misaligned-writes")
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
    change = pick(findings(ask(trace)), "metadata-storm").change
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
    assert "one-rank-writes" not in {one.key for one in findings(ask(trace))}
    trace.hosts = ("n0", "n1")
    assert pick(findings(ask(trace)), "one-rank-writes").change.startswith("Set the MPI-IO hint cb_nodes")


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
    assert "frequent-sync" not in {one.key for one in findings(answers)}


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


OPEN_MPI = "Open MPI v4.1.4, package: Debian OpenMPI"
MPICH = "MPICH Version:\t4.0.2"


def told(trace: Trace, library: str | None, *hints: str) -> Trace:
    """The run, with its MPI library and the names of its hints."""
    facts = {f"mpi.hint.{name}": "automatic" for name in hints} | ({"mpi.library": library} if library else {})
    trace.facts += [{"process": 0, "key": key, "value": value} for key, value in facts.items()]
    return trace


def one_aggregator() -> Trace:
    trace = scenarios.collective()
    trace.calls = [call for call in trace.calls if call.level == "mpiio" or call.process == 0]
    return trace


ADVICE = [
    (scenarios.sieving, "data-sieving-new-data", "romio_ds_write=disable", "OMPI_MCA_fbtl_posix_write_datasieving=0"),
    (
        lambda: scenarios.sieving(fresh=False),
        "data-sieving",
        "romio_ds_write=disable",
        "OMPI_MCA_fbtl_posix_write_datasieving=0",
    ),
    (
        lambda: scenarios.interleaved("MPI_File_write_at_all"),
        "collective-buffering-write",
        "romio_cb_write=enable",
        "OMPI_MCA_fcoll=vulcan",
    ),
    (
        lambda: scenarios.late_rank(late_ms=0.0, own_ms=100.0),
        "collective-exchange",
        "cb_nodes",
        "OMPI_MCA_io_ompio_num_aggregators",
    ),
    (one_aggregator, "one-rank-writes", "cb_nodes", "OMPI_MCA_io_ompio_num_aggregators"),
    (lambda: misaligned_in_turn(2), "misaligned-writes", "romio_cb_write=enable", "lfs setstripe"),
]


@pytest.mark.parametrize(("run", "key", "hint", "parameter"), ADVICE)
def test_advice_is_for_the_mpiio_that_the_run_used(
    ask: Ask, run: Callable[[], Trace], key: str, hint: str, parameter: str
) -> None:
    own = pick(findings(ask(told(run(), OPEN_MPI))), key).change
    assert parameter in own
    assert hint not in own.split("OMPI_MCA_io=romio321, which reads the hint")[0]
    for library, hints in ((MPICH, ()), (OPEN_MPI, ("romio_cb_read",)), (None, ("romio_cb_read",))):
        romio = pick(findings(ask(told(run(), library, *hints))), key).change
        assert hint in romio
        assert parameter not in romio
    unknown = pick(findings(ask(run())), key).change
    assert hint in unknown
    assert parameter in unknown


def test_open_mpis_romio_is_known_by_what_mpirun_was_told(ask: Ask) -> None:
    words = ["mpirun", "--mca", "io", "romio321", "-n", "4", "./model"]
    assert ask(told(scenarios.sieving(), OPEN_MPI), command=" ".join(words)).mpiio_used.implementation == "ROMIO"
    assert ask(told(scenarios.sieving(), OPEN_MPI), command=" ".join(words[4:])).mpiio_used.implementation == "OMPIO"
    trace = told(scenarios.sieving(), OPEN_MPI)
    trace.facts.append({"key": "environment.OMPI_MCA_io", "value": "romio321"})
    assert ask(trace).mpiio_used.implementation == "ROMIO"


@pytest.mark.parametrize(
    ("command", "used"),
    [
        ("mpirun -x OMPI_MCA_io=romio321 -n 2 ./model", "ROMIO"),
        ("nice mpirun -x OMPI_MCA_io -n 2 -x HOME --mca io romio321 ./model", "ROMIO"),
        ("mpirun --map-by node -n 2 ./model --mca io romio321 -x OMPI_MCA_io=romio321", "OMPIO"),
        ("mpirun -n 2 -- ./model -x OMPI_MCA_io=romio321", "OMPIO"),
        ("mpirun -n 2 --mca io", "OMPIO"),
        ("./model --mca io romio321", "OMPIO"),
    ],
)
def test_only_options_of_mpirun_choose_the_mpiio(ask: Ask, command: str, used: str) -> None:
    assert ask(told(scenarios.sieving(), OPEN_MPI), command=command).mpiio_used.implementation == used


@pytest.mark.parametrize(
    ("library", "there"),
    [
        ("Open MPI v4.1.4", ["two_phase", "vulcan"]),
        ("Open MPI v5.0.3", ["dynamic_gen2", "vulcan"]),
        ("Open MPI", ["dynamic_gen2", "vulcan"]),
        (None, ["dynamic_gen2", "vulcan"]),
    ],
)
def test_only_methods_that_the_library_has_are_named(ask: Ask, library: str | None, there: list[str]) -> None:
    buffering = pick(
        findings(ask(told(scenarios.interleaved("MPI_File_write_at_all"), library))), "collective-buffering-write"
    )
    exchange = pick(findings(ask(told(scenarios.late_rank(0.0, own_ms=100.0), library))), "collective-exchange")
    for change in (buffering.change, exchange.change):
        assert re.findall(r"OMPI_MCA_fcoll=(?!individual)(\w+)", change) == there


def test_the_way_that_is_known_to_end_data_sieving_comes_first(ask: Ask) -> None:
    own = pick(findings(ask(told(scenarios.sieving(), OPEN_MPI))), "data-sieving-new-data").change
    assert own.index("OMPI_MCA_io=romio321") < own.index("OMPI_MCA_fbtl_posix_write_datasieving=0 (without effect")


def test_hints_of_striping_are_not_for_open_mpis_own_mpiio(ask: Ask) -> None:
    for run, key in ((scenarios.slow_server, "slow-server"), (scenarios.uneven_servers, "uneven-servers")):
        own = pick(findings(ask(told(run(), OPEN_MPI))), key).change
        assert "lfs setstripe" in own
        assert "hint" not in own
        assert "striping_factor" in pick(findings(ask(told(run(), MPICH))), key).change


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
    assert pick(findings(ask(trace)), "small-writes").files == [shared]


@pytest.mark.parametrize("opened", ["beside", None])
def test_files_that_may_be_the_applications_are_listed(ask: Ask, opened: str | None) -> None:
    trace, shared, beside = with_shared_pointer(opened)
    assert pick(findings(ask(trace)), "small-writes").files == [shared, beside]


def test_a_file_that_the_application_reads_itself_is_listed(ask: Ask) -> None:
    trace, shared, beside = with_shared_pointer()
    trace.read(1, beside, 0, 40, 60, 1)
    assert pick(findings(ask(trace)), "small-writes").files == [shared, beside]


@dataclass(frozen=True)
class Tables:
    """What `--json` prints findings in."""

    findings: list[Finding]


def test_evidence_is_numbers_whose_keys_say_the_unit(findings_of: FindingsOf) -> None:
    runs = [value for value in vars(scenarios).values() if callable(value) and value.__module__ == scenarios.__name__]
    seen = 0
    for run in runs:
        for finding in json.loads(as_json(Tables(findings_of(run))))["findings"]:
            keys = [each["key"] for each in finding["evidence"]]
            assert len(set(keys)) == len(keys), finding["key"]
            for each in finding["evidence"]:
                assert isinstance(each["value"], int | float), each
                assert Unit.of(each["key"]).text(each["value"]) == each["text"]
                seen += 1
    assert seen > 40


def test_evidence_without_a_unit_is_refused() -> None:
    with pytest.raises(ValueError, match="expected one of these at its end"):
        Unit.of("time")
    assert Unit.of("server_bytes_per_s") == Unit.BYTES_PER_S
    assert Unit.of("spent_s") == Unit.SECONDS


def held_up(run: Callable[[], Trace], kind: str, times: int = 3, seconds: float = 8.0) -> Trace:
    """The run, of which a few calls of a kind, spread over it, were held up by something else."""
    trace = run()
    own = [call for call in trace.calls if call.kind == kind]
    for call in own[:: len(own) // times][:times]:
        call.duration_ns += round(seconds * 1e9)
    return trace


@pytest.mark.parametrize(
    ("run", "kind", "key"),
    [
        (scenarios.misaligned, "write", "misaligned-writes"),
        (scenarios.small_writes, "write", "small-writes"),
        (scenarios.frequent_sync, "sync", "frequent-sync"),
        (scenarios.all_read_the_same, "read", "redundant-reads"),
        (scenarios.metadata_storm, "open", "metadata-storm"),
        (scenarios.slow_server, "write", "slow-server"),
    ],
)
def test_calls_that_something_held_up_do_not_change_the_cost(
    ask: Ask, run: Callable[[], Trace], kind: str, key: str
) -> None:
    settings = Settings(worth_share=0.001, metadata_share=0.0)
    calm = pick(findings(ask(run(), settings)), key)
    assert pick(findings(ask(held_up(run, kind), settings)), key).seconds_lost == pytest.approx(
        calm.seconds_lost, rel=0.05
    )


def test_a_server_that_was_held_up_a_few_times_is_not_slow(ask: Ask) -> None:
    trace = scenarios.slow_server()
    for call in trace.calls:
        call.duration_ns = 10_000_000
    own = [call for call in trace.calls if trace.files[call.file or 0]["servers"] == ["ost1"]]
    for call in own[::12]:
        call.duration_ns += 1_000_000_000
    assert "slow-server" not in {one.key for one in findings(ask(trace))}


@pytest.mark.parametrize(
    ("run", "why", "change"),
    [
        (lambda: scenarios.slow_by_its_flags(os.O_DSYNC), "O_DSYNC", "without O_SYNC and O_DSYNC"),
        (lambda: scenarios.slow_by_its_flags(os.O_SYNC), "O_DSYNC", "without O_SYNC and O_DSYNC"),
        (lambda: scenarios.slow_by_its_flags(os.O_DIRECT), "O_DIRECT", "without O_DIRECT"),
        (scenarios.slow_by_its_calls, "768 calls", "in as few calls"),
    ],
)
def test_a_rank_that_is_slow_by_what_it_does_keeps_its_node(
    ask: Ask, run: Callable[[], Trace], why: str, change: str
) -> None:
    one = pick(findings(ask(run())), "slow-rank-write")
    assert one.ranks == [5]
    assert why in one.explanation
    assert change in one.change
    assert "next job" not in one.change


def test_a_rank_that_is_slow_with_the_flags_of_all_has_a_node_to_look_at(ask: Ask) -> None:
    one = pick(findings(ask(scenarios.slow_by_its_flags(os.O_DSYNC, all_ranks=True))), "slow-rank-write")
    assert "leave it out of the next job" in one.change


def test_writes_that_wait_for_the_device_are_found(ask: Ask) -> None:
    for flags in (os.O_SYNC, os.O_DSYNC):
        one = pick(findings(ask(scenarios.synchronous(flags))), "synchronous-writes")
        assert one.seconds_lost == pytest.approx(1.2)
        assert one.estimate.startswith("at most")
    beside = pick(findings(ask(scenarios.synchronous(others=True))), "synchronous-writes")
    assert beside.seconds_lost == pytest.approx(1.1)
    assert beside.files == [0]


def test_writes_past_the_cache_do_not_wait_for_the_device(ask: Ask) -> None:
    assert "synchronous-writes" not in {one.key for one in findings(ask(scenarios.synchronous(os.O_DIRECT)))}


def test_two_ranks_that_take_turns_interleave(findings_of: FindingsOf) -> None:
    assert pick(findings_of(scenarios.interleaved, ranks=2), "collective-buffering-write").calls == 320


def test_two_ranks_with_a_half_each_do_not_interleave(ask: Ask) -> None:
    trace = scenarios.interleaved(ranks=2)
    for call in trace.calls:
        assert call.offset is not None
        call.offset = (
            call.process * 160 * 32 * scenarios.KIB + call.offset // 2 // (32 * scenarios.KIB) * 32 * scenarios.KIB
        )
    assert "collective-buffering-write" not in {one.key for one in findings(ask(trace))}


def test_mpiio_whose_time_is_not_in_its_writes_is_found(ask: Ask) -> None:
    one = pick(findings(ask(told(scenarios.time_inside_mpiio(), OPEN_MPI))), "mpiio-overhead-write")
    assert one.seconds_lost == pytest.approx(2 * 20 * 0.171)
    assert "OMPI_MCA_io=romio321 (mpirun --mca io romio321)" in one.change
    assert "romio" not in pick(findings(ask(told(scenarios.time_inside_mpiio(), MPICH))), "mpiio-overhead-write").change


def test_a_shared_file_pointer_is_named(ask: Ask) -> None:
    one = pick(findings(ask(scenarios.time_inside_mpiio("MPI_File_write_shared"))), "mpiio-overhead-write")
    assert "shared file pointer is locked" in one.change


def test_collective_writes_have_the_finding_only_where_clocks_cannot_be_compared(ask: Ask) -> None:
    together = {one.key for one in findings(ask(scenarios.time_inside_mpiio("MPI_File_write_at_all")))}
    assert "mpiio-overhead-write" not in together
    assert "collective-exchange" in together
    apart = findings(ask(scenarios.time_inside_mpiio("MPI_File_write_at_all", hosts=("n0", "n1"))))
    assert "the clocks of this run do not tell which" in pick(apart, "mpiio-overhead-write").explanation


@pytest.mark.parametrize(
    ("call", "change"), [("MPI_File_open", "Open each file once"), ("MPI_File_set_view", "Set the view once")]
)
def test_opens_and_views_that_cost_more_than_the_data_are_found(ask: Ask, call: str, change: str) -> None:
    one = pick(findings(ask(scenarios.opened_for_each_step(call))), "collective-setup")
    assert one.seconds_lost == pytest.approx(4 * 20 * 0.050)
    assert change in one.change


@pytest.mark.parametrize(("times", "length_ms", "there"), [(1, 900.0, False), (1, 9000.0, True), (20, 5.0, False)])
def test_one_open_counts_where_it_takes_long(ask: Ask, times: int, length_ms: float, there: bool) -> None:
    every = {one.key for one in findings(ask(scenarios.opened_for_each_step(times=times, length_ms=length_ms)))}
    assert ("collective-setup" in every) == there


def shuffled(blocks: int) -> list[int]:
    order = list(range(blocks))
    random.Random(3).shuffle(order)
    return order


@pytest.mark.parametrize(
    ("blocks", "there"),
    [
        (shuffled(600), True),
        ([number for pair in zip(range(300), range(9000, 9300), strict=True) for number in pair], False),
        ([*range(300), *range(300)], False),
        ([*range(0, 1200, 4), 2, *range(1200, 2400, 4)], False),
        (range(600, 0, -1), False),
    ],
    ids=["random", "two streams", "read twice", "strided with one outlier", "backward"],
)
def test_only_accesses_without_order_are_random(ask: Ask, blocks: Iterable[int], there: bool) -> None:
    assert ("random-reads" in {one.key for one in findings(ask(scenarios.reads_at(blocks)))}) == there
