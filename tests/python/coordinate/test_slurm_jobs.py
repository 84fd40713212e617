"""Jobs of Slurm at a coordinator: announced by the prolog, ended by the epilog, taking turns between."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster import Cluster
from coordinator_process import LIMIT_S, OTHER_USER, wait_until
from scripted_agents import Agent, has_turn, heard, run_until

PATIENCE = {"HALCYON_COORDINATE_PATIENCE_MS": "20000"}
"""Of processes where nobody is silent: this machine may be slow."""

ENDLESS = """
import os, sys
fd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
while True:
    os.pwrite(fd, bytes(1 << 16), 0)
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of runs are made in the current one."""
    monkeypatch.chdir(tmp_path)


def states(at: Cluster) -> dict[str, str]:
    """Of the applications, by the number of their job."""
    return {number_of(one.job): one.state for one in at.daemon.top().applications if one.job.startswith("slurm-")}


def number_of(job: str) -> str:
    return job.removeprefix("slurm-").partition(".")[0]


def write(at: Cluster, name: str, *options: str) -> "subprocess.Popen[str]":
    """A job of its own that writes 8 MiB."""
    dd = ["dd", "if=/dev/zero", f"of={at.scratch / name}", "bs=1M", "count=8"]
    return at.start("srun", *options, "--halcyon=coordinate", "--halcyon-output", f"{name}.halcyon", *dd, **PATIENCE)


def ended(step: "subprocess.Popen[str]") -> str:
    """What it said, if all went well."""
    said, _ = step.communicate(timeout=LIMIT_S)
    assert step.returncode == 0, said
    return said


def test_two_jobs_take_turns(coordinated: Cluster) -> None:
    other = Agent(coordinated.daemon, "other")
    other.begin()
    run_until([other], has_turn(other), "the other one has the turn")
    jobs = [write(coordinated, name, "-w", node) for name, node in (("a", "c1"), ("b", "c2"))]
    run_until([other], lambda: list(states(coordinated).values()) == ["waiting", "waiting"], "both jobs wait")
    assert all((coordinated.scratch / name).stat().st_size == 0 for name in "ab")
    other.release()
    run_until([other], lambda: all(job.poll() is not None for job in jobs), "both jobs end")
    for job in jobs:
        said = ended(job)
        assert "1 process took turns: 8.39 MB in turn" in said
        assert "out of turn" not in said
    assert all((coordinated.scratch / name).stat().st_size == 8 << 20 for name in "ab")


def test_a_step_with_both_layers_is_recorded_and_takes_turns(coordinated: Cluster) -> None:
    other = Agent(coordinated.daemon, "other")
    other.begin()
    run_until([other], has_turn(other), "the other one has the turn")
    dd = ["dd", "if=/dev/zero", f"of={coordinated.scratch / 'both'}", "bs=1M", "count=8"]
    step = coordinated.start("srun", "--halcyon=trace,coordinate", "--halcyon-output", "both.halcyon", *dd, **PATIENCE)
    run_until([other], lambda: list(states(coordinated).values()) == ["waiting"], "the step waits")
    other.release()
    run_until([other], lambda: step.poll() is not None, "the step ends")
    said = ended(step)
    assert "1 process took turns: 8.39 MB in turn" in said
    assert "out of turn" not in said
    assert "1 process recorded; now: halcyon report" in said


@pytest.fixture
def resting(coordinated: Cluster, tmp_path: Path) -> Iterator[str]:
    """The number of a job that does nothing. Slurm takes half a minute to end one that has only begun to start."""
    job = coordinated.start("srun", "-N2", "sh", "-c", f": > {tmp_path}/rests-$SLURM_PROCID; exec sleep 1000")
    wait_until(lambda: len(list(tmp_path.glob("rests-*"))) == 2, "the job rests on both nodes")
    [announced] = coordinated.daemon.top().reservations
    yield number_of(announced.job)
    coordinated.said("scancel", number_of(announced.job))
    job.communicate(timeout=LIMIT_S)


def test_a_job_is_reserved_from_its_prolog_to_its_epilog(coordinated: Cluster, resting: str) -> None:
    [announced] = coordinated.daemon.top().reservations
    assert (announced.job, announced.user) == (f"slurm-{resting}", 0)
    assert (announced.nodes, announced.processes) == (2, 8)
    top = [sys.executable, "-m", "halcyon", "coordinator", "top", "--config", coordinated.daemon.config]
    said = coordinated.said(*top, COLUMNS="200")
    assert re.search(rf"reserved by the batch system\n.*\n.*\n *slurm-{resting} +root ", said), said
    coordinated.said("scancel", resting)
    wait_until(lambda: not coordinated.daemon.top().reservations, "the end of the job is announced")


def test_another_user_cannot_register_a_job_of_slurm(coordinated: Cluster, resting: str) -> None:
    claimer = Agent(coordinated.daemon, f"slurm-{resting}.0", user=OTHER_USER)
    run_until([claimer], heard(claimer, "refused"), "the claim is refused")
    assert claimer.of_type("refused")[0]["reason"] == (
        f"job 'slurm-{resting}.0' is reserved for user 0 by the batch system; this is user {OTHER_USER}"
    )


def test_a_job_that_was_cancelled_loses_its_turn_although_its_agent_hangs(coordinated: Cluster) -> None:
    """Neither silence nor the agent's own goodbye ends this turn: the epilog does."""
    endless = [sys.executable, "-c", ENDLESS, coordinated.scratch / "endless"]
    first = coordinated.start("srun", "--halcyon=coordinate", *endless, **PATIENCE)
    wait_until(lambda: "moving" in states(coordinated).values(), "the first job has the turn")
    [number] = states(coordinated)
    second = write(coordinated, "second")
    wait_until(lambda: "waiting" in states(coordinated).values(), "the second job waits")
    agent = agent_of(number)
    os.kill(agent, signal.SIGSTOP)
    try:
        coordinated.said("scancel", number)
        said = ended(second)
    finally:
        os.kill(agent, signal.SIGKILL)
    assert "1 process took turns: 8.39 MB in turn" in said
    assert "out of turn" not in said
    assert coordinated.daemon.count("ended_jobs") >= 1
    first.communicate(timeout=LIMIT_S)
    assert first.returncode != 0


