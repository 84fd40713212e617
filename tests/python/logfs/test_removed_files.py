"""Files that are removed while programs have them open, and programs that end without closing them."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from logfs.logged import Place, both, halcyon

from halcyon.logfs.draining import drain

SOURCE = Path(__file__).resolve().parents[2] / "logfs/programs/ends_last.c"

REMOVES = """
import os, signal, sys
fd = os.open(sys.argv[1] + "/f", os.O_CREAT | os.O_RDWR)
os.write(fd, b"text")
os.unlink(sys.argv[1] + "/f")
if "waits" in sys.argv:
    print("ready", flush=True)
    input()
    print(os.pread(fd, 9, 0).decode())
if "_exit" in sys.argv:
    os._exit(0)
if "killed" in sys.argv:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def words(place: Place, *how: str) -> list[str]:
    return [sys.executable, "-c", REMOVES, str(place.directory), *how]


@pytest.mark.parametrize("how", [(), ("_exit",)])
def test_what_has_no_name_goes_with_a_program_that_ends(tmp_path: Path, how: tuple[str, ...]) -> None:
    place = both(tmp_path)[1]
    assert place.run(*words(place, *how)).returncode == 0
    assert place.left() == []


@pytest.mark.parametrize("how", [(), ("killed",)])
def test_what_has_no_name_goes_with_a_child_that_ends_last(tmp_path: Path, how: tuple[str, ...]) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    subprocess.run([compiler, "-O1", SOURCE, "-o", tmp_path / "program"], check=True, timeout=60)
    place = both(tmp_path)[1]
    done = place.run(tmp_path / "program", place.directory / "f", *how)  # until nobody can write to its output
    assert done.returncode == (-signal.SIGKILL if how else 0)
    assert place.left() == []


def test_what_a_killed_program_has_left_is_cleared(tmp_path: Path) -> None:
    place = both(tmp_path)[1]
    assert place.run(*words(place, "killed")).returncode == -signal.SIGKILL
    assert len(place.left()) == 1
    assert drain(place.directory).containers == 0
    assert place.left() == []

    (place.directory / ".halcyon-removed-1/hostdir.0").mkdir(parents=True)  # of which the rest is gone already
    assert halcyon("run", "--log", place.directory, "--", *words(place, "killed")).returncode != 0
    assert place.left() == []


def test_what_a_program_has_open_is_not_cleared(tmp_path: Path) -> None:
    place = both(tmp_path)[1]
    with subprocess.Popen(
        words(place, "waits"),
        env={**os.environ, **place.variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        drain(place.directory)
        assert len(place.left()) == 1
        assert program.communicate("\n", timeout=60)[0] == "text\n"
    assert place.left() == []
