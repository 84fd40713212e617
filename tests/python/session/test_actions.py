"""Events run their actions: on the server, or in the clients with `inline: true`."""

import shutil

import numpy as np
import pytest
from running import BUILDS, Case, check_complete, expected_block, finish, wait_for

MODULE = """\
events:
  each: {actions: [sums], scope: client}
  all: {actions: [sums], scope: node}
actions:
  sums: {type: module, module: MODULE, function: write_sums, options: {fail_at: "FAIL_AT"}}"""


def module_events(case: Case, fail_at: str = "", library: str = "libwrite_sums.so") -> str:
    return MODULE.replace("MODULE", str(BUILDS[case.mpi] / "tests" / library)).replace("FAIL_AT", fail_at)


def sums(case: Case) -> list[tuple[str, int, int, int, float]]:
    """(event, iteration, rank, blocks, sum) of each run of the module's function, in order of iteration and rank."""
    rows = [line.split() for line in (case.output / "sums.txt").read_text().splitlines()]
    found = [(e, int(i), int(r), int(n), float(s)) for e, i, r, n, s in rows]
    return sorted(found, key=lambda row: (row[1], row[2]))


def expected_sum(iteration: int, rank: int) -> float:
    return float(expected_block("theta", iteration, rank, (4, 8, 16)).sum(dtype=np.float64))


def test_events_run_their_actions(openmpi_case: Case) -> None:
    openmpi_case.configure(
        events="events:\n  each: {actions: [note], scope: client}\n  all: {actions: [note], scope: node}\n"
        "actions:\n  note: {type: log}"
    )
    assert openmpi_case.run("iterations=3", "signal=each").status == 0
    log = (openmpi_case.output / "server-n0000.log").read_text()
    assert log.count("event 'each'") == 6
    assert "from rank 1" in log


def test_a_node_event_runs_once_all_clients_raised_it(openmpi_case: Case) -> None:
    openmpi_case.configure(events="events:\n  all: {actions: [note], scope: node}\nactions:\n  note: {type: log}")
    assert openmpi_case.run("iterations=3", "signal=all").status == 0
    log = (openmpi_case.output / "server-n0000.log").read_text()
    assert log.count("event 'all'") == 3


def test_a_job_event_without_a_server_world_is_a_configuration_error(openmpi_case: Case) -> None:
    openmpi_case.configure(events="events:\n  all: {actions: [note], scope: job}\nactions:\n  note: {type: log}")
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status != 0
    assert "halcyon run --servers-per-node" in outcome.ranks[0]["open"]


@pytest.mark.parametrize("zero_copy", [0, 1])
def test_a_module_sees_the_blocks_of_the_client_that_signalled(openmpi_case: Case, zero_copy: int) -> None:
    openmpi_case.configure(events=module_events(openmpi_case))
    outcome = openmpi_case.run("iterations=4", "signal=each", f"zero_copy={zero_copy}")
    assert outcome.status == 0, outcome.text
    wanted = [("each", i, rank, 1, expected_sum(i, rank)) for i in range(4) for rank in range(2)]
    assert sums(openmpi_case) == wanted


def test_a_module_of_scope_node_sees_the_blocks_of_all_clients(openmpi_case: Case) -> None:
    openmpi_case.configure(events=module_events(openmpi_case))
    assert openmpi_case.run("iterations=4", "signal=all").status == 0
    wanted = [("all", i, -1, 2, expected_sum(i, 0) + expected_sum(i, 1)) for i in range(4)]
    assert sums(openmpi_case) == wanted


def test_inline_runs_the_same_module_in_the_clients(openmpi_case: Case) -> None:
    openmpi_case.configure(events=module_events(openmpi_case), top="inline: true")
    outcome = openmpi_case.run("iterations=4", "signal=each")
    assert outcome.status == 0, outcome.text
    wanted = [("each", i, rank, 1, expected_sum(i, rank)) for i in range(4) for rank in range(2)]
    assert sums(openmpi_case) == wanted


