"""`halcyon run --servers-per-node 1 -- mpirun …` itself, as a user types it on the first of two nodes.

Open MPI reaches the second node through an agent in the place of ssh, named on the command line as any user would.
"""

import os
import signal
import subprocess
import sys

import pytest
from running import BUILDS, Case, check_complete, finish, is_gone, stop_server, wait_for
from test_collective import TOGETHER, check_view, check_wholes, files_of, leftovers
from test_server_world import JOB_EVENT, events_in, log_of


@pytest.fixture
def two_node_case(two_node_case: Case) -> Case:
    if not (BUILDS["openmpi"] / "bin/halcyon-server-world").exists():
        pytest.skip("no build of halcyon-server-world for openmpi")
    return two_node_case


def start(case: Case, *options: str) -> "subprocess.Popen[str]":
    command = case.command(*options)
    mpirun = command.index("mpirun.openmpi")
    on_first_node, simulation = command[:mpirun], command[mpirun:]
    build = BUILDS["openmpi"]
    environment = os.environ | {
        "HALCYON_MODULE_PATH": str(build / "lib"),
        "HALCYON_SERVER_WORLD": str(build / "bin/halcyon-server-world"),
        "HALCYON_SERVER": str(build / "bin/halcyon-server"),
    }
    return subprocess.Popen(
        [*on_first_node, sys.executable, "-m", "halcyon", "run", "--servers-per-node", "1", "--", *simulation],
        cwd=case.directory, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def server_of(case: Case, node: int) -> int:
    return case.server_process(f"n{node:04}")


def test_the_command_starts_a_server_on_each_node_and_job_events_agree(two_node_case: Case) -> None:
    two_node_case.configure(events=JOB_EVENT)
    outcome = finish(start(two_node_case, "iterations=20", "signal=all"), 120)
    assert outcome.status == 0, outcome.text
    check_complete(two_node_case, 20)
    first, second = (events_in(log_of(two_node_case, node)) for node in (0, 1))
    assert len(first) == 2 * 20, "each node raises it in each iteration"
    assert first == second
    for node in (0, 1):
        assert f"node {node}, 1 client(s)" in log_of(two_node_case, node)
        counts = two_node_case.counts(f"n{node:04}")
        assert counts["finished"]
        assert counts["lost_signals"] == counts["server_restarts"] == 0
        wait_for(lambda n=node: is_gone(server_of(two_node_case, n)), what="the servers end with their world")


def test_both_nodes_write_one_file_for_each_group(two_node_case: Case) -> None:
    two_node_case.variables = ("theta", "qv")
    two_node_case.configure(store=TOGETHER + ", iterations-per-file: 4")
    outcome = finish(start(two_node_case, "iterations=10"), 120)
    assert outcome.status == 0, outcome.text
    check_view(two_node_case, 10)
    assert sorted(check_wholes(two_node_case)) == list(range(10))
    assert files_of(two_node_case, "all") == [f"tiny.all.i{i:08}.h5" for i in (0, 4, 8)]
    assert files_of(two_node_case, "n*") == leftovers(two_node_case) == []
    for writer in ("n0000", "n0001"):
        counts = two_node_case.counts(writer)
        assert counts["finished"]
        assert counts["iterations"] == 10
        assert counts["failed_files"] == counts["server_restarts"] == 0


def test_when_the_server_of_the_second_node_dies_nothing_is_lost(two_node_case: Case) -> None:
    two_node_case.configure(events=JOB_EVENT)
    run = start(two_node_case, "iterations=60", "signal=all", two_node_case.gates(4))
    two_node_case.wait_at_gate(4, "n0001")
    stop_server(server_of(two_node_case, 1))
    two_node_case.open_gate(4)
    outcome = finish(run, 120)
    assert outcome.status == 0, outcome.text
    check_complete(two_node_case, 60)
    assert "the server world ended with exit code" in outcome.text
    for writer in ("n0000", "n0001"):
        assert two_node_case.counts(writer)["server_restarts"] == 1


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_stores_what_both_nodes_have(two_node_case: Case) -> None:
    two_node_case.configure()
    run = start(two_node_case, "iterations=30", two_node_case.gates(4))
    for node in (0, 1):
        two_node_case.wait_at_gate(4, f"n{node:04}")
    os.killpg(run.pid, signal.SIGINT)
    outcome = finish(run, 120)
    assert outcome.status != 0
    for node in (0, 1):
        assert two_node_case.counts(f"n{node:04}")["finished"]
        wait_for(lambda n=node: is_gone(server_of(two_node_case, n)), what="the servers end")
    check_complete(two_node_case, 4)
