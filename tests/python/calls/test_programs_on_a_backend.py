"""Programs whose files a backend answers for behave as on a plain directory: by files in memory, which their processes
share. Of its directory, the kernel sees nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
LIBRARY = HERE.parents[2] / "build/release/tests/calls/libhalcyon_memory_io.so"
PROGRAMS = {
    "shell": ["dash", str(HERE / "programs/shell.sh")],
    "python": [sys.executable, "-B", str(HERE / "programs/calls.py")],
    "database": ["dash", str(HERE / "programs/database.sh")],
}

pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="the library of the in-memory backend is not built")


def run(command: list[str], directory: Path, **environment: str) -> str:
    """What the program says, with the directory's name taken out, and its exit status."""
    directory.mkdir()
    done = subprocess.run(
        [*command, str(directory)],
        env={**os.environ, "LC_ALL": "C", **environment},
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return done.stdout.replace(str(directory), "DIRECTORY") + f"exit status {done.returncode}"


def mounted(directory: Path) -> dict[str, str]:
    return {"LD_PRELOAD": str(LIBRARY), "HALCYON_MEMORY_MOUNT": str(directory)}


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_sees_what_it_would_see_on_a_plain_directory(tmp_path: Path, name: str, recorded: bool) -> None:
    if shutil.which(PROGRAMS[name][0]) is None or (name == "database" and shutil.which("sqlite3") is None):
        pytest.skip(f"{PROGRAMS[name][0]} or sqlite3 is not installed")
    environment = mounted(tmp_path / "memory")
    if recorded:
        (tmp_path / "calls").mkdir()
        environment["HALCYON_TEXT_DIR"] = str(tmp_path / "calls")
    expected = run(PROGRAMS[name], tmp_path / "plain")
    assert expected.endswith("exit status 0") or name == "shell", expected
    assert run(PROGRAMS[name], tmp_path / "memory", **environment) == expected
    assert not list((tmp_path / "memory").iterdir()), "the kernel has some of it"
    if recorded:
        text = "".join(path.read_text() for path in (tmp_path / "calls").iterdir())
        assert f"\t{tmp_path}/memory/" in text, "no call names a file of the backend"
        assert "memfd" not in text, "a call names what stands for a file"
