"""A munged at a place of its own, which coordinators.yaml names: for the daemon, operators and applications."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from coordinator_process import LIMIT_S, PATIENT, CoordinatorProcess
from munged_process import MUNGED, MungedProcess

Prepare = Callable[..., CoordinatorProcess]

pytestmark = pytest.mark.skipif(MUNGED is None, reason="needs munged, of Debian's package munge")


@pytest.fixture
def munge_socket(library: None) -> Iterator[Path]:
    munged = MungedProcess()
    yield munged.socket
    munged.end()


def test_an_application_finds_the_munged_that_coordinators_yaml_names(
    prepare: Prepare, tmp_path: Path, munge_socket: Path
) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    of = prepare()
    settings = {
        "paths": [str(folder)], "times": PATIENT, "listen": ["tcp:127.0.0.1:0", str(of.address)],
        "munge_socket": str(munge_socket),
    }  # fmt: skip
    of.configure(**settings)
    of.start()
    of.configure(**settings, address=str(of.tcp))  # for the program: the system has chosen the port
    words = ["run", "--coordinate", "--coordinators", str(of.config), "--"]
    command = ["dd", "if=/dev/zero", f"of={folder}/file", "bs=1M", "count=8"]
    done = subprocess.run(
        [sys.executable, "-m", "halcyon", *words, *command], cwd=tmp_path, capture_output=True, text=True,
        timeout=LIMIT_S, env=os.environ | {"HALCYON_COORDINATE_PATIENCE_MS": "10000"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 process took turns: 8.39 MB in turn" in done.stderr
    assert "out of turn" not in done.stderr
