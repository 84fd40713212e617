"""Calls on descriptors and names of log containers that commands seldom make say what they say of plain files."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from logfs.logged import Place, both, halcyon, same
from small_disk import small_disk

from halcyon.logfs import stats

PROGRAM = Path(__file__).resolve().parent / "programs/calls_of_descriptors.py"
PYTHON = os.path.realpath(sys.executable)
"""Also for other users, who may not look into folders of this one."""
NOBODY = 65534


@pytest.mark.parametrize("case", ["waiting", "pieces", "copies", "pipes", "systems", "directories", "direct", "names"])
def test_calls_say_what_they_say_of_plain_files(tmp_path: Path, case: str) -> None:
    places = both(tmp_path)
    done = same(places, '"$2" "$3" "$1" "$4"', PYTHON, PROGRAM, case)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 3 or case == "direct"
    assert places[1].left() == []
    assert places[1].containers() or case in ("directories", "names")


def test_direct_transfers_may_lie_anywhere(tmp_path: Path) -> None:
    script = """import os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_DIRECT)
print(os.pwrite(fd, b'not aligned', 3), os.pread(fd, 100, 1))
"""
    place = both(tmp_path)[1]
    done = place.run(PYTHON, "-c", script, place.directory / "f")
    assert done.stdout == "11 b'\\x00\\x00not aligned'\n", done.stderr


# --- durable when it returns ---

KILLED = "os.kill(os.getpid(), 9)\n"
SYNCED = {
    "O_DSYNC": "os.write(os.open(path, flags | os.O_DSYNC), b'x' * 10000)\n",
    "O_SYNC": "os.pwrite(os.open(path, flags | os.O_SYNC), b'x' * 10000, 0)\n",
    "appended": "os.write(os.open(path, flags | os.O_APPEND | os.O_SYNC), b'x' * 10000)\n",
    "vectors": "os.writev(os.open(path, flags | os.O_DSYNC), [b'x' * 4000, b'x' * 6000])\n",
    "RWF_DSYNC": "os.pwritev(os.open(path, flags), [b'x' * 10000], 0, os.RWF_DSYNC)\n",
    "RWF_SYNC": "os.pwritev(os.open(path, flags), [b'x' * 10000], 0, os.RWF_SYNC | os.RWF_APPEND)\n",
    "by a stream": "file = os.fdopen(os.open(path, flags | os.O_DSYNC), 'w')\nfile.write('x' * 10000)\nfile.flush()\n",
    "inherited": "fd = os.open(path, flags | os.O_DSYNC)\nos.set_inheritable(fd, True)\n"
    "os.execvp('dash', ['dash', '-c', f'head -c 10000 /dev/zero >&{fd}; kill -9 $$'])\n",
}


@pytest.mark.parametrize("is_staged", [False, True], ids=["in the container", "staged"])
@pytest.mark.parametrize("how", SYNCED)
def test_what_was_written_to_be_durable_is_so_when_the_call_returns(tmp_path: Path, how: str, is_staged: bool) -> None:
    place = both(tmp_path)[1]
    (tmp_path / "stage").mkdir()
    extra = {"HALCYON_LOG_STAGE": str(tmp_path / "stage")} if is_staged else {}  # and no agent that brings it
    script = f"import os, sys\npath, flags = sys.argv[1], os.O_RDWR | os.O_CREAT\n{SYNCED[how]}{KILLED}"
    done = place.run(PYTHON, "-c", script, place.directory / "f", extra=extra)
    assert done.returncode == -signal.SIGKILL, done.stderr
    figures = stats(place.directory / "f")
    assert (figures.size, figures.durable_bytes) == (10000, 10000)
    assert (tmp_path / "stage/halcyon-staged").is_dir() == is_staged


def test_without_that_it_is_not(tmp_path: Path) -> None:
    place = both(tmp_path)[1]
    script = f"import os, sys\nos.write(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT), b'x')\n{KILLED}"
    place.run(PYTHON, "-c", script, place.directory / "f")
    assert stats(place.directory / "f").durable_bytes == 0


def test_descriptors_say_that_they_are_synced(tmp_path: Path) -> None:
    script = """import fcntl, os, sys
