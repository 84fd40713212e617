"""Handlers of signals read and write the file that their thread is in the middle of, and jump out of that."""

import shutil
import subprocess
from pathlib import Path

import pytest
from logfs.logged import both, halcyon

SOURCE = Path(__file__).resolve().parents[2] / "logfs/programs/handlers.c"
COMPILER = shutil.which("cc")


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_handlers_do_as_on_a_plain_file(tmp_path: Path) -> None:
    program = tmp_path / "handlers"
    subprocess.run([str(COMPILER), "-O2", "-o", program, SOURCE], check=True, timeout=60)
    for place in both(tmp_path):
        done = place.run(program, place.directory / "file")
        assert (done.returncode, done.stdout) == (0, "failed 0 wrong 0\n"), done.stderr
    container = tmp_path / "logged/file"
    assert len(list(container.glob("hostdir.*/index.*"))) > 1, "no handler came in the middle of a call"
    found = halcyon("log", "check", container)
    assert found.returncode == 0, found.stdout + found.stderr
