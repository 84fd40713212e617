"""The mini-apps with each MPI."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from mini_apps import ROOT, MiniApps


@pytest.fixture(scope="module", params=["openmpi", "mpich"])
def mini_apps_at(request: pytest.FixtureRequest) -> Callable[[Path], MiniApps]:
    """Those of one MPI, which write below the folder that is given."""
    launcher = f"mpirun.{request.param}"
    if shutil.which(launcher) is None:
        pytest.skip(f"{launcher} is not installed")
    build = ROOT / "build" / {"openmpi": "release", "mpich": "mpich"}[request.param]
    return lambda place: MiniApps(launcher, build, place)


@pytest.fixture
def mini_apps(mini_apps_at: Callable[[Path], MiniApps], tmp_path: Path) -> MiniApps:
    return mini_apps_at(tmp_path)