for flags in (0, os.O_DSYNC, os.O_SYNC, os.O_APPEND | os.O_NONBLOCK):
    fd = os.open(sys.argv[1] + '/f', os.O_RDWR | os.O_CREAT | flags)
    print(fcntl.fcntl(fd, fcntl.F_GETFL) == fcntl.fcntl(os.dup(fd), fcntl.F_GETFL))
    print(oct(fcntl.fcntl(fd, fcntl.F_GETFL) & (os.O_ACCMODE | os.O_SYNC | os.O_APPEND | os.O_NONBLOCK)))
"""
    same(both(tmp_path), '"$2" -c "$3" "$1"', PYTHON, script)


# --- sent to another process ---

RECEIVER = """import os, socket, sys
end = socket.socket(fileno=int(sys.argv[1]))
if len(sys.argv) > 2:
    end = end.accept()[0]
for fd in socket.recv_fds(end, 100, 9)[1]:
    for call in (lambda: os.read(fd, 4), lambda: os.pread(fd, 100, 0), lambda: os.fstat(fd).st_size,
                 lambda: os.write(fd, b'sent'), lambda: os.lseek(fd, 0, os.SEEK_CUR)):
        try:
            print(call())
        except OSError as why:
            print(why.strerror)
    os.close(fd)
"""
SENDER = """import os, socket, subprocess, sys
place, kind = sys.argv[1:3]
here, there = socket.socketpair()
both = os.open(place + '/f', os.O_RDWR | os.O_CREAT)
os.write(both, b'0123456789')
os.lseek(both, 2, os.SEEK_SET)
reads = os.open(place + '/f', os.O_RDONLY)
appends = os.open(place + '/f', os.O_WRONLY | os.O_APPEND)
environment = dict(os.environ)
if kind == 'under --log elsewhere':
    environment['HALCYON_LOG'] = sys.argv[5]
other = subprocess.Popen([*sys.argv[3:5], str(there.fileno())], env=environment, pass_fds=[there.fileno()])
socket.send_fds(here, [b'x'], [both, reads, appends])
print(other.wait(), os.pread(both, 100, 0), os.lseek(both, 0, os.SEEK_CUR), os.fstat(reads).st_size)
"""


@pytest.fixture
def receiver(tmp_path: Path) -> Path:
    path = tmp_path / "receiver.py"
    path.write_text(RECEIVER)
    return path


@pytest.mark.parametrize("kind", ["under --log", "under --log elsewhere"])
def test_a_descriptor_that_is_sent_is_that_of_the_file(tmp_path: Path, receiver: Path, kind: str) -> None:
    """With its position, its access, and bytes that nobody has synced."""
    (tmp_path / "elsewhere").mkdir()
    words = ["-u", "-c", SENDER]
    script = '"$2" "$3" "$4" "$5" "$1" "$6" "$2" "$7" "$8"'
    done = same(both(tmp_path), script, PYTHON, *words, kind, receiver, tmp_path / "elsewhere")
    assert done.stdout.splitlines()[:3] == ["b'2345'", "b'0123456789'", "10"], done.stderr
    assert done.stdout.splitlines()[-1] == "0 b'012345sentsent' 10 14"


def test_a_descriptor_that_is_sent_to_who_is_not_seen_gives_errors(tmp_path: Path, receiver: Path) -> None:
    place = both(tmp_path)[1]
    script = """import os, socket, sys
both = os.open(sys.argv[1] + '/f', os.O_RDWR | os.O_CREAT)
os.write(both, b'0123456789')
reads = os.open(sys.argv[1] + '/f', os.O_RDONLY)
appends = os.open(sys.argv[1] + '/f', os.O_WRONLY | os.O_APPEND)
with socket.socket(socket.AF_UNIX) as end:
    end.connect(sys.argv[2])
    socket.send_fds(end, [b'x'], [both, reads, appends])
    end.recv(1)
