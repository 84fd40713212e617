from pathlib import Path

import pytest
from running import LAUNCHERS, Case, available_mpis


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


@pytest.fixture(scope="module")
def inline_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run without a server: what the others must equal."""
    case = Case(tmp_path_factory.mktemp("inline"))
    case.configure(nz="32", top="inline: true")
    outcome = case.run("iterations=25")
    assert outcome.status == 0, outcome.text
    return case.output
