"""The servers of a job as one MPI world: `halcyon run --servers-per-node 1 -- mpirun …`, and events of scope `job`."""

import os
import secrets
import signal

import pytest
from running import BUILDS, LAUNCHERS, Case, check_complete, finish, is_gone, stop_server, wait_for
from world import (
    TwoNodes,
    finish_world,
    log_of,
    run_beside_world,
    start_beside_world,
    start_halcyon,
    start_two_node_run,
)

pytestmark = pytest.mark.usefixtures("_world_server")

JOB_EVENT = "events:\n  all: {actions: [note], scope: job}\nactions:\n  note: {type: log}"


def events_in(log: str) -> list[str]:
    return [line.split("Z ", 1)[1] for line in log.splitlines() if "Z event '" in line and "iteration" in line]


def test_a_job_beside_a_world_stores_every_block_and_runs_its_job_events(case: Case) -> None:
    case.configure(events=JOB_EVENT)
    outcome = run_beside_world(case, "iterations=5", "signal=all")
    assert outcome.status == 0, outcome.text
    check_complete(case, 5)
    # Each of the two ranks raised it in each iteration, and each time it ran once.
    assert sorted(events_in(log_of(case))) == sorted(f"event 'all' iteration {i}" for i in range(5) for _ in range(2))
    assert "server 1 of session" in log_of(case)
    assert "node 0, 2 client(s)" in log_of(case)
    counts = case.counts()
    assert counts["finished"]
    assert counts["lost_signals"] == counts["server_restarts"] == 0
    wait_for(lambda: is_gone(case.server_process()), what="the server ends with its world")


def test_servers_of_a_world_take_no_turns_and_say_so(openmpi_case: Case) -> None:
    openmpi_case.configure(server="threads: 1, turns: coordinator", store=", collective: true")
    outcome = run_beside_world(openmpi_case, "iterations=3")
    assert outcome.status == 0, outcome.text
    (message,) = [one for one in openmpi_case.counts()["messages"] if "turns: coordinator" in one]
    assert "the servers of a server world take no turns" in message


def test_with_several_threads_job_events_run_one_after_the_other(openmpi_case: Case) -> None:
    openmpi_case.ranks = 1
    openmpi_case.configure(events=JOB_EVENT, server="threads: 4")
    assert run_beside_world(openmpi_case, "iterations=50", "signal=all").status == 0
    assert events_in(log_of(openmpi_case)) == [f"event 'all' iteration {i}" for i in range(50)]


def test_when_a_world_dies_the_clients_start_servers_of_their_own_and_nothing_is_lost(case: Case) -> None:
    case.configure(events=JOB_EVENT)
    run = start_beside_world(case, "iterations=40", "signal=all", case.gates(6))
    case.wait_at_gate(6)
    stop_server(case.server_process())
    case.open_gate(6)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(case, 40)
    counts = case.counts()
    assert counts["server_restarts"] == 1
    # Job events need the world: those that did not run any more are counted, and the log says so.
    assert counts["lost_signals"] > 0
    ran = len(events_in(log_of(case)))
    assert ran + counts["lost_signals"] >= 2 * 40, "an event neither ran nor was counted"
    assert "the server world is gone" in log_of(case)
    assert "the server world ended with exit code" in outcome.text


@pytest.mark.parametrize("how", ["kill", "abort"])
def test_a_world_stores_what_dead_clients_left_and_ends(openmpi_case: Case, how: str) -> None:
    openmpi_case.configure(events=JOB_EVENT)
    options = ("iterations=30", "pause_ms=5", "together=1", "signal=all", "die_rank=1", "die_at=7", f"die={how}")
    outcome = run_beside_world(openmpi_case, *options)
    assert outcome.status != 0, "the job must notice"
    assert openmpi_case.counts()["finished"], "halcyon run ended before the servers did"
    wait_for(lambda: is_gone(openmpi_case.server_process()), what="the server ends")
    check_complete(openmpi_case, 7)


def test_a_world_without_clients_ends_and_the_exit_code_is_the_commands(case: Case) -> None:
    command = [*LAUNCHERS[case.mpi], "-n", "1", "sh", "-c", "echo $HALCYON_SESSION; exit 7"]
    outcome = finish(start_halcyon(case, "--servers-per-node", "1", "--", *command))
    assert outcome.status == 7, outcome.text
    assert "no client came: nothing was stored" in outcome.text
    assert len(outcome.text.splitlines()[0]) == 32, "the command was not told the session"


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_simulation_and_the_servers_store_what_they_have(openmpi_case: Case) -> None:
    openmpi_case.configure()
    run = start_beside_world(openmpi_case, "iterations=30", openmpi_case.gates(4))
    openmpi_case.wait_at_gate(4)
    os.killpg(run.pid, signal.SIGINT)
    outcome = finish(run)
    assert outcome.status != 0
    assert openmpi_case.counts()["finished"]
    wait_for(lambda: is_gone(openmpi_case.server_process()), what="the server ends")
    check_complete(openmpi_case, 4)