def test_a_failing_module_is_counted_and_said_and_the_run_goes_on(openmpi_case: Case) -> None:
    openmpi_case.configure(events=module_events(openmpi_case, fail_at="2"))
    outcome = openmpi_case.run("iterations=4", "signal=each")
    assert outcome.status == 0, outcome.text
    assert [row[1] for row in sums(openmpi_case)] == [0, 0, 1, 1, 3, 3]
    counts = openmpi_case.counts()
    assert counts["failed_actions"] == 2
    assert "action 'sums' returned 7" in counts["messages"]


@pytest.mark.parametrize(
    ("library", "function", "reason"),
    [("libnothing.so", "write_sums", "libnothing.so"), ("libwrite_sums.so", "no_such_function", "no_such_function")],
)
def test_a_module_that_cannot_be_loaded_fails_at_open(
    openmpi_case: Case, library: str, function: str, reason: str
) -> None:
    events = module_events(openmpi_case, library=library).replace("function: write_sums", f"function: {function}")
    openmpi_case.configure(events=events)
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status != 0
    assert "actions.sums." in outcome.ranks[0]["open"]
    assert reason in outcome.ranks[0]["open"]


@pytest.mark.parametrize("top", ["", "inline: true"])
def test_an_action_cannot_raise_what_is_no_job_event(openmpi_case: Case, top: str) -> None:
    events = module_events(openmpi_case).replace("fail_at:", "raise: all, fail_at:")
    openmpi_case.configure(events=events, top=top)
    assert openmpi_case.run("iterations=2", "signal=each").status == 0
    writer = "c00000" if top else "n0000"
    assert "action 'sums' returned 101" in openmpi_case.counts(writer)["messages"]


@pytest.mark.parametrize("top", ["", "inline: true"])
def test_an_event_may_store_before_the_file_is_full(openmpi_case: Case, top: str) -> None:
    openmpi_case.configure(
        top=top,
        store=", iterations-per-file: 1000",
        events="events:\n  now: {actions: [save], scope: node}\nactions:\n  save: {type: store}",
    )
    run = openmpi_case.start("iterations=100", "pause_ms=5", "signal=now")
    wait_for(lambda: len(list(openmpi_case.output.glob("tiny.*.i*.h5"))) > 3, what="files while the run goes on")
    assert run.poll() is None, "the run was over"
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 100)


@pytest.mark.parametrize("top", ["", "inline: true"])
def test_a_relative_path_of_a_module_starts_where_the_simulation_does(openmpi_case: Case, top: str) -> None:
    shutil.copy(BUILDS["openmpi"] / "tests/libwrite_sums.so", openmpi_case.directory)
    events = MODULE.replace("MODULE", "./libwrite_sums.so").replace("FAIL_AT", "")
    openmpi_case.configure(events=events, top=top)
    outcome = openmpi_case.run("iterations=2", "signal=each")
    assert outcome.status == 0, outcome.text
    assert len(sums(openmpi_case)) == 4


def test_inline_a_failing_module_is_counted_and_the_simulation_goes_on(openmpi_case: Case) -> None:
    openmpi_case.configure(events=module_events(openmpi_case, fail_at="2"), top="inline: true")
    outcome = openmpi_case.run("iterations=4", "signal=each")
    assert outcome.status == 0, outcome.text
    counts = openmpi_case.counts("c00000")
    assert counts["failed_actions"] == 1
    assert counts["messages"] == ["action 'sums' returned 7"]


def test_after_an_open_that_failed_the_corrected_one_succeeds(openmpi_case: Case) -> None:
    openmpi_case.configure(events=module_events(openmpi_case, library="libnothing.so"))
    assert openmpi_case.run("iterations=1").status != 0
    openmpi_case.configure(events=module_events(openmpi_case))
    outcome = openmpi_case.run("iterations=3")
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 3)
