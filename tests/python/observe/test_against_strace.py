"""What a recording tells of a program is what the kernel saw of it: the same run under strace, call by call."""

import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from strace_log import FileCall, file_calls, run_under_strace

from halcyon.observe.dataset import Dataset
from halcyon.observe.pack import pack
from halcyon.observe.recording.folder import DATA, Recording, new_folder
from halcyon.observe.recording.preload import variables

# --- what a recording cannot tell, and how the kernel's view of it is left out (docs/not_seen.md has the reasons) ---

NOT_A_SYSTEM_CALL = {"fdopen", "fdopendir", "readdir", "fflush", "exit", "aio_suspend", "rewind", "setvbuf", "msync"}
"""Recorded functions that make no system call of their kind of their own, or one (msync) that names no file."""
STDIO_INSIDE = {"seek", "stat", "control", "read", "write", "copy", "sync", "directory"}
"""Kinds of which stdio makes calls inside the C library: of files with a stream their number is not compared.
Reads and writes are compared by bytes all the same."""
DIRECTORY_INSIDE = {"stat", "directory", "control", "seek"}
"""The same of directories that are listed: opendir asks for the block size, readdir gets many entries at once."""
OPENED_INSIDE = {"opendir": "open", "closedir": "close"}
"""Recorded as kind `directory`; the kernel sees the opening and the closing of a file."""
AIO = {"aio_read", "aio_write", "aio_return", "lio_listio", "aio_fsync"}
"""The C library's threads make these calls; only their bytes are compared."""
EMULATED_FCHMODAT = {"open": 1, "close": 1, "stat": 1, "namespace": -1}
"""fchmodat that does not follow links: the C library opens the file and changes it through /proc."""
INSIDE_REALPATH = "readlink"
"""realpath asks about each part of a path."""


@dataclass
class Sum:
    calls: int = 0
    moved: int = 0
    names: Counter[str] = field(default_factory=Counter)


def sums_of_kernel(calls: list[FileCall]) -> dict[tuple[str, str], Sum]:
    sums: dict[tuple[str, str], Sum] = defaultdict(Sum)
    for call in calls:
        at = sums[call.path, call.kind]
        at.calls += 1
        at.moved += call.moved
        at.names[call.name] += 1
    return sums


@dataclass
class Recorded:
    sums: dict[tuple[str, str], Sum]
    streams: set[str]
    """Files that stdio touched."""
    listed: set[str]
    """Directories that were listed."""
    unsteady: set[str]
    """Files of asynchronous calls."""


def rows(data: Dataset, table: str) -> Iterator[dict[str, Any]]:
    for batch in data.batches(table):
        yield from batch.to_pylist()


def sums_of_recording(data: Dataset, directory: Path) -> Recorded:
    found = Recorded(defaultdict(Sum), set(), set(), set())
    path_of = {row["file"]: os.path.normpath(row["path"]) for row in rows(data, "files")}
    for row in rows(data, "calls"):
        path = path_of.get(row["file"], "")
        if path != str(directory) and not path.startswith(str(directory) + "/"):
            continue
        name, kind = row["call"], row["kind"]
        if row["level"] == "stdio":
            found.streams.add(path)
        if kind == "directory":
            found.listed.add(path)
        if name in AIO:
            found.unsteady.add(path)
        if name in NOT_A_SYSTEM_CALL or (row["level"] == "stdio" and kind not in ("open", "close")):
            continue
        at = found.sums[path, OPENED_INSIDE.get(name, kind)]
        at.calls += 1
        at.moved += row["moved"] or 0
        at.names[name] += 1
    return found


def differences(kernel: dict[tuple[str, str], Sum], recorded: Recorded, inside: Collection[str] = ()) -> list[str]:
    found = []
    for path, kind in sorted(kernel.keys() | recorded.sums.keys()):
        seen, told = kernel.get((path, kind), Sum()), recorded.sums.get((path, kind), Sum())
        seen.calls -= sum(seen.names[name] for name in inside)
        derived = (
            (path in recorded.streams and kind in STDIO_INSIDE)
            or (path in recorded.listed and kind in DIRECTORY_INSIDE)
            or (path in recorded.unsteady)
        )
        told_fchmodat = recorded.sums.get((path, "namespace"), Sum()).names["fchmodat"]
        emulated = told_fchmodat - kernel.get((path, "namespace"), Sum()).names["fchmodat"]
        if emulated > 0 and kind in EMULATED_FCHMODAT:
            told.calls += EMULATED_FCHMODAT[kind] * emulated
        if kind == "control":
            seen.calls = told.calls = seen.names["fadvise64"] - told.names["posix_fadvise"]
            told.calls = 0
        if (not derived and seen.calls != told.calls) or seen.moved != told.moved:
            found.append(
                f"{path} {kind}: kernel {seen.calls} calls {seen.moved} bytes {dict(seen.names)}, "
                f"recorded {told.calls} calls {told.moved} bytes {dict(told.names)}"
            )
    return found