def test_a_killed_halcyon_run_does_not_take_the_servers_along(openmpi_case: Case) -> None:
    openmpi_case.configure()
    run = start_beside_world(openmpi_case, "iterations=40", openmpi_case.gates(4))
    openmpi_case.wait_at_gate(4)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    openmpi_case.open_gate(4)
    wait_for(lambda: openmpi_case.counts()["finished"], limit_s=60, what="the simulation ends, the server drains")
    check_complete(openmpi_case, 40)
    assert openmpi_case.counts()["server_restarts"] == 0


def test_a_session_without_its_world_is_refused_with_the_reason(
    openmpi_case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a program opens a second session, or runs on nodes where the world has no server."""
    openmpi_case.configure()
    monkeypatch.setenv("HALCYON_SESSION", secrets.token_hex(16))
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status != 0
    assert "HALCYON_SESSION names a server world" in outcome.ranks[0]["open"]


def test_without_a_world_the_command_runs_as_it_is(openmpi_case: Case) -> None:
    openmpi_case.configure()
    outcome = finish(start_halcyon(openmpi_case, "--", *openmpi_case.command("iterations=3")))
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 3)
    assert finish(start_halcyon(openmpi_case, "--", "sh", "-c", "exit 3")).status == 3
    assert finish(start_halcyon(openmpi_case, "--", "sh", "-c", "kill -9 $$")).status == 137


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--servers-per-node", "2", "--", "mpirun", "x"], "the only value is 1"),
        (["--servers-per-node", "1", "--", "srun", "x"], "has to begin with mpirun"),
        (["--servers-per-node", "1"], "no command to run"),
    ],
)
def test_what_cannot_be_run_is_refused_with_the_reason(openmpi_case: Case, arguments: list[str], reason: str) -> None:
    outcome = finish(start_halcyon(openmpi_case, *arguments))
    assert outcome.status == 2
    assert reason in outcome.text


# One node's clients raise `here`; its action raises `everywhere`, whose action raises `after`.
CHAIN = """\
events:
  here: {actions: [first], scope: node}
  everywhere: {actions: [second], scope: job}
  after: {actions: [note], scope: job}
actions:
  first: {type: module, module: MODULE, function: write_sums, options: {raise: everywhere}}
  second: {type: module, module: MODULE, function: write_sums, options: {raise: after}}
  note: {type: log}"""


def chain_of(case: Case) -> str:
    return CHAIN.replace("MODULE", str(BUILDS[case.mpi] / "tests/libwrite_sums.so"))


def test_an_action_raises_a_job_event_and_that_ones_another(case: Case) -> None:
    """The last of them after all clients have gone."""
    case.configure(events=chain_of(case))
    outcome = run_beside_world(case, "iterations=5", "signal=here")
    assert outcome.status == 0, outcome.text
    assert events_in(log_of(case)) == [f"event 'after' iteration {i}" for i in range(5)]
    assert case.counts()["failed_actions"] == case.counts()["lost_signals"] == 0


def test_a_job_event_that_an_action_raises_when_the_world_has_died_is_counted_as_lost(openmpi_case: Case) -> None:
    openmpi_case.configure(events=chain_of(openmpi_case))
    run = start_beside_world(openmpi_case, "iterations=40", "signal=here", openmpi_case.gates(6))
    openmpi_case.wait_at_gate(6)
    stop_server(openmpi_case.server_process())
    openmpi_case.open_gate(6)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    counts = openmpi_case.counts()
    assert counts["failed_actions"] > 0
    assert "action 'first' returned 102" in counts["messages"]
    assert "the server world is gone" in log_of(openmpi_case)


# ---- two nodes ------------------------------------------------------------------------------------------------------


def test_servers_of_two_nodes_run_the_same_job_events_in_the_same_order(
    two_nodes: TwoNodes,
) -> None:
    case, nodes = two_nodes
    case.configure(events=JOB_EVENT)
    world, run = start_two_node_run(case, nodes, "iterations=30", "signal=all")
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    finish_world(world)
    check_complete(case, 30)
    assert "node 1, 1 client(s)" in log_of(case, 1)
    first, second = events_in(log_of(case, 0)), events_in(log_of(case, 1))
    assert len(first) == 2 * 30, "each node raises it in each iteration"
    assert first == second


def test_what_an_action_of_one_node_raises_runs_on_both(two_nodes: TwoNodes) -> None:
    case, nodes = two_nodes
    case.configure(events=chain_of(case))
    world, run = start_two_node_run(case, nodes, "iterations=30", "signal=here")
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    finish_world(world)
    first, second = events_in(log_of(case, 0)), events_in(log_of(case, 1))
    assert len(first) == 2 * 2 * 30, "either node's action raises one on both, and either node answers each"
    assert first == second


def test_when_one_server_of_two_nodes_dies_both_are_replaced(two_nodes: TwoNodes) -> None:
    case, nodes = two_nodes
    case.configure(events=JOB_EVENT)
    world, run = start_two_node_run(case, nodes, "iterations=60", "signal=all", case.gates(4))
    case.wait_at_gate(4, "n0001")
    stop_server(case.server_process("n0001"))
    case.open_gate(4)
    outcome = finish(run)
    assert finish(world).status != 0
    assert outcome.status == 0, outcome.text
    check_complete(case, 60)
    for writer in ("n0000", "n0001"):
        assert case.counts(writer)["server_restarts"] == 1
