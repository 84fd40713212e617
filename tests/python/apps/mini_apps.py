"""Runs the mini-apps of apps/."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LIMIT_S = 120


@dataclass(frozen=True)
class MiniApps:
    """Those built with one MPI. What they write goes below `place`."""

    launcher: str
    build: Path
    place: Path

    def start(self, app: str, ranks: int, **settings: object) -> "subprocess.CompletedProcess[str]":
        program = self.build / "apps" / app / app
        if not program.exists():
            pytest.skip(f"{program} is not built")
        words = [f"{key}={value}" for key, value in settings.items()]
        command = [self.launcher, "-n", str(ranks), str(program), *words]
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        environment = os.environ | allowed | {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
        return subprocess.run(
            command, cwd=self.place, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )

    def run(self, app: str, ranks: int, **settings: object) -> Path:
        """Returns the folder with what it wrote."""
        directory = self.place / f"{app}-{ranks}"
        done = self.start(app, ranks, **settings, directory=directory.name)
        assert done.returncode == 0, done.stdout + done.stderr
        return directory
