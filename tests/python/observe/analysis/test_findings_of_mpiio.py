"""What is wrong between MPI-IO and the file is found, and advice is for the MPI-IO that the run used."""

import re
from collections.abc import Callable

import pytest
from ibis import _
from observe.analysis import scenarios
from observe.analysis.conftest import Ask, FindingsOf, finding_of, is_found, pick
from observe.synthetic import MIB, Trace
from traces import DATA

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.findings import findings
from halcyon.observe.open_run import open_run

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
    (lambda: scenarios.misaligned_in_turn(2), "misaligned-writes", "romio_cb_write=enable", "lfs setstripe"),
]


@pytest.mark.parametrize(("run", "key", "hint", "parameter"), ADVICE)
def test_advice_is_for_the_mpiio_that_the_run_used(
    ask: Ask, run: Callable[[], Trace], key: str, hint: str, parameter: str
) -> None:
    own = finding_of(ask(told(run(), OPEN_MPI)), key).change
    assert parameter in own
    assert hint not in own.split("OMPI_MCA_io=romio321, which reads the hint")[0]
    for library, hints in ((MPICH, ()), (OPEN_MPI, ("romio_cb_read",)), (None, ("romio_cb_read",))):
        romio = finding_of(ask(told(run(), library, *hints)), key).change
        assert hint in romio
        assert parameter not in romio
    unknown = finding_of(ask(run()), key).change
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
    buffering = finding_of(
        ask(told(scenarios.interleaved("MPI_File_write_at_all"), library)), "collective-buffering-write"
    )
    exchange = finding_of(ask(told(scenarios.late_rank(0.0, own_ms=100.0), library)), "collective-exchange")
    for change in (buffering.change, exchange.change):
        assert re.findall(r"OMPI_MCA_fcoll=(?!individual)(\w+)", change) == there


def test_the_way_that_is_known_to_end_data_sieving_comes_first(ask: Ask) -> None:
    own = finding_of(ask(told(scenarios.sieving(), OPEN_MPI)), "data-sieving-new-data").change
    assert own.index("OMPI_MCA_io=romio321") < own.index("OMPI_MCA_fbtl_posix_write_datasieving=0 (without effect")


def test_hints_of_striping_are_not_for_open_mpis_own_mpiio(ask: Ask) -> None:
    for run, key in ((scenarios.slow_server, "slow-server"), (scenarios.uneven_servers, "uneven-servers")):
        own = finding_of(ask(told(run(), OPEN_MPI)), key).change
        assert "lfs setstripe" in own
        assert "hint" not in own
        assert "striping_factor" in finding_of(ask(told(run(), MPICH)), key).change


def test_two_ranks_that_take_turns_interleave(findings_of: FindingsOf) -> None:
    assert pick(findings_of(scenarios.interleaved, ranks=2), "collective-buffering-write").calls == 320


def test_two_ranks_with_a_half_each_do_not_interleave(ask: Ask) -> None:
    trace = scenarios.interleaved(ranks=2)
    for call in trace.calls:
        assert call.offset is not None
        call.offset = (
            call.process * 160 * 32 * scenarios.KIB + call.offset // 2 // (32 * scenarios.KIB) * 32 * scenarios.KIB
        )
    assert not is_found(ask(trace), "collective-buffering-write")


def test_mpiio_whose_time_is_not_in_its_writes_is_found(ask: Ask) -> None:
    one = finding_of(ask(told(scenarios.time_inside_mpiio(), OPEN_MPI)), "mpiio-overhead-write")
    assert one.seconds_lost == pytest.approx(2 * 20 * 0.171)
    assert "OMPI_MCA_io=romio321 (mpirun --mca io romio321)" in one.change
    assert "romio" not in finding_of(ask(told(scenarios.time_inside_mpiio(), MPICH)), "mpiio-overhead-write").change


def test_a_shared_file_pointer_is_named(ask: Ask) -> None:
    one = finding_of(ask(scenarios.time_inside_mpiio("MPI_File_write_shared")), "mpiio-overhead-write")
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
    one = finding_of(ask(scenarios.opened_for_each_step(call)), "collective-setup")
    assert one.seconds_lost == pytest.approx(4 * 20 * 0.050)
    assert change in one.change


