"""The mini-apps with each MPI."""

import shutil
from pathlib import Path

import pytest
from mini_apps import ROOT, MiniApps


@pytest.fixture(params=["openmpi", "mpich"])
def mini_apps(request: pytest.FixtureRequest, tmp_path: Path) -> MiniApps:
    launcher = f"mpirun.{request.param}"
    if shutil.which(launcher) is None:
        pytest.skip(f"{launcher} is not installed")
    return MiniApps(launcher, ROOT / "build" / {"openmpi": "release", "mpich": "mpich"}[request.param], tmp_path)
