"""The server runs where its job may."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import Case, check_complete, finish, wait_for

CPUSETS = Path("/sys/fs/cgroup/cpuset")
UNBOUND = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]


def cores_of_server(case: Case) -> str:
    """While the run stands at gate 2; the run then ends, whole."""
    case.configure()
    run = case.start("iterations=3", case.gates(2))
    case.wait_at_gate(2)
    status = Path(f"/proc/{case.server_process()}/status").read_text()
    case.open_gate(2)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(case, 3)
    return status.split("Cpus_allowed_list:")[1].split()[0]


def one_of_several_cores() -> str:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("this process may use one core only")
    return str(cores[0])


def test_a_job_restricted_by_its_affinity_has_its_server_there(openmpi_case: Case) -> None:
    core = one_of_several_cores()
    openmpi_case.launcher = ["taskset", "-c", core, *UNBOUND]
    assert cores_of_server(openmpi_case) == core


@pytest.fixture
def cpuset() -> Iterator[tuple[Path, str]]:
    """A control group of one core."""
    core = one_of_several_cores()
    group = CPUSETS / f"halcyon-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as why:
        pytest.skip(f"no control group of cores can be made: {why}")
    try:
        for name, value in (("cpuset.cpus", core), ("cpuset.mems", "0")):
            (group / name).write_text(value)
        yield group, core
    finally:
        wait_for(lambda: not (group / "cgroup.procs").read_text(), what="the group is empty")
        group.rmdir()


def test_a_job_in_a_cpuset_has_its_server_there(openmpi_case: Case, cpuset: tuple[Path, str]) -> None:
    group, core = cpuset
    shell = shutil.which("sh") or "/bin/sh"
    openmpi_case.launcher = [shell, "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh", *UNBOUND]
    assert cores_of_server(openmpi_case) == core
