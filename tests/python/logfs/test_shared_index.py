"""What one process of a node has merged of a large index, others of the node begin with, whichever way they read."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from log_containers import contents, dropping, flip
from logfs.logged import Place
from mounted_backend import Mounted

from halcyon import logfs
from halcyon.errors import ConfigError

PIECES, PIECE, STRIDE = 150_000, 16, 32  # more than are worth it
BLOCK = 4096

WRITE = f"""import os, random, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
places = list(range({PIECES}))
random.Random(1).shuffle(places)
for place in places:
    os.pwrite(file, place.to_bytes({PIECE}, "big"), place * {STRIDE})
"""


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this node's indexes are."""
    monkeypatch.setenv("HALCYON_LOG_INDEXES", str(tmp_path / "node"))
    return tmp_path / "node"


@pytest.fixture
def place(tmp_path: Path, node: Path) -> Place:
    """With a container `file` that has a large index; nobody has read it."""
    (tmp_path / "logged").mkdir()
    made = Place(tmp_path / "logged", is_logged=True)
    done = made.run(sys.executable, "-c", WRITE, made.directory / "file", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not node.exists()
    return made


def expected() -> bytes:
    gap = bytes(STRIDE - PIECE)
    return b"".join(place.to_bytes(PIECE, "big") + gap for place in range(PIECES))[: PIECE - STRIDE]


def images(node: Path) -> list[Path]:
    return sorted(node.glob("index.*"))


def read_by_program(place: Place) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["cat", str(place.directory / "file")],
        env={**os.environ, **place.variables},
        capture_output=True,
        timeout=300,
        check=False,
    )


def test_it_is_left_by_one_program_and_spares_all_others(
    place: Place, node: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = place.directory / "file"
    assert read_by_program(place).stdout == expected()
    (image,) = images(node)
    assert node.stat().st_mode & 0o777 == 0o700
    assert image.stat().st_mode & 0o777 == 0o400
    # Whoever reads this index says so; whoever begins with what was merged does not come here.
    flip(dropping(file, "index"), 10 * BLOCK)
    assert read_by_program(place).stdout == expected()
    assert contents(file) == expected()
    monkeypatch.setenv("HALCYON_LOG_INDEXES", "none")
    assert read_by_program(place).returncode != 0
    with pytest.raises(ConfigError):
        contents(file)


def test_a_mount_begins_with_it(place: Place, node: Path, tmp_path: Path) -> None:
    assert contents(place.directory / "file") == expected()
    assert len(images(node)) == 1
    flip(dropping(place.directory / "file", "index"), 10 * BLOCK)
    with Mounted(place.directory, tmp_path / "mount") as mount:
        assert (mount.point / "file").read_bytes() == expected()


def test_it_goes_with_the_container(place: Place, node: Path) -> None:
    file = place.directory / "file"
    for remove in (lambda: place.run("rm", file), lambda: logfs.remove(file)):
        if not file.exists():
            assert place.run(sys.executable, "-c", WRITE, file, cwd=node).returncode == 0
        assert contents(file) == expected()
        assert len(images(node)) == 1
        remove()
        assert not file.exists()
        assert images(node) == []


def test_what_is_written_later_is_read_with_it(place: Place, node: Path) -> None:
    file = place.directory / "file"
    assert contents(file) == expected()
    of = random.Random(2)
    data = bytearray(expected())
    with logfs.open(file, "r+b", 0) as more:
        for _ in range(100):
            at = of.randrange(len(data) - 100)
            data[at : at + 100] = of.randbytes(100)
            more.write_at(at, bytes(data[at : at + 100]))
    assert read_by_program(place).stdout == data
    assert contents(file) == data
    assert len(images(node)) == 1
