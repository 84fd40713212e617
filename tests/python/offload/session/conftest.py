import shutil
from collections.abc import Iterator
from pathlib import Path

import namespaces
import pytest
import sanitizers
from running import BUILDS, LAUNCHERS, ROOT, Case, available_mpis
from world import TwoNodes

from halcyon.offload.data_files import FORMATS


def pytest_configure(config: pytest.Config) -> None:
    """--build PRESET: its programs for Open MPI, those of PRESET-mpich for MPICH."""
    if not (preset := config.getoption("--build")):
        return
    BUILDS.update(openmpi=ROOT / "build" / preset, mpich=ROOT / "build" / f"{preset}-mpich")
    if not available_mpis():
        raise pytest.UsageError(
            f"--build {preset}: {BUILDS['openmpi']} holds no tests/scenario; scripts/build {preset}"
        )


@pytest.fixture(autouse=True)
def _no_process_makes_a_report() -> Iterator[None]:
    """Under scripts/sanitize a test fails when a sanitizer has something to say about any of its processes."""
    if (directory := sanitizers.report_directory()) is None:
        yield
        return
    before = sanitizers.reports(directory)
    yield
    sanitizers.wait_for_servers()
    new = sanitizers.reports(directory) - before
    assert not new, "\n".join(path.read_text() for path in sorted(new))


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
def two_node_case(openmpi_case: Case) -> Iterator[Case]:
    """A run under Open MPI on two nodes, where this user may make namespaces."""
    if reason := namespaces.unavailable():
        pytest.skip(reason)
    with namespaces.two_nodes(openmpi_case.directory) as launcher:
        openmpi_case.launcher = launcher
        yield openmpi_case


@pytest.fixture(params=FORMATS, ids=lambda known: known.store_type)
def store_case(openmpi_case: Case, request: pytest.FixtureRequest) -> Case:
    """A run under Open MPI with each type of store."""
    openmpi_case.format = request.param
    return openmpi_case


@pytest.fixture
def _world_server(request: pytest.FixtureRequest) -> None:
    """Skips where there is no program for a server world."""
    for name in ("case", "openmpi_case"):
        if name in request.fixturenames:
            mpi = request.getfixturevalue(name).mpi
            if not (BUILDS[mpi] / "bin/halcyon-server-world").exists():
                pytest.skip(f"no build of halcyon-server-world for {mpi}")


@pytest.fixture
def two_nodes(tmp_path: Path) -> Iterator[TwoNodes]:
    """A case whose two ranks are on two nodes, which abstract sockets do not cross.

    With MPICH, whose processes need no network between themselves and their launcher.
    """
    if reason := namespaces.unavailable():
        pytest.skip(reason)
    if shutil.which("mpirun.mpich") is None or not (BUILDS["mpich"] / "bin/halcyon-server-world").exists():
        pytest.skip("no build or launcher of mpich")
    with namespaces.joined() as nodes:
        yield Case(tmp_path, "mpich"), nodes


@pytest.fixture(scope="module")
def inline_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run without a server: what the others must equal."""
    case = Case(tmp_path_factory.mktemp("inline"))
    case.configure(nz="32", top="inline: true")
    outcome = case.run("iterations=25")
    assert outcome.status == 0, outcome.text
    return case.output