Run = Callable[..., list[str]]


@pytest.fixture
def compare(tmp_path: Path) -> Run:
    """Runs a command in a fresh directory under strace, recorded; what differs."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    directory = (tmp_path / "work").resolve()
    directory.mkdir()

    def run(*command: str, expected_code: int = 0, inside: Collection[str] = ()) -> list[str]:
        folder = new_folder(tmp_path / "run", list(command))
        recording = Recording.of(list(command), ["trace"], 0.0)
        recording.write(folder)
        code = run_under_strace(
            list(command), directory, tmp_path / "log", variables(["trace"], folder / "trace", None)
        )
        assert code == expected_code
        kernel = sums_of_kernel(file_calls(tmp_path / "log", directory))
        assert kernel, "the command did nothing that could be compared"
        pack(folder, folder / DATA)
        return differences(kernel, sums_of_recording(Dataset.open(folder / DATA), directory), inside)

    run.directory = directory  # type: ignore[attr-defined]
    return run


def test_tar(compare: Run) -> None:
    (compare.directory / "a").write_bytes(b"x" * 300_000)
    (compare.directory / "b").mkdir()
    (compare.directory / "b" / "c").write_text("small")
    assert compare("bash", "-c", "tar cf all.tar a b && mkdir out && tar xf all.tar -C out") == []


def test_copying_moving_and_removing(compare: Run) -> None:
    (compare.directory / "a").write_bytes(os.urandom(200_000))
    script = "cp a b; cp --sparse=never --reflink=never a c; mkdir d; mv b d/; mv d e; ln c f; ln -s c g; rm f; rm -r e"
    assert compare("bash", "-c", script) == []


def test_shell_redirections(compare: Run) -> None:
    script = """
        echo one > a; echo two >> a; cat < a > b; exec 5<>c; echo three >&5; read -r word < a
        (echo in a subshell; pwd) > d; for i in 1 2 3; do echo $i; done | sort -r > e; sed -i s/one/1/ a
        test -e a && test ! -e nothing; cd /; cat b 2> /dev/null; exec 5>&-
    """
    assert compare("bash", "-c", script) == []


def test_appending_processes(compare: Run) -> None:
    script = "for i in 1 2 3 4; do (for j in $(seq 50); do echo $i $j >> all; done) & done; wait"
    assert compare("bash", "-c", script) == []


def test_dd(compare: Run) -> None:
    script = """
        dd if=/dev/zero of=a bs=64k count=10 oflag=direct; dd if=a of=b bs=4k skip=3 seek=5 conv=notrunc,fsync
        dd if=a of=b bs=10k count=3 oflag=append conv=notrunc; truncate -s 5000 b; fallocate -l 10000 c; sync b
    """
    assert compare("bash", "-c", script) == []


def test_sort_with_temporary_files(compare: Run) -> None:
    (compare.directory / "a").write_text("".join(f"{i * 7919 % 100_003}\n" for i in range(100_000)))
    assert compare("sort", "-n", "-S", "64k", "-T", ".", "-o", "b", "a", "--parallel=1") == []


def test_find_and_perl(compare: Run) -> None:
    for i in range(20):
        (compare.directory / f"d{i}").mkdir()
        (compare.directory / f"d{i}" / "file").write_text("x" * i)
    script = """find . -type f -size -10 -exec cat {} + > all
        perl -e 'open(F, "+<", "all"); seek(F, 3, 0); read(F, $x, 10); seek(F, 0, 2); print F "end\\n"; close F;
                 open(G, ">>", "all"); syswrite(G, "raw", 3); close G; unlink("d3/file"); rename("all", "some")'"""
    assert compare("bash", "-c", script) == []


