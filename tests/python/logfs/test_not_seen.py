"""What the library does not see (docs/not-seen.md) gets the right bytes of a log container, or an error."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from logfs.logged import Place, both, halcyon, same

from halcyon.observe.dataset import Dataset
from halcyon.observe.pack import pack

PROGRAMS = Path(__file__).resolve().parents[2] / "logfs/programs"
PASSTHROUGH = Path("/usr/share/doc/libfuse3-dev/examples")
ACCESSES = {"read": "3< f", "append": "3>> f", "both": "3<> f"}
Built = Callable[..., Path]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Makes a program, or a library, of sources of C."""
    folder = tmp_path_factory.mktemp("programs")

    def build(name: str, *options: str) -> Path:
        if shutil.which("gcc") is None:
            pytest.skip("there is no gcc")
        out = folder / "".join([Path(name).stem, *(option.replace("/", "-") for option in options)])
        if not out.exists():
            words = ["gcc", "-O1", "-w", "-pthread", "-o", str(out), str(PROGRAMS / name), *options]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                pytest.skip(f"{' '.join(words)}: {done.stderr}")
        return out

    return build


@pytest.fixture
def logged(tmp_path: Path) -> Place:
    """A logged directory with a container `f`."""
    return container_in(tmp_path)


def container_in(folder: Path) -> Place:
    place = both(folder)[1]
    assert place.shell('cd "$1"; echo 0123456789 > f').returncode == 0
    return place


def expect_untouched(place: Place) -> None:
    assert place.shell('cat "$1/f"').stdout == "0123456789\n"
    checked = halcyon("log", "check", "--json", place.directory / "f")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert [
        each["where"] for each in json.loads(checked.stdout)["findings"] if "halcyon-descriptor" in each["where"]
    ] == []


def expect_errors(done: subprocess.CompletedProcess[str], ways: int) -> None:
    """All lines but the first say that something failed."""
    assert done.returncode == 0, done.stderr
    status, *lines = done.stdout.splitlines()
    assert status == "status directory"
    assert [line for line in lines if line.split()[-2] != "-1"] == []
    assert len(lines) == ways


# 14 ways to read and 12 to write; with io_uring one more of each.
WAYS = {
    "static": (("-static",), 26),
    "system calls": ((), 26),
    "rings": (("-DHAS_LIBURING", "-luring"), 28),
}


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("access", ACCESSES)
def test_descriptors_give_errors_past_the_library(logged: Place, built: Built, how: str, access: str) -> None:
    options, ways = WAYS[how]
    done = logged.shell(f'cd "$1"; exec "$2" 3 {ACCESSES[access]}', built("past_library.c", *options))
    expect_errors(done, ways)
    expect_untouched(logged)


def test_what_a_program_not_seen_starts_finds_the_file_again(logged: Place, built: Built) -> None:
    """Descriptors go through it, with their access and their position."""
    script = """cd "$1"; exec 3<> f; head -c 4 <&3
        "$2" sh -c 'cat <&3; echo more >&3; exec "$0" cat f' "$2" """
    static = built("starts.c", "-static")
    assert logged.shell(script, static).stdout == "0123456789\n0123456789\nmore\n"


def test_a_program_that_changes_its_user_gets_errors() -> None:
    if os.geteuid() != 0:
        pytest.skip("a program of another user needs root")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # others may enter it
        place = container_in(folder)
        program = folder / "cat"
        shutil.copy(str(shutil.which("cat")), program)
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
        done = place.shell('cd "$1"; "$2" f; "$2" < f; "$2" /dev/stdin < f; echo x | "$2" >> f', program)
        assert (done.stdout, done.stderr.count("Is a directory"), done.stderr.count("Bad file")) == ("", 3, 1), (
            done.stderr
        )
        expect_untouched(place)


def test_programs_of_the_user_that_are_not_seen_find_directories_for_files(logged: Place, built: Built) -> None:
    script = 'cd "$1"; "$2" < f; "$2" f; "$2" /dev/stdin < f; echo x | "$2" > f; echo x | "$2" >> f'
    done = logged.shell(script, built("copies.c", "-static"))
    assert done.stdout == ""
    assert [line.split(": ")[-1] for line in done.stderr.splitlines()] == [
        "Is a directory", "Is a directory", "Is a directory", "Bad file descriptor", "Bad file descriptor",
    ]  # fmt: skip


