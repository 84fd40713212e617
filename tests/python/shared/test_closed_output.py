"""Output that is closed, and terminals without a size."""

import os
import subprocess
import sys
from pathlib import Path

STRIPES = f"'{sys.executable}' -m halcyon model stripes --total 480 --request 160 --jobs 3"


def run(tmp_path: Path, command: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, env=os.environ | variables, capture_output=True, text=True, check=False
    )


def test_a_closed_output_is_no_fault(tmp_path: Path) -> None:
    for closed in (">&-", "<&-", ">&- 2>&-"):
        done = run(tmp_path, f"{STRIPES} {closed}")
        assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_without_a_size_shows_all(tmp_path: Path) -> None:
    usual = run(tmp_path, STRIPES, COLUMNS="200").stdout
    assert usual
    assert run(tmp_path, STRIPES, COLUMNS="0").stdout == usual
