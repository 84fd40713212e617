"""Another file system, mounted below a directory of log containers: nothing is renamed from one to the other."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from log_containers import contents, names
from logfs.logged import Place, both, same
from logfs.mounted_backend import Mounted, fails_with
from logfs.no_exchange import UNDER

from halcyon import logfs

RENAMES = """import errno, os, sys
os.chdir(sys.argv[1])
def put(name, text):
    with open(name, "w") as file:
        file.write(text)
def text_of(name):
    with open(name) as file:
        return file.read()
def rename(source, target):
    try:
        os.rename(source, target)
        print(source, target)
    except OSError as why:
        print(source, target, errno.errorcode[why.errno])
put("f", "outer")
put("inner/g", "inner")
for source, target in (("f", "inner/new"), ("f", "inner/g"), ("inner/g", "f"), ("inner/g", "new")):
    rename(source, target)
print(text_of("f"), text_of("inner/g"), sorted(os.listdir(".")), sorted(os.listdir("inner")))
put("inner/h", "replaced")
put("e", "replaced")
rename("inner/g", "inner/h")
rename("f", "e")
print(text_of("e"), text_of("inner/h"), sorted(os.listdir(".")), sorted(os.listdir("inner")))
"""


def mount_below(folder: Path, unmounted: ExitStack) -> Path:
    """A file system of its own at `inner`. Skips the test where none can be mounted."""
    inner = folder / "inner"
    inner.mkdir()
    if os.geteuid() != 0:
        pytest.skip("mounting a file system needs root")
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", inner], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"mount: {done.stderr.strip()}")
    unmounted.callback(subprocess.run, ["umount", "-l", inner], check=True)
    return inner


@pytest.fixture
def places(tmp_path: Path) -> Iterator[tuple[Place, Place]]:
    """A plain directory and a logged one, each with another file system in it."""
    made = both(tmp_path)
    with ExitStack() as unmounted:
        for place in made:
            mount_below(place.directory, unmounted)
        yield made


@pytest.mark.parametrize("under", [(), UNDER], ids=["", "no exchange"])
def test_a_rename_to_the_other_one_fails_and_leaves_both(places: tuple[Place, Place], under: tuple[str, ...]) -> None:
    plain, logged = (place.run(*under, sys.executable, "-c", RENAMES, place.directory) for place in places)
    assert plain.returncode == 0, plain.stderr
    assert "f inner/g EXDEV\n" in plain.stdout
    assert logged.stdout == plain.stdout, logged.stderr
    assert places[1].containers() == {"e", "inner/h"}
    assert names(places[1].directory) == ["e", "inner"]
    assert names(places[1].directory / "inner") == ["h"]


def test_commands_copy_from_one_to_the_other(places: tuple[Place, Place]) -> None:
    script = """cd "$1" && echo outer > f && mkdir inner/folder && mv f inner/folder/g && cp -p inner/folder/g f
        cat f inner/folder/g; mv inner/folder moved && ls -A . moved inner && find . -type f | sort && df inner | wc -l
        rm -r moved f && ls -A . inner"""
    same(places, script)


REMOVES = """import os, sys
inner = sys.argv[1] + "/inner"
fd = os.open(inner + "/f", os.O_CREAT | os.O_RDWR)
os.write(fd, b"text")
os.unlink(inner + "/f")
print(os.listdir(inner), flush=True)
input()
print(os.pread(fd, 9, 0))
os.close(fd)
print("closed", flush=True)
input()
"""


def test_a_file_that_is_removed_there_goes_when_nobody_has_it_open(places: tuple[Place, Place]) -> None:
    place = places[1]
    with subprocess.Popen(
        [sys.executable, "-c", REMOVES, str(place.directory)],
        env={**os.environ, **place.variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        assert program.stdin is not None
        assert program.stdout.readline() == "[]\n"
        (hidden,) = names(place.directory / "inner")
        assert hidden.startswith(".halcyon-removed-")
        program.stdin.write("\n")
        program.stdin.flush()
        assert program.stdout.readline() + program.stdout.readline() == "b'text'\nclosed\n"
        assert names(place.directory / "inner") == []
        program.communicate("\n", timeout=60)


def test_containers_there_become_plain_files(places: tuple[Place, Place]) -> None:
    folder = places[1].directory
    for name in ("f", "inner/g"):
        with logfs.open(folder / name, "wb") as file:
            file.write(name.encode())
    logfs.flatten(folder / "f", folder / "inner/plain")
    logfs.flatten(folder / "inner/g", folder / "plain")
    logfs.flatten(folder / "inner/g")
    assert [(folder / name).read_text() for name in ("inner/plain", "plain", "inner/g")] == ["f", "inner/g", "inner/g"]
    assert names(folder / "inner") == ["g", "plain"]


@pytest.mark.parametrize("under", [(), UNDER], ids=["", "no exchange"])
def test_a_mount_leaves_both_when_a_rename_fails(tmp_path: Path, under: tuple[str, ...]) -> None:
    backend = tmp_path / "backend"
    backend.mkdir()
    with ExitStack() as unmounted:
        inner = mount_below(backend, unmounted)
        with Mounted(backend, tmp_path / "mount", under=under) as mount:
            for name in ("f", "inner/g", "e"):
                (mount.point / name).write_text(name)
            for source, target in (("f", "inner/g"), ("inner/g", "f"), ("f", "inner/new")):
                with fails_with(errno.EXDEV):
                    (mount.point / source).rename(mount.point / target)
            assert (mount.point / "f").read_text() == "f"
            assert (mount.point / "inner/g").read_text() == "inner/g"
            (mount.point / "f").rename(mount.point / "e")
            assert (mount.point / "e").read_text() == "f"
            (mount.point / "inner/g").unlink()
        assert contents(backend / "e") == b"f"
        assert names(backend) == ["e", "inner"]
        assert names(inner) == []


def test_an_fsspec_move_to_the_other_one_fails_and_leaves_both(places: tuple[Place, Place]) -> None:
    pytest.importorskip("fsspec")
    from halcyon.logfs.filesystem import LogFileSystem

    files: Any = LogFileSystem()
    folder = places[1].directory
    for kinds in ((True, True), (True, False), (False, True)):
        for is_container, name in zip(kinds, ("f", "inner/g"), strict=True):
            if files.exists(folder / name):
                files.rm(folder / name)
            if is_container:
                files.pipe_file(folder / name, name.encode())
            else:
                (folder / name).write_text(name)
        with pytest.raises(OSError, match="cross-device"):
            files.mv(folder / "f", folder / "inner/g")
        assert files.cat_file(folder / "f") == b"f"
        assert files.cat_file(folder / "inner/g") == b"inner/g"
        assert [logfs.is_container(folder / name) for name in ("f", "inner/g")] == list(kinds)
    assert names(folder / "inner") == ["g"]
