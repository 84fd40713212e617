"""A backend that is mounted looks to programs like a plain directory."""

import contextlib
import errno
import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from mounted_backend import Mounted, fails_with, is_container, mounted, names_in, wait_until

PROGRAMS = Path(__file__).resolve().parents[1] / "calls/programs"
COMMANDS = {
    "shell": ["dash", str(PROGRAMS / "shell.sh")],
    "python": [sys.executable, "-B", str(PROGRAMS / "calls.py")],
    "database": ["dash", str(PROGRAMS / "database.sh")],
}


def run(command: list[str], directory: Path) -> str:
    """What the program says, with the directory's name taken out, and its exit status."""
    done = subprocess.run(
        [*command, str(directory)],
        env=os.environ | {"LC_ALL": "C"},
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return done.stdout.replace(str(directory), "DIRECTORY") + f"exit status {done.returncode}"


@pytest.mark.parametrize("kind", ["container", "plain"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_program_sees_what_it_would_see_on_a_plain_directory(tmp_path: Path, name: str, kind: str) -> None:
    if shutil.which(COMMANDS[name][0]) is None or (name == "database" and shutil.which("sqlite3") is None):
        pytest.skip(f"{COMMANDS[name][0]} or sqlite3 is not installed")
    plain = tmp_path / "plain"
    plain.mkdir()
    expected = run(COMMANDS[name], plain)
    if kind == "container":  # one thing is different: a container has one name
        refused = "ln: failed to create hard link 'DIRECTORY/d/second' => 'DIRECTORY/d/log': Operation not permitted"
        expected = re.sub(r"^2 \d+ regular file$", refused, expected, flags=re.MULTILINE)
    with mounted(tmp_path, f"--new-files={kind}") as (backend, mount):
        assert run(COMMANDS[name], mount) == expected
        if name == "python":  # it removes all that it made
            wait_until(lambda: names_in(backend) == [], "nothing is left")
        else:
            assert any(map(is_container, backend.rglob("*"))) == (kind == "container")


def test_what_tools_copy_equals_the_original(tmp_path: Path) -> None:
    content = os.urandom(3_000_001)
    original = tmp_path / "original"
    original.mkdir()
    (original / "folder").mkdir()
    (original / "folder/data").write_bytes(content)
    (original / "link").symlink_to("folder/data")
    os.utime(original / "folder/data", (1_000_000_000, 1_100_000_000.25))
    by_hand = (
        f"mkdir TO/folder && dd if={original}/folder/data of=TO/folder/data bs=47K status=none && "
        f"cp -P {original}/link TO && touch -r {original}/folder/data TO/folder/data"
    )
    commands = [
        ["cp", "-a", f"{original}/.", "TO"],
        ["sh", "-c", f"tar cf - -C {original} . | tar xf - -C TO"],
        ["sh", "-c", by_hand],
    ]
    if shutil.which("rsync"):
        commands.append(["rsync", "-a", f"{original}/", "TO"])
    with mounted(tmp_path) as (backend, mount):
        for number, command in enumerate(commands):
            copy = mount / str(number)
            copy.mkdir()
            subprocess.run([word.replace("TO", str(copy)) for word in command], check=True)
            subprocess.run(["diff", "-r", original, copy], check=True)
            assert is_container(backend / str(number) / "folder/data")
            assert (copy / "folder/data").stat().st_mtime == pytest.approx(1_100_000_000.25, abs=1)
            assert (copy / "link").readlink() == Path("folder/data")
            found = subprocess.run(["find", copy, "-size", "+2M"], check=True, capture_output=True, text=True).stdout
            assert found.split() == [f"{copy}/folder/data"]
            summed = subprocess.run(["md5sum", copy / "folder/data"], check=True, capture_output=True, text=True).stdout
            assert summed.split()[0] == hashlib.md5(content).hexdigest()
            (copy / "folder/data").write_bytes(b"later")
            assert (copy / "folder/data").stat().st_mtime > 1_200_000_000


def test_what_is_called_as_a_marker_and_is_none_is_the_users(tmp_path: Path) -> None:
    for kind in ("container", "plain"):
        with mounted(tmp_path, f"--new-files={kind}") as (backend, mount):
            folder = mount / kind
            (folder / "a/halcyon-container").mkdir(parents=True)
            (folder / "a/halcyon-container/inner").write_text("inner")
            (folder / "b").mkdir()
            (folder / "b/halcyon-container").write_text("mine")
            for name in "ab":
                (folder / name / "beside").write_text("beside")
                assert names_in(folder / name) == ["beside", "halcyon-container"]
                assert (folder / name / "beside").read_text() == "beside"
                assert is_container(backend / kind / name / "beside") == (kind == "container")
            assert (folder / "a/halcyon-container/inner").read_text() == "inner"
            assert (folder / "b/halcyon-container").read_text() == "mine"
            shutil.rmtree(folder)


def test_a_static_program_sees_containers(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(
        '#include <stdio.h>\nint main(int n, char** v) { FILE* f = fopen(v[1], n > 2 ? v[2] : "r"); int c;\n'
        'if (n > 2) return fputs("text", f) < 0 || fclose(f); while ((c = getc(f)) != EOF) putchar(c); return 0; }\n'
    )
    built = subprocess.run(["gcc", "-static", "-o", tmp_path / "program", source], capture_output=True, text=True)
    if built.returncode != 0:
        pytest.skip(f"no static program can be built: {built.stderr}")
    with mounted(tmp_path) as (backend, mount):
        subprocess.run([tmp_path / "program", mount / "file", "w"], check=True)
        assert is_container(backend / "file")
        read = subprocess.run([tmp_path / "program", mount / "file"], check=True, capture_output=True, text=True)
        assert read.stdout == "text"


def test_four_writers_of_one_file_make_the_file_that_a_plain_one_would_be(tmp_path: Path) -> None:
    ranks, records, size = 4, 60, 47 << 10
    writer = (
        "import os, sys\n"
        f"rank, file = int(sys.argv[1]), os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT, 0o644)\n"
        f"for i in range({records}):\n"
        f"    os.pwrite(file, bytes([rank * 60 + i]) * {size}, (i * {ranks} + rank) * {size})\n"
    )
    expected = b"".join(bytes([rank * 60 + i]) * size for i in range(records) for rank in range(ranks))
    with mounted(tmp_path) as (backend, mount), Mounted(backend, tmp_path / "second") as second:
        nodes = [(point / ".halcyon-mount").readlink() for point in (mount, second.point)]
        for file in ("one", "two"):  # on one node, on two
            points = [mount, second.point if file == "two" else mount] * 2
            started = [
                subprocess.Popen([sys.executable, "-c", writer, str(rank), str(points[rank] / file)])
                for rank in range(ranks)
            ]
            assert [process.wait(60) for process in started] == [0] * ranks
            for point in (mount, second.point):
                assert hashlib.md5((point / file).read_bytes()).digest() == hashlib.md5(expected).digest()
        # Another one where the first writer had closed before the next one opened.
        writers = {path.name.split(".")[-2] for path in (backend / "two").glob("hostdir.*/index.*")}
        assert writers == {str(node) for node in nodes}, "each node has logs of its own"


def test_a_file_that_is_unlinked_lives_until_it_is_closed(tmp_path: Path) -> None:
    with mounted(tmp_path) as (backend, mount):
        (mount / "folder").mkdir()
        file = os.open(mount / "folder/file", os.O_RDWR | os.O_CREAT, 0o644)
        os.write(file, b"before ")
        (mount / "folder/file").unlink()
        (mount / "folder").rmdir()
        os.write(file, b"after")
        assert os.pread(file, 100, 0) == b"before after"
        assert os.fstat(file).st_size == 12
        assert names_in(mount) == []
        os.close(file)
        wait_until(lambda: names_in(backend) == [], "the container's directory is removed")


def test_what_a_killed_mount_left_of_unlinked_files_goes_with_the_next_one(tmp_path: Path) -> None:
    backend = tmp_path / "backend"
    backend.mkdir()
    first = Mounted(backend, tmp_path / "mount")
    try:
        file = os.open(tmp_path / "mount/file", os.O_RDWR | os.O_CREAT, 0o644)
        os.write(file, b"text")
        (tmp_path / "mount/file").unlink()
        first.kill()
        with contextlib.suppress(OSError):
            os.close(file)
        assert len(names_in(backend)) == 1
    finally:
        first.take_away()
    with Mounted(backend, tmp_path / "mount"):
        wait_until(lambda: names_in(backend) == [], "nothing is left")


def test_a_file_that_is_renamed_while_open_goes_on(tmp_path: Path) -> None:
    with mounted(tmp_path) as (backend, mount):
        file = os.open(mount / "file", os.O_RDWR | os.O_CREAT, 0o644)
        os.write(file, b"one ")
        (mount / "folder").mkdir()
        (mount / "file").rename(mount / "folder/other")
        os.write(file, b"two")
        (mount / "folder").rename(mount / "moved")
        assert (mount / "moved/other").read_bytes() == b"one two"
        assert os.fstat(file).st_size == 7
        os.close(file)
        assert is_container(backend / "moved/other")
        assert not (mount / "file").exists()


@pytest.mark.parametrize("kinds", [("container", "container"), ("container", "plain"), ("plain", "container")])
def test_a_rename_takes_the_place_of_what_was_there(tmp_path: Path, kinds: tuple[str, str]) -> None:
    def make(name: str, kind: str, text: str) -> None:
        ((mount if kind == "container" else backend) / name).write_text(text)

    with mounted(tmp_path) as (backend, mount):
        make("from", kinds[0], "new")
        make("to", kinds[1], "old")
        with (mount / "to").open() as old:
            (mount / "from").rename(mount / "to")
            assert old.read() == "old"
        assert (mount / "to").read_text() == "new"
        assert is_container(backend / "to") == (kinds[0] == "container")
        assert names_in(mount) == ["to"]
        wait_until(lambda: names_in(backend) == ["to"], "what was there is removed")
        (mount / "folder").mkdir()
        for pair, number in ((("to", "folder"), errno.EISDIR), (("folder", "to"), errno.ENOTDIR)):
            with fails_with(number):
                (mount / pair[0]).rename(mount / pair[1])


def test_plain_files_stay_plain(tmp_path: Path) -> None:
    with mounted(tmp_path) as (backend, mount):
        (backend / "plain").write_bytes(b"text" * 1000)
        os.mkfifo(backend / "pipe")
        assert (mount / "plain").read_bytes() == b"text" * 1000
        with (mount / "plain").open("r+b") as file:
            file.seek(2)
            file.write(b"PATCH")
        with (mount / "plain").open("ab") as file:
            file.write(b"tail")
        os.link(mount / "plain", mount / "second")
        assert (backend / "plain").read_bytes() == b"tePATCHt" + b"text" * 998 + b"tail"
        assert (mount / "second").stat().st_nlink == 2
        os.mknod(mount / "other", stat.S_IFIFO | 0o600)
        assert stat.S_ISFIFO((backend / "other").stat().st_mode)
        assert stat.S_ISFIFO((mount / "pipe").stat().st_mode)
        assert names_in(mount) == ["other", "pipe", "plain", "second"]
        (mount / "file").write_text("x")
        with pytest.raises(PermissionError):
            os.link(mount / "file", mount / "third")
        assert os.statvfs(mount).f_blocks == os.statvfs(backend).f_blocks


def test_holes_are_punched_and_found(tmp_path: Path) -> None:
    with mounted(tmp_path) as (_, mount):
        path = mount / "file"
        path.write_bytes(b"x" * 100_000)
        subprocess.run(["fallocate", "--punch-hole", "-o", "10000", "-l", "20000", path], check=True)
        assert path.read_bytes() == b"x" * 10_000 + bytes(20_000) + b"x" * 70_000
        subprocess.run(["fallocate", "--punch-hole", "-o", "90000", "-l", "20000", path], check=True)
        assert path.stat().st_size == 100_000
        subprocess.run(["fallocate", "-l", "150000", path], check=True)
        assert path.stat().st_size == 150_000
        file = os.open(path, os.O_RDWR)
        assert os.lseek(file, 0, os.SEEK_HOLE) == 10_000
        assert os.lseek(file, 10_000, os.SEEK_DATA) == 30_000
        with fails_with(errno.ENXIO):
            os.lseek(file, 95_000, os.SEEK_DATA)
        os.ftruncate(file, 5)
        assert os.fstat(file).st_size == 5
        os.ftruncate(file, 8)
        assert os.pread(file, 100, 0) == b"xxxxx\0\0\0"
        os.fsync(file)
        os.close(file)


def test_modes_owners_and_times_are_the_file_s(tmp_path: Path) -> None:
    with mounted(tmp_path) as (backend, mount):
        path = mount / "file"
        path.write_text("text")
        os.chown(path, 1234, 2345)
        path.chmod(0o4640)
        os.utime(path, ns=(1_000_000_000_123_456_789, 1_100_000_000_987_654_321))
        status = path.stat()
        assert (status.st_mode, status.st_uid, status.st_gid) == (stat.S_IFREG | 0o4640, 1234, 2345)
        assert (status.st_atime_ns, status.st_mtime_ns) == (1_000_000_000_123_456_789, 1_100_000_000_987_654_321)
        for part in (backend / "file").rglob("*"):
            assert (part.stat().st_uid, part.stat().st_gid) == (1234, 2345), part
        assert (backend / "file").stat().st_mode & 0o077 == 0o050
        before = status.st_mtime_ns
        with path.open("a") as file:
            file.write("more")
        assert path.stat().st_mtime_ns > before
        assert path.stat().st_atime_ns == 1_000_000_000_123_456_789
        path.touch()
        assert path.stat().st_mtime > 1_600_000_000


def test_extended_attributes_where_they_are_wanted(tmp_path: Path) -> None:
    backend = tmp_path / "backend"
    backend.mkdir()
    try:
        os.setxattr(backend, "user.probe", b"1")
    except OSError as why:
        pytest.skip(f"the file system has no extended attributes: {why}")
    with mounted(tmp_path, "--xattr") as (_, mount):
        (mount / "file").write_text("text")
        os.setxattr(mount / "file", "user.kind", b"checkpoint")
        assert os.getxattr(mount / "file", "user.kind") == b"checkpoint"
        assert "user.kind" in os.listxattr(mount / "file")
        os.removexattr(mount / "file", "user.kind")
        assert "user.kind" not in os.listxattr(mount / "file")
        assert os.getxattr(mount, "user.probe") == b"1"
    with mounted(tmp_path) as (_, mount), fails_with(errno.ENOTSUP):
        os.getxattr(mount / "file", "user.kind")


def test_files_of_other_users_are_theirs(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    for above in tmp_path.parents:
        if above.owner() == "root" and above.stat().st_mode & 0o001 == 0:
            above.chmod(above.stat().st_mode | 0o011)
    with mounted(tmp_path, "--allow-other") as (backend, mount):
        for folder, group, mode in (("own", 1234, 0o1777), ("project", 4321, 0o2770)):
            (mount / folder).mkdir()
            os.chown(mount / folder, 0, group)
            (mount / folder).chmod(mode)
        writes = "import sys\nfor name in sys.argv[1:]:\n open(name, 'w').write('text')\n"
        files = [str(mount / "own/file"), str(mount / "project/file")]
        subprocess.run(["/usr/bin/python3", "-c", writes, *files], check=True, user=1234, group=1234,
                       extra_groups=[4321], umask=0o007)  # fmt: skip
        for folder, group in (("own", 1234), ("project", 4321)):
            status = (mount / folder / "file").stat()
            assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (1234, group, 0o660)
            for part in (backend / folder / "file").rglob("*"):
                assert (part.stat().st_uid, part.stat().st_gid) == (1234, group), part
        stranger = subprocess.run(["cat", mount / "project/file"], user=99, group=99, extra_groups=[],
                                  capture_output=True, text=True)  # fmt: skip
        assert "Permission denied" in stranger.stderr
