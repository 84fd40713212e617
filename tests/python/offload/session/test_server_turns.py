"""Servers take turns with other jobs: `turns: coordinator` under `halcyon run --coordinate`."""

import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from coordinator_process import PATIENT, CoordinatorProcess
from overheard import Overheard
from running import LAUNCHERS, Case, check_complete, finish, is_gone
from scripted_agents import Agent, has_turn, run_until

from halcyon.coordinate.address import Address
from halcyon.coordinate.configuration import find_program
from halcyon.coordinate.state import Application
from halcyon.errors import UnavailableError
from halcyon.layers.preload import find_library

PATIENCE_MS = "20000"
"""Of jobs where nobody is silent: this machine may be slow."""
ITERATION_BYTES = 2 * 4 * 8 * 16 * 4
"""Of the two ranks, where nothing else is configured."""


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[CoordinatorProcess]:
    """One for all below the folder of the test; it does not run yet."""
    try:
        find_program()
        find_library()
    except UnavailableError as why:
        pytest.skip(str(why))
    made = CoordinatorProcess(Path(tempfile.mkdtemp(prefix="coordinator-")), paths=[str(tmp_path)], times=PATIENT)
    yield made
    if made.process is not None and made.process.poll() is None:
        made.signal(signal.SIGCONT)
        made.kill()


def coordinate(case: Case, of: Address, patience_ms: str = PATIENCE_MS, **parts: str) -> Case:
    """The case is a job that takes turns below its folder's parent, where the daemon at the address gives them."""
    case.directory.mkdir(exist_ok=True)
    case.configure(**({"server": "threads: 1, turns: coordinator"} | parts))
    given = ["--coordinator", f"{case.directory.parent}={of}", "-o", str(case.directory / "recorded")]
    case.launcher = [
        sys.executable, "-m", "halcyon", "run", "--coordinate", "--no-predict", *given, "--", *LAUNCHERS[case.mpi],
    ]  # fmt: skip
    case.environment["HALCYON_COORDINATE_PATIENCE_MS"] = patience_ms
    return case


@pytest.fixture
def job(openmpi_case: Case, tmp_path: Path) -> Case:
    return Case(tmp_path / "job", openmpi_case.mpi)


def application_of_job(of: CoordinatorProcess) -> Application:
    """The only one beside the scripted one: ranks and server of a job are one application."""
    (found,) = [one for one in of.top().applications if one.job != "other"]
    return found


def waits(of: CoordinatorProcess) -> Callable[[], bool]:
    return lambda: application_of_job(of).state == "waiting"


def other_with_turn(of: CoordinatorProcess) -> Agent:
    other = Agent(of, "other")
    other.begin()
    run_until([other], has_turn(other), "the other job has the turn")
    return other


def test_a_server_waits_for_the_turn_of_its_application(daemon: CoordinatorProcess, job: Case) -> None:
    daemon.start()
    run = coordinate(job, daemon.address).start("iterations=3", job.gates(1))
    job.wait_at_gate(1)
    other = other_with_turn(daemon)
    job.open_gate(1)
    run_until([other], waits(daemon), "the server waits")
    assert application_of_job(daemon).bytes_left == ITERATION_BYTES
    assert not list(job.output.glob(f"*{job.data_file(1).stem}*")), "it waits before it opens anything"
    other.release()
    run_until([other], lambda: run.poll() is not None, "the run ends")
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(job, 3)
    assert job.counts()["unasked_bytes"] == 0
    assert job.counts()["messages"] == []


def test_a_server_has_no_layer_in_which_it_would_wait_once_more(daemon: CoordinatorProcess, job: Case) -> None:
    daemon.start()
    run = coordinate(job, daemon.address).start("iterations=2", job.gates(1))
    job.wait_at_gate(1)
    environment = Path(f"/proc/{job.server_process()}/environ").read_bytes().decode().split("\0")
    assert "HALCYON_LAYERS=" in environment
    assert any(entry.startswith("HALCYON_AGENT_JOB=") for entry in environment)
    job.open_gate(1)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text


@pytest.mark.parametrize("parts", [{"top": "inline: true", "server": "threads: 1"}, {"server": "threads: 1"}],
                         ids=["inline", "server"])  # fmt: skip
def test_processes_that_hold_a_directory_for_halcyon_wait_all_the_same(
    daemon: CoordinatorProcess, job: Case, parts: dict[str, str]
) -> None:
    """Ranks that store by themselves, and a server without turns of its own, whose calls wait one by one."""
    daemon.start()
    writer = "c00000" if "top" in parts else "n0000"
    run = coordinate(job, daemon.address, **parts).start("iterations=3", job.gates(1))
    job.wait_at_gate(1, writer)
    other = other_with_turn(daemon)
    job.open_gate(1)
    run_until([other], lambda: any(one.state == "waiting" for one in daemon.top().applications), "they wait")
    assert not job.data_file(1, writer).exists()
    other.release()
    run_until([other], lambda: run.poll() is not None, "the run ends")
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    assert "out of turn" not in outcome.text
    check_complete(job, 3)


