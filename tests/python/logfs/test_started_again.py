"""Ranks that are started again, on nodes whose clocks differ; containers that somebody moves while they are open."""

import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from log_containers import contents
from logfs.logged import Place, both
from logfs.two_nodes import Talker

from halcyon import logfs
from halcyon.layers.preload import preloading

CLOCK = Path(__file__).resolve().parents[2] / "logfs/programs/standing_clock.c"
CREATE = "os.O_CREAT | os.O_RDWR"


@pytest.fixture
def ahead(tmp_path: Path) -> str:
    """LD_PRELOAD of a program whose clock says that it is the year 2030, always."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    clock = tmp_path / "clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", clock, CLOCK], check=True, timeout=60)
    return f"{clock}:{preloading()['LD_PRELOAD']}"


def test_a_rank_that_was_killed_on_a_node_ahead_is_started_again(tmp_path: Path, ahead: str) -> None:
    place = both(tmp_path)[1]
    path = place.directory / "f"
    rank = {"OMPI_COMM_WORLD_RANK": "3"}
    begins = "import os, sys; fd = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR); "
    first = f"{begins}os.write(fd, b'oldoldold'); os.kill(os.getpid(), {signal.SIGKILL.value})"
    done = place.run("python3", "-c", first, path, extra=rank | {"LD_PRELOAD": ahead})
    assert done.returncode == -signal.SIGKILL, done.stderr
    [killed] = logfs.map(path).writers
    assert killed.created_ns >= 1_893_456_000 * 10**9
    again = f"{begins}os.pwrite(fd, b'new', 3); os.ftruncate(fd, 8); print(os.pread(fd, 20, 0))"
    done = place.run("python3", "-c", again, path, extra=rank)
    assert done.stdout == "b'oldnewol'\n", done.stderr
    appends = "import sys; open(sys.argv[1], 'ab').write(b'!')"
    assert place.run("python3", "-c", appends, path, extra=rank).returncode == 0
    assert contents(path) == b"oldnewol!"
    found = logfs.map(path)
    assert [writer.rank for writer in found.writers] == [3, 3, 3]
    assert logfs.check(path).is_sound


WAYS = {
    "in the container": {},
    "on backends": {"HALCYON_LOG_BACKENDS": "FOLDER/a:FOLDER/b"},
    "staged": {"HALCYON_LOG_STAGE": "FOLDER/a"},
}


@pytest.mark.parametrize("way", WAYS)
def test_a_container_that_is_moved_past_the_library_while_programs_have_it_open(tmp_path: Path, way: str) -> None:
    place = Place(tmp_path / "logs", is_logged=True)
    for folder in (place.directory, place.directory / "inner", tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
    path, moved = place.directory / "f", place.directory / "inner/g"
    variables = place.variables | WAYS[way]
    command = ["env", *(f"{name}={value}".replace("FOLDER", str(tmp_path)) for name, value in variables.items())]
    programs = [Talker(command, tmp_path / f"errors{number}") for number in range(2)]
    first, second = programs
    written, read = first.open(path, CREATE), second.open(path, "os.O_RDWR")
    first.write(written, b"one ", 0)
    path.rename(moved)
    first.write(written, b"two ", 4)
    assert second.size(read) == 8
    assert second.read(read, 20, 0) == b"one two "
    second.write(read, b"three ", 8)  # its log begins now
    assert first.ask(f"os.fsync({written})") == "None"
    assert first.read(written, 20, 0) == b"one two three "
    assert first.ask(f"os.open({str(path)!r}, os.O_RDONLY)") == "ENOENT"
    # What has the name from now on is another file.
    other = first.open(path, CREATE)
    first.write(other, b"other", 0)
    first.write(written, b"ONE", 0)
    for program in programs:
        program.end()
    assert contents(path) == b"other"
    assert contents(moved) == b"ONE two three "
    assert logfs.check(moved).is_sound
