"""Events run their actions: on the server, or in the clients with `inline: true`."""

import shutil
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import sanitizers
from plugins import faulty
from running import BUILDS, Case, check_complete, expected_block, finish, wait_for

MODULE = """\
events:
  each: {actions: [sums], scope: client}
  all: {actions: [sums], scope: node}
actions:
  sums: {type: module, module: MODULE, function: write_sums, options: {fail_at: "FAIL_AT"}}"""


def module_events(case: Case, fail_at: str = "", library: str = "libwrite_sums.so") -> str:
    return MODULE.replace("MODULE", str(BUILDS[case.mpi] / "tests" / library)).replace("FAIL_AT", fail_at)


def rows_of_sums(case: Case) -> list[tuple[str, int, int, int, int, float]]:
    """(event, iteration, rank, blocks, blocks left out, sum) of each run of the module's function, as they ran."""
    rows = [line.split() for line in (case.output / "sums.txt").read_text().splitlines()]
    return [(e, int(i), int(r), int(n), int(out), float(s)) for e, i, r, n, out, s in rows]


def sums(case: Case) -> list[tuple[str, int, int, int, float]]:
    """(event, iteration, rank, blocks, sum) of each run of the module's function, in order of iteration and rank."""
    rows = rows_of_sums(case)
    assert not any(out for *_, out, _ in rows), "blocks were left out"
    return sorted(((e, i, r, n, s) for e, i, r, n, _, s in rows), key=lambda row: (row[1], row[2]))


def expected_sum(iteration: int, rank: int, nz: int = 4) -> float:
    return float(expected_block("theta", iteration, rank, (nz, 8, 16)).sum(dtype=np.float64))


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


def test_a_module_gets_no_blocks_whose_room_was_given_away_and_is_told_so(openmpi_case: Case) -> None:
    """Rank 0 is ahead and the buffer full: its blocks are stored early, and their bytes are free, before rank 1 raises
    the event."""
    openmpi_case.configure(events=module_events(openmpi_case), nz="32", size="440 KiB")
    outcome = openmpi_case.run("iterations=12", "ahead=8", "signal=all", "final_wait=1")
    assert outcome.status == 0, outcome.text
    rows = rows_of_sums(openmpi_case)
    assert [row[1] for row in rows] == list(range(12))
    for _, iteration, _, blocks, left_out, found in rows:
        assert blocks + left_out == 2
        each = [expected_sum(iteration, rank, 32) for rank in range(2)]
        assert found in [sum(shown) for shown in combinations(each, blocks)], f"iteration {iteration}"
    left_out = sum(row[4] for row in rows)
    assert left_out > 0, "no block was stored early: the test shows nothing"
    assert openmpi_case.counts()["unseen_blocks"] == left_out
    check_complete(openmpi_case, 12)


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
    run = openmpi_case.start("iterations=100", "signal=now", openmpi_case.gates(5))
    wait_for(lambda: list(openmpi_case.output.glob("tiny.*.i*.h5")), what="a file while the run goes on")
    assert run.poll() is None, "the run was over"
    openmpi_case.open_gate(5)
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


GATED = """\
events:
  each: {actions: [hold], scope: client}
actions:
  hold: {type: module, module: MODULE, function: gated_action, options: {until: GATE}}"""


def gated_events(case: Case) -> str:
    """Events whose actions wait until the file `go` is there."""
    module = str(BUILDS[case.mpi] / "tests/libgated_action.so")
    return GATED.replace("MODULE", module).replace("GATE", str(case.directory / "go"))


def gated(case: Case) -> list[tuple[int, float]]:
    """Of each action that ran: how many blocks it saw, and the first value."""
    rows = [line.split() for line in (case.output / "gated.txt").read_text().splitlines()]
    return [(int(blocks), float(first)) for blocks, first in rows]


def test_files_are_stored_while_actions_wait_and_the_queue_is_told(openmpi_case: Case) -> None:
    openmpi_case.configure(events=gated_events(openmpi_case), server="threads: 2")
    run = openmpi_case.start("iterations=10", "signal=each", "signals=50", "final_wait=1")
    log = openmpi_case.output / "server-n0000.log"
    wait_for(lambda: log.exists() and "actions wait: events come faster" in log.read_text(), what="the log says it")
    # No action ends before the gate of the actions is open: one thread is left to the files.
    for number in range(10):
        wait_for((openmpi_case.output / f"tiny.n0000.i{number:08d}.h5").exists, what=f"iteration {number} is stored")
    assert not (openmpi_case.output / "gated.txt").exists(), "an action ended: the test shows nothing"
    (openmpi_case.directory / "go").touch()
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    assert len(gated(openmpi_case)) == 2 * 10 * 50
    assert openmpi_case.counts()["waiting_actions"] >= 64
    assert openmpi_case.counts()["failed_actions"] == 0
    check_complete(openmpi_case, 10)


def test_waiting_actions_see_their_blocks_whatever_comes_after(openmpi_case: Case) -> None:
    """The buffer is full of what actions will read, the rest goes through the spill file: both are there in the end."""
    openmpi_case.ranks = 1
    openmpi_case.configure(
        events=gated_events(openmpi_case), nz="512", size="4 MiB", buffer=", when-full: spill, blocks-per-client: 1000"
    )
    run = openmpi_case.start("iterations=200", "signal=each")
    wait_for(lambda: (openmpi_case.output / "phases-n0000.csv").exists(), what="the server runs")
    phases = openmpi_case.output / "phases-n0000.csv"
    wait_for(lambda: phases.read_text().rstrip().rsplit("\n", 1)[-1].startswith("199,"), what="all iterations ended")
    server = openmpi_case.server_process()
    own_kb = int(Path(f"/proc/{server}/status").read_text().split("RssAnon:")[1].split()[0])
    assert own_kb < 24 << 10 or sanitizers.report_directory(), "50 MiB of spilled blocks are in memory"
    (openmpi_case.directory / "go").touch()
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    assert gated(openmpi_case) == [(1, 1000 * i + 1.25) for i in range(200)]
    check_complete(openmpi_case, 200)


def most_that_waited(case: Case, signals: int) -> int:
    """How many actions waited at once in a run whose events fill the server's queue before any action ends: of a plugin
    that ends its process then, and is put aside."""
    case.ranks = 1
    case.configure(events=faulty(case, f"do: abort, until: {case.directory / 'go'}", keys=", retries: 1"))
    run = case.start("iterations=1", "signal=each", f"signals={signals}")
    log = case.output / "server-n0000.log"
    wait_for(lambda: log.exists() and "no event is taken" in log.read_text(), what="the queue is full")
    (case.directory / "go").touch()
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    counts = case.counts()
    assert (counts["failed_actions"], counts["skipped_actions"]) == (1, signals - 1)
    check_complete(case, 1)
    return int(counts["waiting_actions"])


def test_a_queue_of_actions_ends_somewhere(openmpi_case: Case) -> None:
    assert most_that_waited(openmpi_case, 80000) >= 65536


def test_a_queue_of_actions_with_many_blocks_ends_sooner(openmpi_case: Case) -> None:
    openmpi_case.variables = tuple(f"v{i}" for i in range(128))
    assert 30000 < most_that_waited(openmpi_case, 50000) < 40000
