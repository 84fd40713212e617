"""Mounts begin, end, are killed, and meet damage."""

import contextlib
import errno
import mmap
import os
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from mounted_backend import (
    Mounted,
    fails_with,
    halcyon,
    has_ended,
    is_container,
    is_mounted,
    mounted,
    names_in,
    program,
    wait_until,
)


def test_the_command_mounts_and_unmounts(tmp_path: Path) -> None:
    program()
    backend, mount = tmp_path / "back end, one", tmp_path / "a mount"
    backend.mkdir()
    mount.mkdir()
    begun = halcyon("mount", backend, mount)
    try:
        assert (begun.returncode, begun.stderr) == (0, "")
        (mount / "file").write_text("text")
        assert is_container(backend / "file")
        server = int(str((mount / ".halcyon-mount").readlink()))
        assert names_in(mount) == ["file"]
        with (mount / "file").open() as file:
            busy = halcyon("mount", "--unmount", mount)
            assert busy.returncode == 1
            assert "programs have files open there" in busy.stderr
            assert file.read() == "text"
        ended = halcyon("mount", "--unmount", mount)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert not is_mounted(mount)
        assert has_ended(server)
    finally:
        if is_mounted(mount):
            subprocess.run(["umount", "-l", mount], check=True)
    again = halcyon("mount", "--unmount", mount)
    assert again.returncode == 2
    assert "nothing is mounted there" in again.stderr


def test_a_backend_can_be_mounted_over_itself(tmp_path: Path) -> None:
    backend = tmp_path / "backend"
    backend.mkdir()
    with Mounted(backend, backend):
        (backend / "file").write_text("text")
        assert (backend / "file").is_file()
        assert (backend / "file").read_text() == "text"
    assert is_container(backend / "file")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{}/backend"], "two paths are needed"),
        (["{}/backend", "{}/backend/below"], "lies below the backend"),
        (["{}/backend", "{}/none"], "No such file or directory"),
        (["{}/none", "{}/point"], "cannot be a backend"),
        (["{}/backend/container", "{}/point"], "a container; expected the directory that it is in"),
        (["{}/backend", "{}/backend/file"], "lies below the backend"),
        (["--threads=0", "{}/backend", "{}/point"], "expected 1 to 1024"),
        (["--lazy", "{}/backend", "{}/point"], "--unmount only"),
        (["--unmount", "{}/backend", "{}/point"], "--unmount takes one path"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, words: list[str], message: str) -> None:
    program()
    for folder in ("backend/below", "point"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "backend/file").touch()
    with Mounted(tmp_path / "backend", tmp_path / "other") as other:
        (other.point / "container").touch()
    done = halcyon("mount", *(word.format(tmp_path) for word in words))
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert not is_mounted(tmp_path / "point")


def test_without_the_program_the_command_says_how_to_get_it(tmp_path: Path) -> None:
    done = halcyon("mount", tmp_path, tmp_path, HALCYON_MOUNT=str(tmp_path / "none"))
    assert done.returncode == 1
    assert "no halcyon-mount" in done.stderr
    assert "libfuse3-dev" in done.stderr


WRITER = """
import os, sys
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o644)
number = written = 0
try:
    while True:
        written += os.write(file, number.to_bytes(8, "little") * 125)
        number += 1
        print(written, flush=True)
except OSError as why:
    print("ended by", why.errno, flush=True)
    os._exit(0)
"""