@pytest.mark.parametrize(("times", "length_ms", "there"), [(1, 900.0, False), (1, 9000.0, True), (20, 5.0, False)])
def test_one_open_counts_where_it_takes_long(ask: Ask, times: int, length_ms: float, there: bool) -> None:
    every = {one.key for one in findings(ask(scenarios.opened_for_each_step(times=times, length_ms=length_ms)))}
    assert ("collective-setup" in every) == there


def union_ns(spans: list[tuple[int, int]]) -> int:
    covered, reached = 0, 0
    for begin, end in sorted(spans):
        covered, reached = covered + max(end - max(begin, reached), 0), max(reached, end)
    return covered


def test_mpiios_own_time_is_found_in_a_log_that_relates_no_calls() -> None:
    """Darshan's log of mpi-io-test, all of whose calls are independent: 172 s of writes, over 1 s of POSIX writes."""
    with open_run(DATA / "darshan" / "mpi-io-test-dxt.darshan") as dataset:
        every = findings(Answers(dataset))
        calls = dataset.calls.filter(_.file.notnull()).to_pyarrow().to_pylist()
    below: dict[object, list[tuple[int, int]]] = {}
    for call in calls:
        if call["level"] == "posix":
            below.setdefault((call["process"], call["file"]), []).append(ends(call))
    own = 0
    for call in calls:
        if call["level"] == "mpiio" and call["kind"] == "write":
            begin, end = ends(call)
            inside = [(max(low, begin), min(high, end)) for low, high in below[call["process"], call["file"]]]
            own += end - begin - union_ns([(low, high) for low, high in inside if low < high])
    one = pick(every, "mpiio-overhead-write")
    assert one.severity == "high"
    assert one.calls == 128
    assert one.seconds_lost == pytest.approx(own / 1e9)
    assert one.seconds_lost == pytest.approx(171, abs=0.5)
    assert "Ranks may wait" not in one.explanation
    assert one.when is not None
    # Its reads take as long as the POSIX reads below them.
    assert "mpiio-overhead-read" not in {each.key for each in every}


def ends(call: dict[str, int]) -> tuple[int, int]:
    return call["start_ns"], call["start_ns"] + call["duration_ns"]


def unrelated() -> Trace:
    """MPI-IO's writes of 172 ms with a write of 1 ms, of a source that tells neither relations nor what is collective:
    rank 1 moves the data of both, which takes 41 ms of 10 of its calls."""
    trace = scenarios.time_inside_mpiio()
    trace.related = False
    lower = [call for call in trace.calls if call.level == "posix"]
    for call in lower:
        call.process = 1
    for call in lower[:20:2]:
        call.start_ns -= 40_000_000
        call.duration_ns = 41_000_000
    return trace


def test_ranks_may_wait_for_the_longest_where_nobody_tells_what_is_collective(ask: Ask) -> None:
    one = finding_of(ask(unrelated()), "mpiio-overhead-write")
    longest = 10 * 0.041 + 10 * 0.001  # the two writes in a call begin or end together
    assert one.seconds_lost == pytest.approx(2 * (20 * 0.172 - longest))
    assert "Ranks may wait for one another there" in one.explanation


@pytest.mark.parametrize(("subject", "there"), [("DXT_POSIX", False), ("STDIO", True)])
def test_nothing_is_said_of_calls_that_may_be_missing(ask: Ask, subject: str, there: bool) -> None:
    cut = unrelated()
    cut.absences.append({"what": "partial", "subject": subject})
    assert is_found(ask(cut), "mpiio-overhead-write") == there


def test_nothing_is_said_of_a_file_that_posix_wrote_less_to_than_mpiio(ask: Ask) -> None:
    some = unrelated()
    some.calls.remove(next(call for call in some.calls if call.level == "posix"))
    assert not is_found(ask(some), "mpiio-overhead-write")


def test_posix_calls_between_those_of_mpiio_are_not_in_them(ask: Ask) -> None:
    beside = unrelated()
    for step in range(20):
        beside.write(1, 0, 0, MIB, step * 200 + 175, 20)  # MPI-IO's last 172 ms
    before, after = (finding_of(ask(run), "mpiio-overhead-write") for run in (unrelated(), beside))
    assert after.seconds_lost == pytest.approx(before.seconds_lost)
    assert after.evidence == before.evidence