def test_two_simulations_with_servers_never_have_the_turn_at_once(
    daemon: CoordinatorProcess, openmpi_case: Case, tmp_path: Path
) -> None:
    daemon.configure(paths=[str(tmp_path)])
    daemon.start()
    jobs, runs, ears = [], [], []
    for name in ("a", "b"):
        ears.append(Overheard(daemon.folder / name, daemon.socket))
        one = Case(tmp_path / name, openmpi_case.mpi)
        jobs.append(coordinate(one, Address(str(ears[-1].path)), nz="64", size="64 MiB"))
        runs.append(one.start("iterations=20", one.gates(1)))
    for one in jobs:
        one.wait_at_gate(1)
    for one in jobs:
        one.open_gate(1)
    for run in runs:
        outcome = finish(run)
        assert outcome.status == 0, outcome.text
    for one in jobs:
        check_complete(one, 20)
        assert one.counts()["unasked_bytes"] == 0
    a, b = (turns_of(ear) for ear in ears)
    assert any(ear_waited(ear) for ear in ears), "neither had to wait"
    for begin, end in a:
        assert not any(begin < other < end for other, _ in b), "B was given the turn while A had it"
    for begin, end in b:
        assert not any(begin < other < end for other, _ in a), "A was given the turn while B had it"


def ear_waited(ear: Overheard) -> bool:
    return any(one.kind == "wait" for one in ear.all)


def turns_of(ear: Overheard) -> list[tuple[float, float]]:
    """From when the agent was given a turn to when it gave that back. Renewals of a lease that it has given back, which
    were under way, may still come; an agent ignores them."""
    begins = [(one.at_s, one.message["lease"]) for one in ear.all if one.kind in ("grant", "standing")]
    ends = [(one.at_s, None) for one in ear.all if one.kind in ("release", "stopped")]
    turns, begun, ended = [], None, set()
    for when, lease in sorted(begins + ends, key=lambda one: one[0]):
        if lease is not None and lease not in ended and begun is None:
            begun = (when, lease)
        elif lease is None and begun is not None:
            turns.append((begun[0], when))
            ended.add(begun[1])
            begun = None
    assert turns, "it never had a turn"
    return turns


def test_the_next_job_goes_on_when_a_server_is_killed_that_has_the_turn(daemon: CoordinatorProcess, job: Case) -> None:
    daemon.start()
    coordinate(job, daemon.address, server="threads: 1, turns: coordinator, max-restarts: 0")
    job.preload_into_servers("killed_at_rename", KILLED_AT="1", KILLED_ONTO="i00000001.h5")
    run = job.start("iterations=2", job.gates(1, 2))
    job.wait_at_gate(1)
    server = job.server_process()
    other = other_with_turn(daemon)
    job.open_gate(1)
    run_until([other], waits(daemon), "the server waits")
    other.release()
    other.begin()  # behind the job
    run_until([other], lambda: is_gone(server), "the server dies with the turn")
    run_until([other], has_turn(other), "the other job has the turn")
    assert run.poll() is None
    other.release()
    job.open_gate(2)
    run_until([other], lambda: run.poll() is not None, "the run ends")
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(job, 2)


def test_without_a_coordinator_all_is_stored_and_said(daemon: CoordinatorProcess, job: Case) -> None:
    outcome = coordinate(job, daemon.address, patience_ms="200").run("iterations=3")
    assert outcome.status == 0, outcome.text
    check_complete(job, 3)
    counts = job.counts()
    assert counts["unasked_bytes"] == 3 * ITERATION_BYTES
    assert counts["messages"] == [
        f"the coordinator of {job.directory.parent} does not answer: until it does, files are stored without their turn"
    ]


@pytest.mark.alone
def test_a_daemon_that_stops_midway_delays_and_loses_nothing(daemon: CoordinatorProcess, job: Case) -> None:
    daemon.start()
    run = coordinate(job, daemon.address, patience_ms="1000").start("iterations=3", job.gates(1))
    job.wait_at_gate(1)
    other = other_with_turn(daemon)
    daemon.signal(signal.SIGSTOP)
    job.open_gate(1)
    outcome = finish(run)
    daemon.signal(signal.SIGCONT)
    other.closed = True
    assert outcome.status == 0, outcome.text
    check_complete(job, 3)
    assert job.counts()["unasked_bytes"] == 2 * ITERATION_BYTES
    assert any("does not answer" in message for message in job.counts()["messages"])


def test_a_run_without_coordinate_stores_without_turns_and_says_so(openmpi_case: Case) -> None:
    openmpi_case.configure(server="threads: 1, turns: coordinator")
    outcome = openmpi_case.run("iterations=2")
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 2)
    counts = openmpi_case.counts()
    assert counts["unasked_bytes"] == 2 * ITERATION_BYTES
    assert [one for one in counts["messages"] if "halcyon run --coordinate" in one] == counts["messages"]
