"""Clients that cannot hold a handle of their server's process: a kernel or a filter without pidfds, PID namespaces."""

import shutil
import subprocess

import pytest
from running import (
    LAUNCHERS,
    Case,
    check_complete,
    finish,
    is_gone,
    living_servers_of,
    stop_server,
    stopped_server,
    wait_for,
)

WITHOUT_PIDFDS = ["strace", "-f", "-qq", "--seccomp-bpf", "-e", "trace=pidfd_open,pidfd_send_signal", "-o", "calls",
                  "-e", "inject=pidfd_open,pidfd_send_signal:error=ENOSYS"]  # fmt: skip


@pytest.fixture
def without_pidfds(openmpi_case: Case) -> Case:
    """No process of the run is given one."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    openmpi_case.launcher = [*WITHOUT_PIDFDS, *LAUNCHERS["openmpi"]]
    return openmpi_case


def refused(case: Case) -> int:
    calls: str = (case.directory / "calls").read_text()
    return calls.count("ENOSYS")


@pytest.fixture
def in_pid_namespaces(openmpi_case: Case) -> Case:
    """Each rank in one of its own. The server is in that of the rank that started it, unseen by the other."""
    namespace = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    probe = subprocess.run([*namespace, "true"], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        pytest.skip(f"no PID namespace can be made: {probe.stderr.strip()}")
    # Its transport over shared memory names processes by their numbers.
    openmpi_case.launcher = [*LAUNCHERS["openmpi"], "--mca", "btl", "tcp,self"]
    openmpi_case.inside = namespace
    return openmpi_case


def test_a_killed_server_is_replaced_without_pidfds(without_pidfds: Case) -> None:
    without_pidfds.configure()
    run = without_pidfds.start("iterations=30", "final_wait=1", without_pidfds.gates(4))
    without_pidfds.wait_at_gate(4)
    stop_server(without_pidfds.server_process())
    without_pidfds.open_gate(4)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    assert refused(without_pidfds) >= 2
    check_complete(without_pidfds, 30)
    assert without_pidfds.counts()["server_restarts"] == 1


@pytest.mark.alone
def test_a_server_that_hangs_is_ended_without_pidfds(without_pidfds: Case) -> None:
    without_pidfds.configure(server="hang-timeout: 2 s")
    run = without_pidfds.start("iterations=30", "final_wait=1", without_pidfds.gates(4))
    without_pidfds.wait_at_gate(4)
    with stopped_server(without_pidfds) as server:
        without_pidfds.open_gate(4)
        outcome = finish(run)
        assert outcome.status == 0, outcome.text
        wait_for(lambda: is_gone(server), what="the one that hung is gone")
    check_complete(without_pidfds, 30)
    assert without_pidfds.counts()["server_restarts"] == 1


def test_a_client_that_dies_without_pidfds_is_missed(without_pidfds: Case) -> None:
    without_pidfds.configure()
    without_pidfds.run("iterations=30", "pause_ms=5", "together=1", "die_rank=1", "die_at=7", "die=kill", limit_s=30)
    wait_for(lambda: without_pidfds.counts()["finished"], what="the server drains")
    assert without_pidfds.counts()["dead_clients"] >= 1
    check_complete(without_pidfds, 7)


def test_ranks_in_pid_namespaces_of_their_own_are_served(in_pid_namespaces: Case) -> None:
    in_pid_namespaces.configure()
    outcome = in_pid_namespaces.run("iterations=30", "final_wait=1")
    assert outcome.status == 0, outcome.text
    check_complete(in_pid_namespaces, 30)
    assert not list(in_pid_namespaces.output.glob("counts-c*.json")), "a client had to store by itself"


def test_ranks_in_pid_namespaces_of_their_own_lose_a_server(in_pid_namespaces: Case) -> None:
    in_pid_namespaces.configure()
    run = in_pid_namespaces.start("iterations=30", "final_wait=1", in_pid_namespaces.gates(4))
    in_pid_namespaces.wait_at_gate(4)
    [server] = living_servers_of(in_pid_namespaces)
    assert server != in_pid_namespaces.server_process(), "its number is the same in there"
    stop_server(server)
    in_pid_namespaces.open_gate(4)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(in_pid_namespaces, 30)
    assert in_pid_namespaces.counts()["server_restarts"] == 1
