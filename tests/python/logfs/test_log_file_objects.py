"""halcyon.logfs.open beside Python's open: the same calls, the same answers."""

import errno
import io
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from log_containers import contents, dropping, flip, names, strided

from halcyon import logfs
from halcyon.errors import ConfigError, HalcyonSystemError, UsageError
from halcyon.logfs.file import BUFFER_BYTES

pytest.importorskip("halcyon._logfs", reason="the compiled modules are not built")


def answer(call: Callable[[], Any]) -> Any:
    """What it returns, or the kind of built-in exception that it raises."""
    try:
        return call()
    except io.UnsupportedOperation:
        return io.UnsupportedOperation
    except ValueError:
        return ValueError
    except OSError as why:
        return OSError, why.errno


def step(of: random.Random) -> Callable[[Any], Any]:
    """Some call of a file object."""
    data = of.randbytes(of.choice([1, 10, 1000, 5000]))
    place, count = of.randrange(20_000), of.choice([0, 1, 100, 4096, 30_000])
    whence, sign = of.choice([os.SEEK_SET, os.SEEK_CUR, os.SEEK_END]), of.choice([1, 1, -1])
    return of.choice(
        [
            lambda file: file.write(data),
            lambda file: file.write(data),
            lambda file: file.read(count),
            lambda file: file.readinto(bytearray(count)),
            lambda file: file.seek(place),
            lambda file: file.seek(sign * place // 4, whence),
            lambda file: file.truncate(place),
            lambda file: file.truncate(),
            lambda file: file.flush(),
            lambda file: file.tell(),
            lambda file: file.readline(count),
        ]
    )


@pytest.mark.parametrize("mode", ["w+b", "r+b", "a+b", "wb", "rb", "ab", "x+b"])
@pytest.mark.parametrize("buffering", [-1, 0, 300])
def test_random_operations_equal_a_plain_files(tmp_path: Path, mode: str, buffering: int) -> None:
    draw = random.Random(f"{mode} {buffering}")
    plain, container = tmp_path / "plain", tmp_path / "container"
    if mode[0] != "x":
        plain.write_bytes(before := draw.randbytes(10_000))
        with logfs.open(container, "wb") as file:
            file.write(before)
    # What is appended goes behind the end when the buffer is full: so both are to be as large.
    room = BUFFER_BYTES if buffering < 0 else buffering
    with plain.open(mode, room) as one, logfs.open(container, mode, buffering) as other:
        for number in range(400):
            do = step(draw)
            assert answer(lambda do=do: do(one)) == answer(lambda do=do: do(other)), f"step {number}"
    assert contents(container) == plain.read_bytes()


def test_text_is_as_of_a_plain_file(tmp_path: Path) -> None:
    written = "Zeile ä\r\nline\n\nlast"
    for newline in (None, "", "\r\n"):
        read = []
        for opens, name in ((open, "plain"), (logfs.open, "container")):
            with opens(tmp_path / name, "w", encoding="utf-16", newline=newline) as file:
                file.write(written)
            with opens(tmp_path / name, encoding="utf-16") as file:
                assert file.mode == "r"
                read.append((file.readline(), file.read(3), list(file)))
        assert read[0] == read[1]


def test_a_file_is_a_directory_until_it_is_flattened(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with logfs.open(path, "wb") as file:
        file.write(b"hello")
        assert file.name == str(path)
        assert file.raw.mode == "wb"
        with pytest.raises(io.UnsupportedOperation):
            file.fileno()
    assert path.is_dir()
    assert logfs.is_container(path)
    logfs.flatten(path)
    assert path.read_bytes() == b"hello"
    assert not logfs.is_container(path)


def test_modes_say_what_may_be_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pytest.raises(FileNotFoundError) as missing:
        logfs.open(path)
    assert isinstance(missing.value, HalcyonSystemError)
    assert (missing.value.errno, missing.value.filename) == (errno.ENOENT, str(path))
    logfs.open(path, "x").close()
    with pytest.raises(FileExistsError):
        logfs.open(path, "x")
    for mode in ("", "q", "rw", "rr", "btr", "+"):
        with pytest.raises(UsageError, match="mode"):
            logfs.open(path, mode)
    with pytest.raises(UsageError, match="encoding"):
        logfs.open(path, "rb", encoding="ascii")
    with pytest.raises(UsageError, match="buffer"):
        logfs.open(path, "w", 0)


def test_what_is_no_container_is_left_alone(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("mine")
    for mode in ("r", "w", "a", "r+"):
        with pytest.raises(UsageError, match="a file, no log container"):
            logfs.open(plain, mode)
        with pytest.raises(UsageError, match="a directory, no log container"):
            logfs.open(tmp_path, mode)
    with pytest.raises(UsageError, match="byte 0"):
        logfs.open("a\0b", "w")
    assert plain.read_text() == "mine"
    assert names(tmp_path) == ["plain"]


def test_a_name_need_not_be_utf_8(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff\xfe"
    with logfs.open(path, "wb") as file:
        file.write(b"x")
    assert contents(Path(os.fsdecode(path))) == b"x"
    with pytest.raises(FileNotFoundError) as missing:
        logfs.open(path + b"\xff")
    assert "\udcff\udcfe\udcff" in str(missing.value)


def test_permissions_are_those_of_open(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        logfs.open(tmp_path / "file", "w").close()
        logfs.open(tmp_path / "private", "w", permissions=0o600).close()
    finally:
        os.umask(before)
    assert logfs.status(tmp_path / "file").permissions == 0o640
    assert logfs.status(tmp_path / "private").permissions == 0o600


def test_arrays_are_read_and_written_in_place(tmp_path: Path) -> None:
    field = np.arange(60_000, dtype=np.float64).reshape(200, 300)
    with logfs.open(tmp_path / "file", "w+b", 0) as file:
        assert file.write_at(800, field) == field.nbytes
        assert file.write(memoryview(field)[:1]) == 2400
        back = np.full_like(field, np.nan)
        assert file.read_at(800, back) == field.nbytes
        np.testing.assert_array_equal(back[1:], field[1:])
        row = np.empty(300)
        file.seek(0)
        assert file.readinto(row) == 2400
        np.testing.assert_array_equal(row, field[0])
        with pytest.raises((BufferError, ValueError)):
            file.write_at(0, field[:, ::2])
        back.flags.writeable = False
        with pytest.raises((BufferError, ValueError)):
            file.read_at(0, back)
        with pytest.raises(BufferError):
            file.read_at(0, b"constant")
        with pytest.raises(TypeError):
            file.write(12)


def test_places_of_data_and_of_holes_are_found(tmp_path: Path) -> None:
    with logfs.open(tmp_path / "file", "w+b", 0) as file:
        file.write_at(1000, b"data")
        file.write_at(5000, b"data")
        assert list(file.data_ranges()) == [(1000, 1004), (5000, 5004)]
        assert file.seek(0, os.SEEK_DATA) == 1000
        assert file.seek(1000, os.SEEK_HOLE) == 1004
        assert file.seek(5000, os.SEEK_HOLE) == 5004
        with pytest.raises(OSError, match="no data from byte 5004 on") as behind:
            file.seek(5004, os.SEEK_DATA)
        assert behind.value.errno == errno.ENXIO
        with pytest.raises(UsageError, match="whence 9"):
            file.seek(0, 9)
        file.erase(1002, 4000)
        assert list(file.data_ranges()) == [(1000, 1002), (5002, 5004)]
        assert file.tell() == 5004


def test_others_see_what_was_published(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with logfs.open(path, "wb") as writer, logfs.open(path, "rb") as reader, logfs.open(path) as text:
        assert reader.read() == b""
        writer.write(b"hello")
        logfs.fsync(writer)
        assert reader.read() == b""
        logfs.refresh(reader)
        assert reader.read() == b"hello"
        logfs.refresh(text)
        assert text.read() == "hello"
        # Also over what a buffer holds already.
        reader.seek(0)
        assert reader.read(1) == b"h"
        writer.seek(1)
        writer.write(b"u")
        logfs.fsync(writer)
        logfs.refresh(reader)
        assert reader.read() == b"ullo"
    with pytest.raises(UsageError, match="no file of halcyon"), (tmp_path / "plain").open("w") as plain:
        logfs.fsync(plain)


def test_appends_of_several_files_follow_each_other(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with logfs.open(path, "ab", 0) as one, logfs.open(path, "ab", 0) as other:
        one.write(b"one ")
        other.write(b"other ")
        one.write(b"again")
        assert one.tell() == 15
    assert contents(path) == b"one other again"


def test_a_closed_file_refuses_everything(tmp_path: Path) -> None:
    file = logfs.open(tmp_path / "file", "w+b", 0)
    file.close()
    file.close()
    assert file.closed
    for call in (file.read, file.tell, file.size, file.sync, file.refresh, file.readable, lambda: file.write(b"x")):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_sums_show_what_changed_behind_the_writers_back(tmp_path: Path) -> None:
    path = tmp_path / "file"
    strided(path, checks=True)
    flip(dropping(path, "data"), 4321)
    assert len(contents(path)) == 19_900
    with logfs.open(path, "rb", verify=True) as file, pytest.raises(ConfigError, match=r"data\."):
        file.read()


def test_a_forked_child_has_to_open_a_file_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with logfs.open(path, "w+b", 0) as file:
        file.write(b"parent")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                file.write(b"child")
            except UsageError as why:
                status = 0 if "forked off" in str(why) else 2
            try:
                file.close()
                with logfs.open(path, "r+b") as own:
                    own.seek(6)
                    own.write(b", child")
            except BaseException:
                status = 3
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        file.refresh()
        assert file.seek(0, os.SEEK_END) == 13
        file.write(b", parent")
    assert contents(path) == b"parent, child, parent"


WAITING_APPEND = """
import fcntl, os, sys, threading
from pathlib import Path
from halcyon import logfs

path = Path(sys.argv[1])
file = logfs.open(path, "ab", 0)
file.write(b"first ")
with (path / "append-lock").open("r+b") as lock:
    fcntl.lockf(lock, fcntl.LOCK_EX)
    waits = f":{os.fstat(lock.fileno()).st_ino} "
    thread = threading.Thread(target=file.write, args=(b"second",))
    thread.start()
    while not any("-> OFDLCK" in line and waits in line for line in open("/proc/locks")):
        pass
    fcntl.lockf(lock, fcntl.LOCK_UN)
thread.join()
file.close()
"""


def test_other_threads_run_while_one_waits_in_a_call(tmp_path: Path) -> None:
    path = tmp_path / "file"
    subprocess.run([sys.executable, "-c", WAITING_APPEND, str(path)], check=True, timeout=60)
    assert contents(path) == b"first second"


def test_threads_write_one_file_at_places_of_their_own(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    path = tmp_path / "file"
    blocks = [bytes([number]) * 10_000 for number in range(1, 101)]
    with logfs.open(path, "wb", 0) as file, ThreadPoolExecutor(8) as pool:
        done = pool.map(lambda number: file.write_at(number * 10_000, blocks[number]), range(100))
        assert sum(done) == 1_000_000
    assert contents(path) == b"".join(blocks)


def test_a_process_may_fork_while_its_threads_write(tmp_path: Path) -> None:
    from threading import Event, Thread

    path = tmp_path / "file"
    ended, written = Event(), bytearray()

    def writes() -> None:
        while not ended.is_set():
            piece = bytes([len(written) % 251]) * 1000
            file.write(piece)
            written.extend(piece)

    with logfs.open(path, "w+b", 0) as file:
        thread = Thread(target=writes)
        thread.start()
        for _ in range(50):
            child = os.fork()
            if child == 0:
                os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        ended.set()
        thread.join()
    assert len(written) > 0
    assert contents(path) == bytes(written)
    assert logfs.check(path).findings == ()
