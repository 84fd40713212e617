"""Paths are looked at, and containers written, on the smallest stacks that threads and handlers of signals may have."""

import shutil
import subprocess
from pathlib import Path

import pytest
from logfs.logged import both

SOURCE = Path(__file__).resolve().parents[2] / "calls/small_stacks.c"


@pytest.mark.parametrize("where", ["inside", "outside"])
def test_small_stacks(tmp_path: Path, where: str) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc")
    program = tmp_path / "small_stacks"
    subprocess.run(["gcc", "-O1", "-w", "-pthread", "-o", program, SOURCE], check=True)
    plain, logged = both(tmp_path)
    done = logged.run(program, (logged if where == "inside" else plain).directory)
    assert done.returncode == 0, done.stderr
    sizes = logged.shell('cd "$2"; stat -c %s file other', (logged if where == "inside" else plain).directory)
    assert sizes.stdout == "80000\n10000\n"
    assert logged.containers() == ({"file", "other"} if where == "inside" else set())