def test_a_process_behind_another_root_gets_right_bytes_or_errors(logged: Place) -> None:
    if os.geteuid() != 0:
        pytest.skip("another root directory needs root")
    script = """import os, sys
fd = os.open(sys.argv[1] + '/f', os.O_RDWR)
os.chroot(sys.argv[1] + '/..')
os.chdir('/')
print(os.pread(fd, 100, 0))
for name in ('/logged/f', 'logged/f'):
    try:
        print(open(name).read())
    except OSError as why:
        print(why.strerror)
if os.fork() == 0:
    try:
        print(os.pread(fd, 100, 0) == b'0123456789\\n')
    except OSError as why:
        print(True)
    sys.stdout.flush()
    os._exit(0)
os.wait()
"""
    done = logged.run("python3", "-u", "-c", script, logged.directory)
    assert done.stdout.splitlines() == ["b'0123456789\\n'", "Is a directory", "Is a directory", "True"], done.stderr
    expect_untouched(logged)


def test_descriptors_that_system_calls_close_and_replace(tmp_path: Path, built: Built) -> None:
    places = both(tmp_path)
    done = same(places, 'exec "$2" "$1"', built("raw_descriptors.c"))
    assert done.stdout == "failed 0\n"
    assert (tmp_path / "outside").read_text() == "outside "
    assert places[1].containers() >= {"closed", "first", "second", "duplicated", "appended", "forked", "executed"}


def test_libraries_that_call_the_c_library_past_us(logged: Place, built: Built) -> None:
    module = built("deep_module.c", "-shared", "-fPIC")
    done = logged.shell('exec "$2" "$3" "$1/f"', built("deep_host.c", "-ldl"), module)
    assert done.stdout.splitlines() == [
        "read -1 Is a directory", "pread -1 Is a directory", "write -1 Bad file descriptor", "open -1 Is a directory",
        "truncate -1 Is a directory", "fopen -1 Is a directory", "fopen,w -1 Is a directory",
    ], done.stderr  # fmt: skip
    script = """import ctypes, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
libc = ctypes.CDLL('libc.so.6', use_errno=True)
room = ctypes.create_string_buffer(16)
print(libc.read(fd, room, 16), os.strerror(ctypes.get_errno()))
print(libc.write(fd, b'past', 4), os.strerror(ctypes.get_errno()))
print(libc.open(sys.argv[1].encode(), os.O_RDWR), os.strerror(ctypes.get_errno()))
print(os.read(fd, 100))
"""
    done = logged.run("python3", "-c", script, logged.directory / "f")
    assert done.stdout.splitlines() == [
        "-1 Is a directory", "-1 Bad file descriptor", "-1 Is a directory", "b'0123456789\\n'",
    ], done.stderr  # fmt: skip
    expect_untouched(logged)


def test_what_the_c_library_does_inside(logged: Place, built: Built) -> None:
    (logged.directory / "plain").write_text("plain\n")
    script = 'cd "$1"; mv f logged; "$2" .; cat logged; mv logged f; cat new; rm new'
    done = logged.shell(script, built("inside_library.c"))
    lines = done.stdout.splitlines()
    lines[11:17] = sorted(lines[11:14]) + sorted(lines[14:17])  # in the kernel's order
    assert lines == [
        "aio_read -1 ENOSYS", "aio_write -1 ENOSYS", "aio_fsync -1 ENOSYS", "lio_listio -1 EIO",
        "F_OFD_SETLK -1 EINVAL", "F_OFD_GETLK -1 EINVAL",
        "spawn,logged -1 EIO", "plain", "spawn,plain 0 -", "spawn,into logged -1 EISDIR", "spawn,into new 0 -",
        *sorted(["nftw ./logged directory", "nftw ./new file", "nftw ./plain file"]),
        *sorted(["fts ./logged directory", "fts ./new file", "fts ./plain file"]),
        "scandir logged directory", "scandir new file", "scandir plain file", "glob logged/", "realpath /logged",
        "mkfifo -1 EPERM", "mknod -1 EPERM", "linkat -1 EXDEV", "link -1 EPERM", "setmntent none EISDIR",
        "0123456789", "cat",
    ], done.stderr  # fmt: skip
    assert "Is a directory" in done.stderr
    expect_untouched(logged)


