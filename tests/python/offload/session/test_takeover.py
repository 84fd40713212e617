"""A server that takes over is killed, held and slowed down before its system calls: never two at work, nothing lost."""

import os
import random
import resource
import signal
import subprocess
from pathlib import Path

import pytest
from running import Case, check_complete, finish, processes_of, stop_server, stopped_server, wait_for
from stored import check_whole_values
from takeover import ITERATIONS, NZ, Hit, Takeover, check_counts_after, steps_of_a_takeover

ROUNDS = 12
"""Of each kind."""


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> int:
    return steps_of_a_takeover(Case(tmp_path_factory.mktemp("steps")))


@pytest.mark.parametrize("part", range(ROUNDS))
@pytest.mark.parametrize("mode", ["kill", "hold", "slow"])
def test_a_takeover_stopped_at_a_step_loses_nothing(openmpi_case: Case, steps: int, mode: str, part: int) -> None:
    """One step out of each of as many equal parts of the takeover."""
    step = random.Random(f"{mode}{part}").randrange(part * steps // ROUNDS, (part + 1) * steps // ROUNDS) + 1
    outcome = Takeover((Hit(step, mode),)).play(openmpi_case)
    assert outcome.status == 0, outcome.text
    check_whole_values(openmpi_case, ITERATIONS, NZ)
    check_counts_after(openmpi_case, outcome)


@pytest.mark.alone
def test_a_server_that_stands_still_is_replaced_and_said_to_be(openmpi_case: Case) -> None:
    openmpi_case.configure(server="hang-timeout: 1 s")
    run = openmpi_case.start(f"iterations={ITERATIONS}", "final_wait=1", openmpi_case.gates(4))
    openmpi_case.wait_at_gate(4)
    with stopped_server(openmpi_case):
        openmpi_case.open_gate(4)
        outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, ITERATIONS)
    assert (
        "gives no sign of life; it is killed and replaced after 1000 ms"
        in (openmpi_case.output / "server-n0000.log").read_text()
    )
    assert openmpi_case.counts()["server_restarts"] == 1


@pytest.mark.alone
def test_who_waits_five_seconds_for_a_server_reads_why_when_the_call_returns(openmpi_case: Case) -> None:
    openmpi_case.configure()
    run = openmpi_case.start("iterations=8", "final_wait=1", openmpi_case.gates(4))
    openmpi_case.wait_at_gate(4)
    log = openmpi_case.output / "server-n0000.log"
    said = "the server of this node gives no sign of life; it is killed and replaced after 60000 ms"
    with stopped_server(openmpi_case):
        openmpi_case.open_gate(4)
        wait_for(lambda: log.read_text().count(said) == openmpi_case.ranks, what="both ranks complain")
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    for rank in outcome.ranks.values():
        assert rank["error"] == ""
        assert rank["notice"].startswith(said), rank
        assert int(rank["notice"].split("(for ")[1].split(" ms by now")[0]) >= 5000
    assert openmpi_case.counts()["server_restarts"] == 0


def start_and_close_sync(case: Case) -> "tuple[subprocess.Popen[str], Path]":
    """A run that is about to close its session, and the file that keeps its server's fsync from returning."""
    closed = case.directory / "closed"
    case.preload_into_servers("gated_calls", GATED_SYNC=str(closed))
    case.configure(server="hang-timeout: 1 s")
    run = case.start(f"iterations={ITERATIONS}", "durable_at=0", case.gates(ITERATIONS))
    case.wait_at_gate(ITERATIONS)
    closed.touch()
    return run, closed


@pytest.mark.alone
def test_a_server_that_syncs_for_long_is_left_in_peace(openmpi_case: Case) -> None:
    """It gives signs of life meanwhile, and whoever waits is told what it does."""
    run, closed = start_and_close_sync(openmpi_case)
    log = openmpi_case.output / "server-n0000.log"
    openmpi_case.open_gate(ITERATIONS)
    wait_for(lambda: "syncs what was stored" in log.read_text(), what="a word on the server's work")
    # Whoever waits looks at the server each 50 ms: 2 s of its time, twice the limit.
    client = processes_of(run)[0]
    looked = looks_of(client, client)
    wait_for(lambda: looks_of(client, client) > looked + 40, what="the client has waited on")
    closed.unlink()
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, ITERATIONS)
    assert openmpi_case.counts()["server_restarts"] == 0


@pytest.mark.alone
def test_a_server_stopped_while_it_syncs_at_the_end_is_replaced(openmpi_case: Case) -> None:
    run, closed = start_and_close_sync(openmpi_case)
    log = openmpi_case.output / "server-n0000.log"
    server = openmpi_case.server_process()
    openmpi_case.open_gate(ITERATIONS)
    wait_for(lambda: "syncs what was stored" in log.read_text(), what="the server syncs")
    os.kill(server, signal.SIGSTOP)
    closed.unlink()
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, ITERATIONS)
    assert openmpi_case.counts()["server_restarts"] == 1


def rank_of(process: int) -> int:
    words = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    return next(int(word.partition(b"=")[2]) for word in words if word.startswith(b"OMPI_COMM_WORLD_RANK="))


def test_a_client_out_of_descriptors_starts_no_rival(openmpi_case: Case) -> None:
    """It cannot see who serves, which is no reason to think that nobody does."""
    openmpi_case.configure(nz="4")
    run = openmpi_case.start(f"iterations={ITERATIONS}", "final_wait=1", openmpi_case.gates(4))
    openmpi_case.wait_at_gate(4)
    first = openmpi_case.server_process()
    poor = next(process for process in processes_of(run) if rank_of(process) == 1)
    before = resource.prlimit(poor, resource.RLIMIT_NOFILE)
    resource.prlimit(poor, resource.RLIMIT_NOFILE, (3, before[1]))
    stop_server(first)
    log = openmpi_case.output / "server-n0000.log"
    wait_for(lambda: "took over as server 2" in log.read_text(), what="the next server")
    looked = looks_of(poor)
    wait_for(lambda: looks_of(poor) > looked + 10, what="the client without descriptors looks for a server")
    resource.prlimit(poor, resource.RLIMIT_NOFILE, before)
    openmpi_case.open_gate(4)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, ITERATIONS)
    assert openmpi_case.counts()["server_restarts"] == 1
    assert "server 3" not in log.read_text()


def looks_of(process: int, thread: int | None = None) -> int:
    """How often a thread went to sleep; the one that watches the server, unless another is given."""
    if thread is None:
        tasks = Path(f"/proc/{process}/task").iterdir()
        thread = next(int(task.name) for task in tasks if (task / "comm").read_text().strip() == "halcyon-watch")
    status = Path(f"/proc/{process}/task/{thread}/status").read_text()
    return int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