@pytest.mark.parametrize("moment", [1, 50, 400])
def test_a_killed_mount_loses_nothing_that_write_returned(tmp_path: Path, moment: int) -> None:
    backend = tmp_path / "backend"
    backend.mkdir()
    mount = Mounted(backend, tmp_path / "mount")
    try:
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(mount.point / "file")], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        told = []
        for line in writer.stdout:
            told.append(line)
            if len(told) == moment:
                mount.kill()
        assert writer.wait() == 0
        assert told[-1].startswith("ended by"), told[-1]
        returned = int(told[-2])
        with fails_with(errno.ENOTCONN):
            names_in(mount.point)
        over = halcyon("mount", backend, mount.point)
        assert over.returncode == 2
        assert "halcyon mount --unmount" in over.stderr
        assert halcyon("mount", "--unmount", mount.point).returncode == 0
        assert not is_mounted(mount.point)
    finally:
        mount.take_away()
    with Mounted(backend, tmp_path / "mount") as again:
        content = (again.point / "file").read_bytes()
        assert returned <= len(content) <= returned + 1000
        # The last write may have been shorter than it was asked to be: the kernel ends it at a page.
        expected = b"".join(number.to_bytes(8, "little") * 125 for number in range(returned // 1000 + 1))
        assert content[:returned] == expected[:returned]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_unmounts(tmp_path: Path, number: signal.Signals, interruptible: None) -> None:
    backend = tmp_path / "backend"
    backend.mkdir()
    mount = Mounted(backend, tmp_path / "mount")
    try:
        (mount.point / "file").write_text("text")
        mount.process.send_signal(number)
        assert mount.process.wait(30) == 0
        assert not is_mounted(mount.point)
    finally:
        mount.end(checks=False)


def test_a_signal_while_files_are_open_loses_nothing_of_them(tmp_path: Path) -> None:
    backend = tmp_path / "backend"
    backend.mkdir()
    mount = Mounted(backend, tmp_path / "mount")
    try:
        file = os.open(mount.point / "file", os.O_RDWR | os.O_CREAT, 0o644)
        os.ftruncate(file, 100_000)
        mapped = mmap.mmap(file, 100_000)
        mapped[:5] = b"early"
        mount.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not is_mounted(mount.point), "the mount is out of the tree")
        mapped[50_000:50_004] = b"late"
        mapped.close()
        os.pwrite(file, b"written", 99_993)
        assert mount.process.poll() is None
        os.close(file)
        assert mount.process.wait(30) == 0
        assert "programs still use it" in mount.log.read_text()
    finally:
        mount.end(checks=False)
    with Mounted(backend, tmp_path / "mount") as again:
        content = (again.point / "file").read_bytes()
    assert (content[:5], content[50_000:50_004], content[-7:]) == (b"early", b"late", b"written")


@pytest.mark.parametrize("way", ["signal", "command"])
def test_a_copy_in_another_mount_namespace_keeps_nothing_alive(tmp_path: Path, way: str) -> None:
    backend = tmp_path / "backend"
    backend.mkdir()
    mount = Mounted(backend, tmp_path / "mount")
    holder = subprocess.Popen(
        ["unshare", "--mount", "--propagation=private", "sh", "-c", "echo begun; read line"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        if holder.stdout.readline() != "begun\n":
            pytest.skip("there can be no mount namespaces here")
        (mount.point / "file").write_text("text")
        if way == "signal":
            mount.process.send_signal(signal.SIGTERM)
        else:
            assert halcyon("mount", "--unmount", mount.point).returncode == 0
        assert mount.process.wait(30) == 0
        assert not is_mounted(mount.point)
    finally:
        holder.communicate("\n")
        mount.end(checks=False)


def test_the_second_signal_ends_it_whoever_uses_it(tmp_path: Path) -> None:
    backend = tmp_path / "backend"
    backend.mkdir()
    mount = Mounted(backend, tmp_path / "mount")
    try:
        file = os.open(mount.point / "file", os.O_RDWR | os.O_CREAT, 0o644)
        os.write(file, b"text")
        mount.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not is_mounted(mount.point), "the mount is out of the tree")
        mount.process.send_signal(signal.SIGTERM)
        assert mount.process.wait(30) == 0
        with fails_with(errno.ENOTCONN, errno.ECONNABORTED):
            os.write(file, b"more")
        with contextlib.suppress(OSError):
            os.close(file)
    finally:
        mount.end(checks=False)
    with Mounted(backend, tmp_path / "mount") as again:
        assert (again.point / "file").read_bytes() == b"text"


def test_an_open_file_sees_at_once_what_its_node_writes(tmp_path: Path) -> None:
    with mounted(tmp_path) as (_, mount):
        one = os.open(mount / "file", os.O_RDWR | os.O_CREAT, 0o644)
        other = os.open(mount / "file", os.O_RDWR)
        os.pwrite(one, b"hello", 3)
        assert os.pread(other, 100, 0) == b"\0\0\0hello"
        os.pwrite(other, b"J", 3)
        assert os.pread(one, 100, 0) == b"\0\0\0Jello"
        assert os.fstat(one).st_size == 8
        for file in (one, other):
            os.close(file)


def test_an_open_sees_what_other_nodes_closed_before(tmp_path: Path) -> None:
    with mounted(tmp_path) as (backend, mount), Mounted(backend, tmp_path / "second") as second:
        here, there = mount / "file", second.point / "file"
        for round_ in range(20):
            text = bytes([65 + round_]) * 5000
            (here if round_ % 2 else there).write_bytes(text)
            assert (there if round_ % 2 else here).read_bytes() == text
        file = os.open(here, os.O_RDWR)
        assert os.pread(file, 10, 0) == text[:10]
        with there.open("r+b") as other:
            other.write(b"changed")
            other.seek(6000)
            other.write(b"end")
        os.pwrite(file, b"mine", 100)  # exactly these bytes, whatever this node's pages hold
        os.close(file)
        expected = b"changed" + text[7:100] + b"mine" + text[104:] + bytes(1000) + b"end"
        assert here.read_bytes() == expected
        wait_until(lambda: there.read_bytes() == expected, "the other node sees it")


def test_appends_of_several_nodes_are_all_there(tmp_path: Path) -> None:
    appender = (
        "import os, sys\n"
        "file = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)\n"
        "for i in range(100):\n"
        "    os.write(file, f'{sys.argv[1]} {i:03}\\n'.encode())\n"
    )
    with mounted(tmp_path) as (backend, mount), Mounted(backend, tmp_path / "second") as second:
        points = [mount, second.point, mount, second.point]
        started = [
            subprocess.Popen([sys.executable, "-c", appender, str(number), str(point / "log")])
            for number, point in enumerate(points)
        ]
        assert [process.wait(60) for process in started] == [0] * 4
        lines = (mount / "log").read_text().splitlines()
    assert sorted(lines) == [f"{number} {i:03}" for number in range(4) for i in range(100)]
    for number in range(4):
        assert [line for line in lines if line.startswith(str(number))] == [f"{number} {i:03}" for i in range(100)]


def test_damage_is_an_error_with_a_reason_in_the_log(tmp_path: Path) -> None:
    backend = tmp_path / "backend"
    backend.mkdir()
    with Mounted(backend, tmp_path / "mount") as mount:
        (mount.point / "file").write_bytes(b"x" * 10_000)
        (mount.point / "sound").write_text("sound")
    index = next((backend / "file").glob("hostdir.*/index.*"))
    content = bytearray(index.read_bytes())
    for place in range(0, 4096, 8):  # of each sector of the head
        content[place] ^= 0xFF
    index.write_bytes(content)
    with Mounted(backend, tmp_path / "mount") as mount:
        for touch in (lambda: (mount.point / "file").read_bytes(), lambda: (mount.point / "file").stat()):
            with fails_with(errno.EIO):
                touch()
        log = mount.log.read_text()
        assert f"{backend}/file/{index.relative_to(backend / 'file')}" in log
        assert names_in(mount.point) == ["file", "sound"]
        assert (mount.point / "sound").read_text() == "sound"
        (mount.point / "file").rename(mount.point / "aside")
        (mount.point / "aside").unlink()
        assert names_in(mount.point) == ["sound"]


def test_few_descriptors_are_enough(tmp_path: Path) -> None:
    with mounted(tmp_path, limit=64) as (backend, mount):
        for folder in range(10):
            (backend / f"{folder}").mkdir()
            for file in range(30):
                (backend / f"{folder}/{file}").write_text(f"plain {folder} {file}")
            for file in range(4):
                (mount / f"{folder}/c{file}").write_text(f"container {folder} {file}")
        for _ in range(2):
            assert sum(path.stat().st_size > 0 for path in mount.rglob("*") if path.is_file()) == 340
        for folder in range(10):
            assert (mount / f"{folder}/7").read_text() == f"plain {folder} 7"
            assert (mount / f"{folder}/c3").read_text() == f"container {folder} 3"
        (mount / "3").rename(mount / "moved")
        assert (mount / "moved/c1").read_text() == "container 3 1"
        assert (mount / "moved/29").read_text() == "plain 3 29"


def test_containers_of_plfs_can_be_read(tmp_path: Path) -> None:
    container = tmp_path / "backend/file"
    (container / "hostdir.1").mkdir(parents=True)
    (container / "meta").mkdir()
    (container / ".plfsaccess113918400").touch(0o644)
    (container / "version-tag.2.5.0-dat.20091019-chk.77").touch()
    name = "1390000000.123456.node.7"
    (container / f"hostdir.1/dropping.data.{name}").write_bytes(b"worldhello ")
    records = struct.pack("<qqQddiI", 6, 0, 5, 1.0, 2.0, 7, 0) + struct.pack("<qqQddiI", 0, 5, 6, 3.0, 4.0, 7, 0)
    (container / f"hostdir.1/dropping.index.{name}").write_bytes(records)
    with mounted(tmp_path) as (_, mount):
        assert (mount / "file").read_bytes() == b"hello world"
        assert (mount / "file").stat().st_size == 11
        with fails_with(errno.EROFS):
            (mount / "file").open("r+b")


def test_a_read_only_mount_changes_nothing(tmp_path: Path) -> None:
    backend = tmp_path / "backend"
    backend.mkdir()
    with Mounted(backend, tmp_path / "mount") as mount:
        (mount.point / "file").write_text("text")
    before = sorted((str(path), path.stat().st_mtime_ns) for path in backend.rglob("*"))
    with Mounted(backend, tmp_path / "mount", "--read-only") as mount:
        assert (mount.point / "file").read_text() == "text"
        for change in (
            lambda: (mount.point / "file").open("a"),
            lambda: (mount.point / "new").touch(),
            lambda: (mount.point / "file").unlink(),
        ):
            with fails_with(errno.EROFS):
                change()
    assert sorted((str(path), path.stat().st_mtime_ns) for path in backend.rglob("*")) == before