def test_git(compare: Run) -> None:
    script = """git init -q . && echo text > a && git add a && git -c user.name=n -c user.email=e commit -qm one &&
        git status > /dev/null && git gc -q"""
    assert compare("bash", "-c", script) == []


def test_compiling(compare: Run) -> None:
    (compare.directory / "a.c").write_text('#include <stdio.h>\nint main(void) { return puts("x") < 0; }\n')
    assert compare("gcc", "-O1", "-o", "a", "a.c", inside=[INSIDE_REALPATH]) == []


PYTHON = """
import csv, mmap, os, pathlib, shutil, sqlite3, subprocess, sys, multiprocessing
def work(i):
    with open(f"part{i}", "w") as f: f.write("p" * 10000 * i)
def main():
    for mode in ("w", "a", "r", "r+", "w+", "a+", "wb", "rb", "ab+"):
        with open("modes", mode) as f:
            data = b"bytes" if "b" in mode else "text"
            if f.writable(): f.write(data)
            if f.readable(): f.seek(0); f.read()
    with open("raw", "wb", buffering=0) as f:
        f.write(b"x" * 1000); f.seek(10); f.write(b"y"); f.truncate(500); os.fsync(f.fileno())
    fd = os.open("raw", os.O_RDWR)
    os.pwrite(fd, b"abc", 100); os.pread(fd, 50, 20); os.preadv(fd, [bytearray(5), bytearray(6)], 3)
    os.pwritev(fd, [b"12", b"345"], 7); os.writev(fd, [b"6", b"78"]); os.readv(fd, [bytearray(3)])
    os.pwritev(fd, [b"flagged"], 50, 0); os.posix_fadvise(fd, 0, 10, os.POSIX_FADV_DONTNEED)
    os.posix_fallocate(fd, 0, 5000); os.lockf(fd, os.F_LOCK, 10); os.lockf(fd, os.F_ULOCK, 10)
    other = os.open("copied", os.O_RDWR | os.O_CREAT)
    os.sendfile(other, fd, 0, 300); os.copy_file_range(fd, other, 200); os.lseek(other, 0, os.SEEK_SET)
    with mmap.mmap(fd, 4096) as m: m[0:5] = b"mmap!"; m.flush()
    for d in (fd, other): os.close(d)
    pathlib.Path("tree/deep").mkdir(parents=True); pathlib.Path("tree/deep/file").write_text("t")
    shutil.copytree("tree", "tree2"); shutil.copy2("raw", "raw2"); shutil.move("raw2", "raw3"); shutil.rmtree("tree")
    list(os.scandir(".")); list(os.walk("."))
    with open("t.csv", "w", newline="") as f: csv.writer(f).writerows([[i, i * i] for i in range(5000)])
    db = sqlite3.connect("t.db"); db.execute("create table t(a)")
    db.executemany("insert into t values (?)", [(i,) for i in range(3000)]); db.commit(); db.close()
    subprocess.run(["sh", "-c", "echo child >> modes"], check=True)
    subprocess.run("cat modes > modes2", shell=True, check=True)
if __name__ == "__main__":
    main()
    for how in sys.argv[1:]:
        with multiprocessing.get_context(how).Pool(2) as pool: pool.map(work, range(3))
"""


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_python(compare: Run, how: str) -> None:
    (compare.directory / "program.py").write_text(PYTHON)
    assert compare("/usr/bin/python3", "program.py", how) == []


def test_sqlite(compare: Run) -> None:
    script = """sqlite3 t.db 'pragma journal_mode=wal; create table t(a,b);
        insert into t values(1,2),(3,4); select * from t;'
        sqlite3 t.db 'vacuum; delete from t;'"""
    assert compare("bash", "-c", script) == []


@pytest.mark.parametrize("engine", ["psync", "pvsync", "sync", "pvsync2", "vsync"])
def test_fio(compare: Run, engine: str) -> None:
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    command = f"fio --name=j --ioengine={engine} --rw=randrw --bs=4k --size=512k --filename=data --thread --numjobs=2"
    # What it loads looks at its own directory, inside the C library.
    found = compare(*command.split(), "--output=/dev/null")
    assert [line for line in found if not line.startswith(f"{compare.directory} ")] == []
