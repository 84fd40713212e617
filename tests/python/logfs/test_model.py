"""Random operations of several processes on one file, synced one by one: a container and a plain file are the same all
the time."""

import os
import sys
from pathlib import Path

import pytest
from logfs.logged import both

PROGRAM = Path(__file__).resolve().parent / "programs/model.py"
OPERATIONS = int(os.environ.get("HALCYON_LOG_OPERATIONS", "3000"))
SEED = int(os.environ.get("HALCYON_LOG_SEED", "1"))


@pytest.mark.parametrize("seed", [SEED, SEED + 1, SEED + 2])
def test_a_container_is_a_plain_file(tmp_path: Path, seed: int) -> None:
    plain, logged = (
        place.run(sys.executable, "-B", PROGRAM, place.directory, seed, OPERATIONS, timeout=3600)
        for place in both(tmp_path)
    )
    assert plain.returncode == 0, plain.stderr
    for line, (expected, found) in enumerate(zip(plain.stdout.splitlines(), logged.stdout.splitlines(), strict=False)):
        assert found == expected, "\n".join(["after", *plain.stdout.splitlines()[max(0, line - 8) : line]])
    assert logged.stderr == ""
    assert logged.stdout == plain.stdout
