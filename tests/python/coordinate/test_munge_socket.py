"""A munged at a place of its own, which coordinators.yaml names: for the daemon, operators and applications."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from coordinator_process import LIMIT_S, PATIENT, CoordinatorProcess, wait_until

Prepare = Callable[..., CoordinatorProcess]


@pytest.fixture
def munge_socket(library: None) -> Iterator[Path]:
    program = shutil.which("munged") or "/usr/sbin/munged"
    if not Path(program).exists():
        pytest.skip("munged is not installed")
    folder = Path(tempfile.mkdtemp(prefix="munge-"))
    folder.chmod(0o755)
    (folder / "key").write_bytes(os.urandom(1024))
    (folder / "key").chmod(0o600)
    files = {"socket": "socket", "key-file": "key", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    options = [f"--{option}={folder / name}" for option, name in files.items()]
    command = [program, "--foreground", "--force", *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until((folder / "socket").exists, "munged listens")
            yield folder / "socket"
        finally:
            process.send_signal(signal.SIGTERM)
    shutil.rmtree(folder)


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
