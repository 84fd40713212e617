"""What programs seldom do, recorded: each thing alone, and exactly what becomes of it."""

import ctypes
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from recorded_program import Run, compiled, recorded

JUMPS = "calls that a jump left"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    made = (tmp_path / "files").resolve()
    made.mkdir()
    return made


def run_recorded(source: str, directory: Path, *words: Any, options: tuple[str, ...] = (), **more: Any) -> Run:
    program = compiled(source, directory.parent, *options)
    return recorded([program, directory, *words], directory.parent / "run", **more)


def test_a_library_that_writes_when_it_is_loaded(directory: Path) -> None:
    library = compiled("constructor.c", directory.parent, "-DLIBRARY", "-shared", "-fPIC")
    run = run_recorded("constructor.c", directory, library)
    assert run.code == 0, run.complaints
    assert (run.moved(directory / "loaded", "write"), run.moved(directory / "between", "write")) == (40, 3)
    # The last time when the process ends: before or after the recorder's own end.
    assert (directory / "unloaded").stat().st_size == run.moved(directory / "unloaded", "write") == 20
    assert {c["parent"] for c in run.calls} == {None}


def test_users_that_change_under_threads(directory: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to leave it")
    run = run_recorded("changing_user.c", directory, 20_000, buffer="1 MiB")
    assert run.code == 0, run.complaints
    assert int(run.output) >= 20
    writes = [c["offset"] for c in run.calls_on(directory / "file") if c["call"] == "pwrite"]
    assert sorted(writes) == list(range(0, 800_010, 10))
    assert sum(c["call"] == "fstat" for c in run.calls_on(directory / "file")) == 800
    assert not run.absences()
    assert [row["ended"] for row in run.rows("processes")] == ["exit"]


def test_mappings_that_move(directory: Path) -> None:
    run = run_recorded("remapped.c", directory)
    assert run.code == 0, run.complaints
    calls = [(c["call"], c["bytes"], bool(c["error"])) for c in run.calls_on(directory / "mapped")]
    page = 4096
    assert calls[2:] == [
        ("mmap", page, False),
        ("mremap", 10 * page, True),
        ("mremap", 10 * page, False),
        ("msync", page, False),
        ("mremap", 20 * page, False),
        ("msync", 20 * page, False),
        ("munmap", 20 * page, False),
    ]
    assert sum(c["call"] == "mremap" for c in run.calls) == 3  # that of memory is none of a file


def test_a_malloc_in_a_mapped_file(directory: Path) -> None:
    run = run_recorded("mapped_malloc.c", directory, extra={"PLACE": str(directory)})
    assert run.code == 0, run.complaints
    heap = Counter(c["call"] for c in run.calls_on(directory / "heap"))
    assert heap["open"] == 1
    assert heap["ftruncate"] == heap["mmap"] > 5
    assert run.absences() == {"stores into mapped files": heap["mmap"]}
    assert run.moved(directory / "lines", "write") == (directory / "lines").stat().st_size == 300 * 70


def test_a_daemon(directory: Path) -> None:
    """Its work is recorded although all who started it are gone, with their descriptors."""
    adopts, adopted = 36, ctypes.CDLL(None).prctl  # PR_SET_CHILD_SUBREAPER
    if adopted(adopts, 1, 0, 0, 0) != 0:
        pytest.skip("this kernel lets nobody adopt processes")
    try:
        run = run_recorded("daemon.c", directory)
        assert run.code == 0, run.complaints
        # Nobody else waits for it; it writes its id before it ends.
        daemon, status = os.waitpid(-1, 0)
    finally:
        adopted(adopts, 0, 0, 0, 0)
    assert status == 0
    assert int((directory / "pid").read_text()) == daemon
    assert run.moved(directory / "before", "write") == 100
    assert run.moved(directory / "work", "write") == 10_000
    assert run.moved(directory / "relative", "write") == 100
    processes = {row["process"]: row for row in run.rows("processes")}
    assert {processes[c["process"]]["pid"] for c in run.calls_on(directory / "work")} == {daemon}
    assert {row["ended"] for row in processes.values()} == {"exit"}


def test_threads_that_are_cancelled_in_calls(directory: Path) -> None:
    run = run_recorded("cancelled.c", directory)
    assert run.code == 0, run.complaints
    for name in ("clean_up", "at_end"):
        writes = [c for c in run.calls_on(directory / name) if c["call"] == "write"]
        assert len(writes) == 10
        assert {c["parent"] for c in writes} == {None}
    # A call that never returned did nothing, and is not recorded: of the locks there is the holder's alone.
    assert sum(c["kind"] == "lock" for c in run.calls_on(directory / "locked")) == 1
    assert run.moved(directory / "locked", "write") == 1


@pytest.mark.parametrize(("way", "left"), [("read", 20), ("write", 20), ("lock", 20)])
def test_jumps_out_of_calls(directory: Path, way: str, left: int) -> None:
    run = run_recorded("jump.c", directory, way)
    assert run.code == 0, run.complaints
    writes = [c for c in run.calls_on(directory / "after") if c["kind"] == "write"]
    assert len(writes) == 20
    assert {c["parent"] for c in writes} == {None}
    assert run.absences()[JUMPS] == left


def test_calls_made_by_a_handler_are_not_made_by_what_it_interrupted(directory: Path) -> None:
    run = run_recorded("signals.c", directory, 200)
    assert run.code == 0, run.complaints
    ticks = [c for c in run.calls_on(directory / "log") if c["kind"] == "write"]
    assert ticks
    assert {c["parent"] for c in ticks} == {None}


@pytest.mark.parametrize("way", ["library", "syscall", "instruction"])
def test_rings(directory: Path, way: str) -> None:
    """Those that nobody was asked for are noticed while they are open."""
    if not Path("/usr/include/liburing.h").exists():
        pytest.skip("liburing-dev is not installed")
    program = compiled("rings.c", directory.parent, "-luring")
    run = recorded([program, way], directory.parent / "run")
    if run.code == 77:
        pytest.skip("this kernel allows no rings")
    assert run.code == 0, run.complaints
    assert run.absences() == {"io_uring": 1 if way == "instruction" else 2}


def test_queues_of_libaio(directory: Path) -> None:
    if not Path("/usr/include/libaio.h").exists():
        pytest.skip("libaio-dev is not installed")
    run = run_recorded("queue.c", directory, options=("-laio",))
    if run.code == 77:
        pytest.skip("this kernel allows no queues")
    assert run.code == 0, run.complaints
    assert run.absences() == {"requests of io_submit": 30}
    assert run.moved(directory / "file", "write") == 0


def test_ends_by_system_calls(directory: Path) -> None:
    run = run_recorded("raw_ends.c", directory)
    assert run.code == 0, run.complaints
    ended = {row["process"]: row["ended"] for row in run.rows("processes")}
    how = {name: ended[run.calls_on(directory / name)[0]["process"]] for name in ("ended", "became", "lost", "after")}
    assert how == {"ended": "exit", "became": "exec", "lost": "exec", "after": "exit"}
    # Of the two that became this program again, one was told in its environment to record.
    assert run.moved(directory / "again", "write") == 10
    assert run.absences() == {"programs started with syscall(2)": 1}


def test_an_environment_that_is_dropped(directory: Path) -> None:
    """The C library's functions start programs with what records them, in whatever environment."""
    script = f"""
import os, subprocess
os.environ.clear()
subprocess.run(["/bin/sh", "-c", "echo run > {directory}/run"], env={{}})
subprocess.run(["/usr/bin/env", "-i", "/bin/sh", "-c", "echo again > {directory}/again"])
if os.fork() == 0:
    os.execve("/bin/sh", ["sh", "-c", "echo fork > {directory}/fork; env > {directory}/env"], {{"A": "b"}})
os.wait()
"""
    run = recorded(["/usr/bin/python3", "-c", script], directory.parent / "run")
    assert run.code == 0, run.complaints
    for path in directory.iterdir():
        assert run.moved(path, "write") == path.stat().st_size, path.name
    assert "A=b\n" in (directory / "env").read_text()


def test_functions_found_in_a_handle(directory: Path) -> None:
    """dlsym in a handle of the C library finds the C library's functions; in the program, the recorded ones."""
    script = f"""
import ctypes, os
fd = os.open("{directory}/file", os.O_WRONLY | os.O_CREAT)
assert ctypes.CDLL("libc.so.6").write(fd, b"unseen", 6) == 6
assert ctypes.CDLL(None).write(fd, b"seen", 4) == 4
"""
    run = recorded(["/usr/bin/python3", "-c", script], directory.parent / "run")
    assert run.code == 0, run.complaints
    assert run.moved(directory / "file", "write") == 4


def test_what_the_c_library_does_inside_itself(directory: Path) -> None:
    (directory / "directory").mkdir()
    (directory / "directory" / "file").write_text("x")
    (directory / "link").symlink_to("directory")
    run = run_recorded("inside.c", directory)
    assert run.code == 0, run.complaints
    seen = Counter((c["level"], c["call"], c["path"].removeprefix(f"{directory.parent}/")) for c in run.calls)
    file, folder = "files/directory/file", "files/directory"
    assert seen.pop(("posix", "readdir", folder)) >= 4
    assert seen == {
        ("posix", "chdir", "files"): 1,
        ("stdio", "fopen", file): 1,
        ("stdio", "fgetc", file): 1,
        ("posix", "stdio read", file): 1,
        ("stdio", "fclose", file): 1,
        ("posix", "opendir", folder): 1,
        ("posix", "closedir", folder): 1,
    }


def written_program(directory: Path, text: str) -> Path:
    source = directory.parent / "program.c"
    source.write_text(text)
    return compiled(str(source), directory.parent)


def recorded_under_strace(command: list[Any], directory: Path, *traced: str) -> tuple[Run, list[str]]:
    """The run, and strace's lines of the system calls `traced`: the recorder's own among them."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    log = directory.parent / "log"
    run = recorded(
        ["strace", "-f", "-y", "-e", f"trace={','.join(traced)}", "-o", log, *command], directory.parent / "run"
    )
    assert run.code == 0, run.complaints
    return run, log.read_text().splitlines()


@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("fclose", "fclose(file)"),
        ("fseek", "fseek(file, 0, SEEK_SET)"),
        ("rewind", "rewind(file)"),
        ("setvbuf", "setvbuf(file, NULL, _IONBF, 0)"),
    ],
)
def test_writes_before_a_call_on_a_wide_stream_take_their_time(directory: Path, function: str, call: str) -> None:
    program = written_program(
        directory,
        f"""
        #include <stdio.h>
        #include <unistd.h>
        #include <wchar.h>
        int main(int count, char** words) {{
            FILE* file = fopen(words[1], "w");
            fputws(L"waiting", file);
            {call};
            _exit(0);
        }}""",
    )
    path = directory / "data"
    run = recorded([program, path], directory.parent / "run")
    assert run.code == 0, run.complaints
    (write,) = [c for c in run.calls_on(path) if c["call"] == "stdio write"]
    (cause,) = [c for c in run.calls_on(path) if c["call"] == function]
    assert (write["moved"], write["offset"]) == (7, 0)
    assert write["duration_ns"] > 0
    assert write["start_ns"] + write["duration_ns"] <= cause["start_ns"]


def test_the_end_of_an_appended_file_is_asked_for_once_for_each_wide_write(directory: Path) -> None:
    program = written_program(
        directory,
        """
        #include <stdio.h>
        #include <wchar.h>
        int main(int count, char** words) {
            FILE* file = fopen(words[1], "a");
            for (int i = 0; i < 1000; ++i) fputws(L"x", file);
            return fclose(file);
        }""",
    )
    path = directory / "data"
    run, lines = recorded_under_strace([program, path], directory, "fstat", "newfstatat")
    assert run.moved(path, "write") == 1000
    asked = sum(f"<{path}>" in line for line in lines)
    assert 1000 <= asked < 1020, asked


def test_the_name_of_the_program_is_asked_for_once_in_each_process(directory: Path) -> None:
    program = written_program(
        directory,
        """
        #include <fcntl.h>
        #include <sys/mman.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(int count, char** words) {
            int file = open(words[1], O_RDWR | O_CREAT, 0600);
            ftruncate(file, 4096);
            for (int process = 0; process < 2; ++process) {
                for (int i = 0; i < 100; ++i) mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, file, 0);
                if (process == 0 && fork() != 0) break;
            }
            wait(NULL);
        }""",
    )
    run, lines = recorded_under_strace([program, directory / "data"], directory, "readlinkat", "mmap")
    assert run.absences()["stores into mapped files"] == 200
    mapping = {line.split()[0] for line in lines if f"<{directory / 'data'}>" in line}
    asked = [line.split()[0] for line in lines if '"/proc/self/exe"' in line]
    # Once by the trace, which begins with that name.
    assert sorted(asked.count(process) for process in mapping) == [2, 2]


def test_fio_through_io_uring_and_libaio_is_told(directory: Path) -> None:
    """Programs as they are distributed: fio makes the system calls itself, or links libaio."""
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    command = "fio --name=j --rw=write --bs=4k --size=64k --filename=data --thread --output=/dev/null --ioengine="
    expected = {"io_uring": "io_uring", "libaio": "requests of io_submit"}
    for engine, subject in expected.items():
        place = directory.parent / engine
        if subprocess.run([*f"{command}{engine}".split()], cwd=directory, check=False).returncode != 0:
            pytest.skip(f"fio cannot use {engine} here")
        run = recorded(f"{command}{engine}".split(), place, cwd=directory)
        assert run.code == 0, run.complaints
        told = run.absences()
        assert told[subject] == {"io_uring": 1, "libaio": 16}[engine], told
        assert run.moved(directory / "data", "write") == 0


@pytest.mark.parametrize("how", [[], ["by number"]])
def test_working_directories_that_change_under_threads(directory: Path, how: list[str]) -> None:
    """A relative name is that of the directory of its time, whatever another thread is about to look up."""
    for name in ("first", "second"):
        (directory / name).mkdir()
        (directory / name / f"of_{name}").touch()
    run = run_recorded("changing_directory.c", directory, 600, *how)
    assert run.code == 0, run.complaints
    asked = Counter(c["path"] for c in run.calls if c["call"] == "access" and Path(c["path"]).name.startswith("of_"))
    assert asked == {f"{directory}/{name}/of_{name}": 300 for name in ("first", "second")}


@pytest.mark.parametrize("jumps", [1000, pytest.param(3000, marks=pytest.mark.full)])
@pytest.mark.parametrize("coder", ["coder", "no coder"])
def test_jumps_out_of_the_recorder_itself(directory: Path, coder: str, jumps: int) -> None:
    """Whatever of ours they leave, nothing of it stays locked or half written."""
    program: list[Any] = [compiled("jumps_anywhere.c", directory.parent), directory, jumps]
    if coder == "no coder":
        program.insert(0, compiled("no_more_threads.c", directory.parent))
    run = recorded(program, directory.parent / "run", buffer="1 MiB")
    assert run.code == 0, run.complaints
    written = int(run.output)
    writes = sum(c["call"] == "write" and c["moved"] == 1 for c in run.calls)
    told = run.absences()
    # A write that was left may have been made, and is not known to the program either.
    assert writes <= written + jumps
    assert writes + told["calls of signal handlers, or between vfork and exec"] + told["calls"] >= written, told
    assert told["calls"] < jumps / 30, told  # a jump in the very moment at which a slot is taken
