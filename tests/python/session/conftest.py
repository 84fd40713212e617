import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import BUILDS, LAUNCHERS, Case, available_mpis


@pytest.fixture(params=list(LAUNCHERS))
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    """A run under each MPI."""
    if request.param not in available_mpis():
        pytest.skip(f"no build or launcher of {request.param}")
    return Case(tmp_path, request.param)


@pytest.fixture
def openmpi_case(tmp_path: Path) -> Case:
    """A run under Open MPI only: what it shows does not depend on the MPI."""
    if "openmpi" not in available_mpis():
        pytest.skip("no build or launcher of openmpi")
    return Case(tmp_path)


@pytest.fixture
def _world_server(request: pytest.FixtureRequest) -> None:
    """Skips where there is no program for a server world."""
    for name in ("case", "openmpi_case"):
        if name in request.fixturenames:
            mpi = request.getfixturevalue(name).mpi
            if not (BUILDS[mpi] / "bin/halcyon-server-world").exists():
                pytest.skip(f"no build of halcyon-server-world for {mpi}")


@pytest.fixture
def two_nodes(tmp_path: Path) -> Iterator[tuple[Case, list[str]]]:
    """A case whose two ranks are on two nodes: network namespaces of this machine, which abstract sockets do not cross.

    With MPICH, whose processes need no network between themselves and their launcher.
    """
    if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("nsenter") is None:
        pytest.skip("network namespaces need root, ip and nsenter")
    if shutil.which("mpirun.mpich") is None or not (BUILDS["mpich"] / "bin/halcyon-server-world").exists():
        pytest.skip("no build or launcher of mpich")
    names = [f"halcyon-{secrets.token_hex(4)}" for _ in range(2)]
    made = []
    try:
        for name in names:
            done = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                pytest.skip(f"no network namespace can be made: {done.stderr.strip()}")
            made.append(name)
            subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
        yield Case(tmp_path, "mpich"), names
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], check=True)
