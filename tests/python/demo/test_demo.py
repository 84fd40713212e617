"""The demo as a user starts it: what it refuses, and what is left after Ctrl-C."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LIMIT_S = 90
needs_cloud = pytest.mark.skipif(
    not (ROOT / "build/release/apps/cloud/cloud").exists() or shutil.which("mpirun.openmpi") is None,
    reason="no cloud model built with Open MPI",
)


def start(*options: str) -> "subprocess.Popen[str]":
    environment = os.environ | {"HALCYON_ROOT": str(ROOT), "HALCYON_BUILD": str(ROOT / "build/release")}
    return subprocess.Popen(
        [sys.executable, "-m", "halcyon.demo", "--quick", *options], env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_a_foreign_folder_is_not_replaced(tmp_path: Path) -> None:
    precious = tmp_path / "thesis.txt"
    precious.write_text("years of work")
    process = start("--output", str(tmp_path))
    _, said = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 2
    assert "not made by an earlier demo" in said
    assert precious.read_text() == "years of work"


@needs_cloud
def test_nothing_is_left_after_an_interrupt(tmp_path: Path) -> None:
    output = tmp_path / "out"
    process = start("--output", str(output))
    try:
        # The first run's log is on the storage: everything that must be undone has been done.
        end = time.monotonic() + LIMIT_S
        while not list(output.glob("storage/*/model.log")) and time.monotonic() < end and process.poll() is None:
            time.sleep(0.01)
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
    assert process.returncode == 130, said
    assert str(output) not in Path("/proc/mounts").read_text()
    assert not (output / "storage").exists()
    assert not (output / "storage.img").exists()
    assert not list(Path("/sys/fs/cgroup").glob(f"*/halcyon-demo-{process.pid}"))