def agent_of(number: str) -> int:
    """The process of a job's agent."""
    wanted = f"HALCYON_AGENT_JOB=slurm-{number}.".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "comm").read_text() == "halcyon-agent\n" and wanted in (folder / "environ").read_bytes():
                return int(folder.name)
        except OSError:  # it has ended
            continue
    raise AssertionError(f"no agent of job {number}")


def test_without_a_coordinator_jobs_run_and_nodes_stay_in_service(cluster: Cluster) -> None:
    cluster.daemon.configure(paths=[str(cluster.scratch)])
    dd = ["dd", "if=/dev/zero", f"of={cluster.scratch / 'alone'}", "bs=1M", "count=8"]
    said = cluster.said("srun", "-N2", "-n2", "--halcyon=coordinate", *dd, HALCYON_COORDINATE_PATIENCE_MS="3000")
    assert "moved out of turn: no coordinator answered" in said
    idle = lambda: set(cluster.said("sinfo", "--noheader", "--Node", "--format=%t").split()) == {"idle"}  # noqa: E731
    wait_until(idle, "both nodes are idle again")


def test_what_a_prolog_cannot_do_is_said_in_its_output(cluster: Cluster) -> None:
    cluster.daemon.configure(paths=[str(cluster.scratch)])
    prolog = cluster.folder / "slurm" / "prolog"
    job = {"SLURM_JOB_ID": "12", "SLURM_JOB_UID": "1000"}
    said = cluster.said(prolog, **job)
    assert f"halcyon: scratch: no coordinator at unix:{cluster.daemon.socket}: " in said
    assert "the job goes on" in said
    cluster.daemon.config.rename(cluster.folder / "away")
    try:
        said = cluster.said(prolog, **job)
    finally:
        (cluster.folder / "away").rename(cluster.daemon.config)
    assert "this job is not announced to the coordinators (exit status 1); the job goes on" in said


def test_check_finds_nothing_missing(coordinated: Cluster) -> None:
    said = coordinated.said(sys.executable, "-m", "halcyon", "slurm", "check")
    assert [line.partition(":")[0] for line in said.splitlines()] == ["ok"] * 4