def test_links_that_lead_into_the_directory_find_directories_for_files(logged: Place, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(logged.directory)
    done = logged.shell('cat "$2/f"; echo x > "$2/f"; echo x > "$2/new"; cat "$2/new" "$1/new"', tmp_path / "link")
    assert done.stdout == "x\nx\n"
    assert done.stderr.count("s a directory") == 2  # "Is a directory", and as dash spells it
    assert logged.containers() == {"f"}
    expect_untouched(logged)


def test_stores_into_mapped_files_are_refused(logged: Place) -> None:
    script = """import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
print(mmap.mmap(fd, 0, access=mmap.ACCESS_READ)[:])
print(mmap.mmap(fd, 0, access=mmap.ACCESS_COPY)[:])
try:
    mmap.mmap(fd, 0)
except OSError as why:
    print(why.strerror)
"""
    done = logged.run("python3", "-c", script, logged.directory / "f")
    assert done.stdout.splitlines() == ["b'0123456789\\n'"] * 2 + ["No such device"], done.stderr
    assert "a writable shared mapping of a log container was refused" in done.stderr
    expect_untouched(logged)


@contextmanager
def file_system_of_nodes(folder: Path) -> Iterator[Path]:
    """One that says that it may be of several nodes (FUSE): libfuse's example, over a folder."""
    if os.geteuid() != 0 or not Path("/dev/fuse").exists():
        pytest.skip("a file system of FUSE needs root and /dev/fuse")
    source = PASSTHROUGH / "passthrough_ll.c"
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "fuse3"], capture_output=True, text=True, check=False)
    if not source.exists() or flags.returncode != 0:
        pytest.skip("libfuse's example is not installed")
    below, here = folder / "below", folder / "here"
    below.mkdir()
    here.mkdir()
    subprocess.run(["gcc", "-O1", "-w", "-o", folder / "example", source, *flags.stdout.split()], check=True)
    words = [folder / "example", "-o", f"source={below},cache=never", here]
    if subprocess.run(words, check=False).returncode != 0:
        pytest.skip("libfuse's example cannot mount here")
    try:
        yield here
    finally:
        subprocess.run(["fusermount3", "-u", "-z", here], check=True)


def test_descriptors_on_a_file_system_of_several_nodes(tmp_path: Path, built: Built) -> None:
    with file_system_of_nodes(tmp_path) as here:
        place = Place(here, is_logged=True)
        assert place.shell('cd "$1"; echo 0123456789 > f').returncode == 0
        program = built("past_library.c", "-static")
        for access in ACCESSES.values():
            done = place.shell(f'cd "$1"; exec "$2" 3 only-read {access}', program)
            assert done.returncode == 0, done.stderr
            status, *lines = done.stdout.splitlines()
            assert status == "status file"
            if access != "3>> f":
                assert [line for line in lines if line.split()[-2] != "-1" and "again" not in line] == []
        assert place.shell('cat "$1/f"; exec 9<> "$1/f"; flock -n 9 && echo locked').stdout == "0123456789\nlocked\n"
        # Bytes that are written there belong nowhere: reads fail until they are put aside. Who closes the descriptor,
        # and the summary, say so.
        run = tmp_path / "run"
        script = f"exec 3<> {here}/f; {program} 3 > /dev/null; exec 3>&-; echo closed >&2"
        done = halcyon("run", "--trace", "-o", run, "--log", here, "--", "dash", "-c", script)
        assert done.returncode == 0, done.stderr
        assert "wrote to a descriptor of the file" in done.stderr.split("closed\n")[0]
        assert f"{here}: programs that Halcyon does not see wrote to descriptors of 1 file: " in done.stderr
        pack(run, run / "data")
        rows = [row for batch in Dataset.open(run / "data").batches("absences") for row in batch.to_pylist()]
        assert [row["count"] for row in rows if row["subject"] == "writes past a log container"] == [1]
        done = place.shell('cat "$1/f"; cat < "$1/f"')
        assert done.stdout == ""
        assert done.stderr.count("Input/output error") == 2
        assert (
            "halcyon-descriptor: a program that Halcyon does not see wrote to a descriptor of the file" in done.stderr
        )
        checked = halcyon("log", "check", "--json", here / "f")
        assert checked.returncode == 1
        assert [each["where"] for each in json.loads(checked.stdout)["findings"]] == ["halcyon-descriptor"]
        assert halcyon("log", "flatten", here / "f", "-o", tmp_path / "flat").returncode == 1
        assert not (tmp_path / "flat").exists()
        repaired = halcyon("log", "repair", here / "f")
        assert repaired.returncode == 0, repaired.stderr
        assert "put aside as damaged.halcyon-descriptor" in " ".join(repaired.stdout.split())
        assert place.shell('cat "$1/f"').stdout == "0123456789\n"