print(os.pread(both, 100, 0), os.fstat(both).st_size)
"""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        listener.listen()
        number = listener.fileno()
        words = [PYTHON, "-u", receiver, str(number), "listens"]
        other = subprocess.Popen(words, pass_fds=[number], stdout=subprocess.PIPE, text=True)
        done = place.run(PYTHON, "-c", script, place.directory, tmp_path / "socket")
        heard = other.communicate(timeout=60)[0].splitlines()
    errors = [line for line in heard if not line.isdigit()]
    assert errors == ["Is a directory", "Is a directory", "Bad file descriptor"] * 3
    assert done.stdout == "b'0123456789' 10\n", done.stderr


# --- what may not be changed ---


@contextmanager
def open_to_all() -> Iterator[Path]:
    """A folder of this user's that others may enter, with the program."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copy(PROGRAM, folder)
        yield folder


def make_files(places: tuple[Place, Place]) -> None:
    """`written`, which anybody may write, and `read`."""
    same(places, 'cd "$1"; umask 0; echo written > written; umask 022; echo read > read')


def test_a_directory_that_others_may_not_write() -> None:
    if os.geteuid() != 0:
        pytest.skip("a program of another user needs root")
    with open_to_all() as folder:
        places = both(folder)
        make_files(places)
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        plain, logged = (
            place.run(PYTHON, folder / PROGRAM.name, place.directory, "changes", **user) for place in places
        )
        assert (logged.stdout, logged.stderr) == (plain.stdout, plain.stderr)
        assert "create EACCES" in plain.stdout
        assert places[1].left() == []


def test_a_directory_of_the_user_that_is_not_to_be_written(tmp_path: Path) -> None:
    places = both(tmp_path)
    make_files(places)
    for place in places:
        place.directory.chmod(0o555)
    try:
        same(places, '"$2" "$3" "$1" changes', PYTHON, PROGRAM)
    finally:
        for place in places:
            place.directory.chmod(0o755)


def test_a_file_system_that_is_not_to_be_written(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        places = both(disk)
        make_files(places)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        done = same(places, '"$2" "$3" "$1" changes', PYTHON, PROGRAM)
        assert done.stdout.count("EROFS") > 20, done
        locks = """import fcntl, sys
file = open(sys.argv[1] + '/read')
fcntl.flock(file, fcntl.LOCK_EX); fcntl.lockf(file, fcntl.LOCK_SH); print(file.read())
"""
        assert same(places, '"$2" -c "$3" "$1"', PYTHON, locks).stdout == "read\n\n"


def test_a_file_of_another_user_is_removed_by_who_may_change_its_directory() -> None:
    """What it held goes with its owner's next removal there."""
    if os.geteuid() != 0:
        pytest.skip("a program of another user needs root")
    with open_to_all() as folder:
        places = both(folder)
        for place in places:
            (place.directory / "inner").mkdir()
        same(places, 'cd "$1/inner"; echo roots > f; echo more > g')
        for place in places:
            os.chown(place.directory / "inner", NOBODY, NOBODY)
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        told = [place.shell('cd "$1/inner"; rm -f f; mv -f g h; ls; cat h; rm -f h; ls', **user) for place in places]
        assert (told[1].stdout, told[1].stderr) == (told[0].stdout, told[0].stderr) == ("h\nmore\n", "")
        assert places[1].shell('rmdir "$1/inner"; ls "$1"').stdout == ""
        assert places[1].left() == []


def test_a_long_name_can_be_made_plain(tmp_path: Path) -> None:
    place = both(tmp_path)[1]
    path = place.directory / ("n" * 255)
    assert place.run("dash", "-c", 'echo text > "$0"', path).returncode == 0
    assert path.is_dir()
    done = halcyon("log", "flatten", "--in-place", path)
    assert done.returncode == 0, done.stderr
    assert path.read_text() == "text\n"
    assert place.left() == []
