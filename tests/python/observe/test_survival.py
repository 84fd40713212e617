"""Applications do what they do under recording as they do without, however they treat threads, processes, signals,
descriptors and memory; and what they did is recorded, or told to be missing."""

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from recorded_program import Run, compiled, recorded
from small_disk import small_disk

from halcyon.errors import ConfigError
from halcyon.layers.preload import find_library
from halcyon.observe.pack import pack

HANDLERS = "calls of signal handlers, or between vfork and exec"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    made = (tmp_path / "files").resolve()
    made.mkdir()
    return made


def run_recorded(source: str, directory: Path, *words: Any, **options: Any) -> Run:
    program = compiled(source, directory.parent)
    return recorded([program, directory, *words], directory.parent / "run", **options)


def test_threads_by_the_thousand(directory: Path) -> None:
    run = run_recorded("threads.c", directory, 2000, 20, buffer="1 MiB")
    assert run.code == 0, run.complaints
    writes = [c for c in run.calls if c["call"] == "pwrite"]
    assert sorted(c["offset"] for c in writes) == list(range(0, 40_000 * 64, 64))
    assert len({c["thread"] for c in writes}) == 2000
    assert [row["ended"] for row in run.rows("processes")] == ["exit"]


def test_least_buffer_and_no_thread_to_be_had(directory: Path) -> None:
    """Without a thread that codes, the application's own do."""
    program = compiled("threads.c", directory.parent)
    filtered = compiled("no_more_threads.c", directory.parent)
    run = recorded([filtered, program, directory, 50, 800], directory.parent / "run", buffer="1 MiB")
    assert run.code == 0, run.complaints
    assert sum(c["call"] == "pwrite" for c in run.calls) == 40_000


def test_handlers_that_do_io(directory: Path) -> None:
    run = run_recorded("signals.c", directory, 800)
    assert run.code == 0, run.complaints
    written, handled = map(int, run.output.split())
    assert (directory / "log").stat().st_size == 5 * handled
    told = run.absences()[HANDLERS]
    data = [c for c in run.calls_on(directory / "data") if c["kind"] == "write"]
    ticks = [c for c in run.calls_on(directory / "log") if c["kind"] == "write"]
    # Nothing of the interrupted code is missing, and what is of the handler's is counted.
    assert len(data) == written
    assert len(ticks) + told >= handled
    assert len(ticks) <= handled
    numbers = [c["number"] for c in run.calls]
    assert len(set(numbers)) == len(numbers)


def test_cancelled_while_holding_a_stream(directory: Path) -> None:
    run = run_recorded("cancel.c", directory)
    assert run.code == 0, run.complaints


def test_children_of_every_make(directory: Path) -> None:
    run = run_recorded("processes.c", directory)
    assert run.code == 0, run.complaints
    children = ["forked", "twice", "raw_fork", "raw_clone", "vforked", "env_i", "cleared", "after_exec"]
    for name in children:
        assert run.moved(directory / name, "write") == 1000, name
    assert run.moved(directory / "parent", "write") == 2000
    processes = {row["process"]: row for row in run.rows("processes")}
    writers = {run.calls_on(directory / name)[0]["process"] for name in children[:-1]}
    assert len(writers) == 7
    assert "killed" not in {row["ended"] for row in processes.values()}
    failed = [c["path"] for c in run.calls if c["call"] == "exec" and c["error"]]
    assert failed == ["/nowhere/program", str(directory)]


@pytest.mark.parametrize(
    "way", ["loop", "all", "range", "range_of_all", "from", "raw", "raw_range", "over", "raw_over"]
)
def test_all_descriptors_closed(directory: Path, way: str) -> None:
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))

    run = run_recorded("descriptors.c", directory, way, buffer="1 MiB", preexec_fn=limit)
    assert run.code == 0, run.complaints
    assert (directory / "file").read_bytes() == b"0123456789" * 5001
    assert (directory / "before").read_bytes() == b"before"
    opened = [c for c in run.calls_on(directory / "file") if c["call"] == "open"]
    assert len(opened) == 5001
    assert run.moved(directory / "file", "write") == 50_010


def test_own_malloc(directory: Path) -> None:
    run = run_recorded("own_malloc.c", directory)
    assert run.code == 0, run.complaints
    size = (directory / "log").stat().st_size
    assert size >= 30000 * 7
    assert run.moved(directory / "log", "write") == size


def test_jemalloc(directory: Path) -> None:
    library = Path("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2")
    if not library.exists():
        pytest.skip("libjemalloc2 is not installed")
    program = compiled("threads.c", directory.parent)
    run = recorded(
        ["env", f"LD_PRELOAD={os.environ.get('LD_PRELOAD', '')}:{library}", program, directory, 100, 20],
        directory.parent / "run",
    )
    assert run.code == 0, run.complaints
    assert sum(c["call"] == "pwrite" for c in run.calls) == 2000


@pytest.mark.parametrize("sanitizer", ["address", "thread", "undefined"])
def test_programs_built_with_a_sanitizer(directory: Path, sanitizer: str) -> None:
    """Their runtimes make calls before the process has an environment that says what to record."""
    runtime = f"lib{'ub' if sanitizer == 'undefined' else sanitizer[0]}san.so"
    found = subprocess.run(["gcc", f"-print-file-name={runtime}"], capture_output=True, text=True, check=True).stdout
    if found.strip() == runtime:
        pytest.skip(f"gcc has no {sanitizer} sanitizer here")
    program = compiled("few_writes.c", directory.parent, f"-fsanitize={sanitizer}")
    run = recorded([program, directory / "file"], directory.parent / "run")
    assert run.code == 0, run.complaints
    assert run.moved(directory / "file", "write") == 10


@pytest.mark.parametrize("attempt", range(5))
def test_killed(directory: Path, attempt: int) -> None:
    """All calls that had returned are there; one more may be."""
    run = run_recorded("until_killed.c", directory, buffer="1 MiB", kill=True)
    assert run.code == -9
    returned = struct.unpack("q", (directory / "done").read_bytes()[:8])[0]
    assert returned > 5000
    writes = [c for c in run.calls if c["call"] == "pwrite"]
    assert len(writes) in (returned, returned + 1)
    assert sorted(c["offset"] for c in writes) == sorted(i % 1000 * 8 for i in range(len(writes)))
    assert [row["ended"] for row in run.rows("processes")] == ["killed"]
    assert "what was under way when a process was killed" in run.absences()


def test_streams_of_cpp(directory: Path) -> None:
    program = compiled("appending.cpp", directory.parent, compiler="g++")
    run = recorded([program, directory], directory.parent / "run")
    assert run.code == 0, run.complaints
    for path in directory.iterdir():
        assert run.moved(path, "write") == path.stat().st_size, path
    assert (directory / "ends").read_text() == "thread\nend of thread\n" * 20
    assert any(c["error"] == 2 and c["path"].endswith("/none/none") for c in run.calls)


def test_files_of_fortran(directory: Path) -> None:
    if shutil.which("gfortran") is None:
        pytest.skip("gfortran is not installed")
    program = compiled("forms.f90", directory.parent, compiler="gfortran")
    run = recorded([program], directory.parent / "run", cwd=directory)
    assert run.code == 0, run.complaints
    for path in directory.iterdir():
        ends = [c["offset"] + c["moved"] for c in run.calls_on(path) if c["kind"] == "write" and c["moved"]]
        assert max(ends) == path.stat().st_size, path
    assert run.moved(directory / "direct", "write") == 80_000


@pytest.mark.parametrize("count", [300, pytest.param(1000, marks=pytest.mark.full)])
def test_many_short_processes(directory: Path, count: int) -> None:
    run = recorded(
        ["bash", "-c", f"for i in $(seq {count}); do (echo $i > {directory}/f$i); done"], directory.parent / "run"
    )
    assert run.code == 0, run.complaints
    numbers = range(1, count + 1)
    assert sum(run.moved(directory / f"f{i}", "write") for i in numbers) == sum(len(f"{i}\n") for i in numbers)
    assert len(run.rows("processes")) == count + 3  # the shells, and seq


def _static_program(folder: Path) -> Path:
    program, source = folder / "fixed", folder / "fixed.c"
    source.write_text("int main(void) { return 0; }")
    subprocess.run(["gcc", "-static", str(source), "-o", str(program)], check=True)
    return program


def test_programs_that_cannot_be_recorded_are_told(directory: Path) -> None:
    program = _static_program(directory.parent)
    run = recorded(["bash", "-c", f"{program}; cd {directory}; ../fixed; exec {program}"], directory.parent / "run")
    assert run.code == 0, run.complaints
    assert run.absences()[f"a static program: {program}"] == 2
    assert run.absences()["a static program: ../fixed"] == 1


def test_a_static_program_that_records_itself_is_no_absence(directory: Path) -> None:
    unseen, source = _static_program(directory.parent), directory.parent / "fixed.c"
    halcyon_cc = find_library().parents[1] / "bin" / "halcyon-cc"
    seen = directory.parent / "seen"
    subprocess.run([halcyon_cc, "-static", str(source), "-o", str(seen)], check=True)
    run = recorded(["bash", "-c", f"{seen}; {unseen}; exec {seen}"], directory.parent / "run")
    assert run.code == 0, run.complaints
    assert dict(run.absences()) == {"a static program": 1, f"a static program: {unseen}": 1}


@pytest.mark.parametrize("options", [[], ["-Wl,--gc-sections"]])
def test_readelf_shows_the_note_of_a_static_program_that_records_itself(directory: Path, options: list[str]) -> None:
    _, source = _static_program(directory.parent), directory.parent / "fixed.c"
    halcyon_cc = find_library().parents[1] / "bin" / "halcyon-cc"
    program = directory.parent / "seen"
    subprocess.run([halcyon_cc, "-static", *options, str(source), "-o", str(program)], check=True)
    shown = subprocess.run(["readelf", "-n", str(program)], capture_output=True, text=True, check=True)
    assert "Halcyon" in shown.stdout
    assert shown.stderr == ""


def test_static_programs_started_in_the_parents_memory_are_told(directory: Path) -> None:
    """Python's subprocess uses vfork, gcc and make posix_spawn."""
    program = _static_program(directory.parent)
    script = f"""
import os, subprocess
subprocess.run(["{program}"], close_fds=True)
os.posix_spawn("{program}", ["x"], {{}})
os.wait()
"""
    run = recorded(["/usr/bin/python3", "-c", script], directory.parent / "run")
    assert run.code == 0, run.complaints
    assert run.absences()[f"a static program: {program}"] == 2


@pytest.mark.parametrize("way", ["setuid", "capabilities"])
def test_programs_that_change_their_user_are_told(directory: Path, way: str) -> None:
    if os.geteuid() != 0 or shutil.which("runuser") is None:
        pytest.skip("needs root, to become another user")
    program = directory.parent / "privileged"
    shutil.copy("/bin/true", program)
    program.chmod(0o4755 if way == "setuid" else 0o755)
    if way == "capabilities":
        # VFS_CAP_REVISION_2, permitted and effective: CAP_NET_BIND_SERVICE.
        os.setxattr(program, "security.capability", struct.pack("<5I", 0x02000001, 1 << 10, 0, 0, 0))
    for folder in [directory.parent, *list(directory.parent.parents)[:3]]:
        folder.chmod(0o755)
    # Nobody may not be let into the folder of the build.
    library = shutil.copy(find_library(), directory.parent)
    place = directory.parent / "run"
    command = ["bash", "-c", f"chmod 777 {place}/trace; runuser -u nobody -- sh -c '{program}; true'"]
    run = recorded(command, place, extra={"LD_PRELOAD": str(library)})
    assert run.code == 0, run.complaints
    assert run.absences()[f"a program that changes its user: {program}"] == 1


def test_programs_of_another_architecture_are_told(directory: Path) -> None:
    """Whether this kernel can run them or not."""
    program = directory.parent / "foreign"
    i386 = 3
    header = struct.pack(
        "<4s5B7xHHIIIIIHHHHHH", b"\x7fELF", 1, 1, 1, 0, 0, 2, i386, 1, 0, 52, 0, 0, 52, 32, 0, 40, 0, 0
    )
    program.write_bytes(header)
    program.chmod(0o755)
    run = recorded(["bash", "-c", f"{program}; true"], directory.parent / "run")
    assert run.code == 0, run.complaints
    assert run.absences()[f"a program of another architecture: {program}"] == 1


def test_what_syscall_hides_is_counted(directory: Path) -> None:
    run = run_recorded("hidden.c", directory)
    assert run.code == 0, run.complaints
    absences = run.absences()
    assert absences["calls made with syscall(2)"] == 30 + 1 + 2
    assert [c["offset"] for c in run.calls if c["call"] == "write"] == [0, 7]
    assert absences["io_uring"] in (0, 1)  # some kernels forbid it, the call is made all the same
    assert absences["stores into mapped files"] == 1
    synced = [c["path"] for c in run.calls if c["call"] == "msync"]
    assert synced == [str(directory / "mapped")]


def test_names_of_every_kind(directory: Path) -> None:
    long = "/".join(["d" * 200] * 15)
    names = ["with\nnewline", "with \\backslash", "ünïcode", "space at end ", "a (deleted)"]
    raw = [name.encode() for name in names] + [b"not \xff utf-8", long.encode() + b"/file"]
    for name in raw:
        path = directory / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"12345")
    run = recorded(["cp", "-r", str(directory), str(directory.parent / "copy")], directory.parent / "run")
    assert run.code == 0, run.complaints
    read = {c["path"] for c in run.calls if c["kind"] in ("read", "copy", "write") and c["moved"] == 5}
    for name in raw:
        shown = f"{directory.parent / 'copy'}/" + name.decode("utf-8", "backslashreplace")
        assert shown in read, name


def test_inherited_descriptors_keep_their_offsets(directory: Path) -> None:
    script = f"exec 5<>{directory}/a; echo one >&5; echo two >&5; sh -c 'echo three >&5'; /bin/echo four >&5; cat <&5"
    run = recorded(["bash", "-c", script], directory.parent / "run")
    assert run.code == 0, run.complaints
    writes = [(c["offset"], c["moved"]) for c in run.calls_on(directory / "a") if c["kind"] == "write" and c["moved"]]
    assert sorted(writes) == [(0, 4), (4, 4), (8, 6), (14, 5)]


def test_full_disk(directory: Path) -> None:
    """Recording stops, is counted and told; the application is not concerned."""
    program = compiled("threads.c", directory.parent)
    with small_disk(directory.parent / "small", "900k") as small:
        run = recorded([program, directory, 50, 6000], small / "run", buffer="1 MiB")
        assert run.code == 0, run.complaints
        assert "recording stopped: No space left on device" in run.complaints
        run.folder.joinpath("x").touch()
        there = sum(c["call"] == "pwrite" for c in _packed_elsewhere(run, directory.parent / "packed"))
        lost = run.absences()["calls"]
        assert 0 < there < 300_000
        # A call that another thread is making when the process ends may be neither.
        assert there + lost == pytest.approx(300_000, abs=100)


def test_processes_that_find_a_full_disk_are_counted(directory: Path) -> None:
    with small_disk(directory.parent / "small", "8m") as small:
        fill = "head -c 9m /dev/zero >$0 2>/dev/null; (cat /dev/null); (cat /dev/null)"
        run = recorded(["sh", "-c", fill, small / "filling"], small / "run", buffer="1 MiB")
        assert run.code == 0, run.complaints
        unrecorded = run.complaints.count("cannot record here: No space left on device")
        assert unrecorded >= 2
        packed = directory.parent / "packed"
        _packed_elsewhere(run, packed)
        assert run.absences()["processes that could not be recorded"] == unrecorded


def test_where_all_processes_find_a_full_disk_they_are_told_of(directory: Path) -> None:
    with small_disk(directory.parent / "small", "64k") as small:
        words = [sys.executable, "-m", "halcyon", "run", "--trace", "-o", str(small / "run"), "--", "cat", "/dev/null"]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "no process was recorded: 1 process could not be recorded, and said why" in done.stderr
        with pytest.raises(ConfigError, match="nothing was recorded: 1 process could not be recorded"):
            pack(small / "run", directory.parent / "packed")


def _packed_elsewhere(run: Run, target: Path) -> list[dict[str, Any]]:
    from halcyon.observe.dataset import Dataset

    pack(run.folder, target)
    run.__dict__["data"] = Dataset.open(target)
    return run.calls


def test_no_place_to_record(directory: Path) -> None:
    program = compiled("threads.c", directory.parent)
    place = directory.parent / "run"
    result = subprocess.run(
        [program, str(directory), "50", "10"],
        env={**os.environ, **_variables(place / "missing")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0
    assert result.stderr == f"halcyon: {place / 'missing'}: cannot record here: No such file or directory\n"


def _variables(place: Path) -> dict[str, str]:
    from halcyon.layers.preload import variables

    return variables(["trace"], place, None)


def test_another_root_and_another_user(directory: Path) -> None:
    """What was begun goes on; a child that cannot create its trace says so."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to leave it")
    run = run_recorded("leaving.c", directory)
    if run.code == 77:
        pytest.skip(f"not permitted here: {run.complaints}")
    assert run.code == 0, run.complaints
    assert run.moved(directory / "file", "write") == 40_000
    assert run.complaints.count("cannot record here: No such file or directory") == 1
    assert [row["ended"] for row in run.rows("processes")] == ["exit"]


def test_old_versions_keep_their_behaviour(directory: Path) -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("only x86-64 has them")
    script = directory / "script"
    script.write_text("echo ran > ran\n")
    script.chmod(0o755)
    run = run_recorded("old_spawn.c", directory, cwd=directory)
    assert run.code == 0, run.complaints
    assert (directory / "ran").read_text() == "ran\n"


@pytest.mark.parametrize("end", ["exit", "_exit", "abort", "terminated", "held"])
def test_ends_of_processes(directory: Path, end: str) -> None:
    """Also by a handler that interrupts recording, and while another thread holds standard output."""
    run = run_recorded("ends.c", directory, end)
    assert run.code == {"abort": -6, "terminated": -15}.get(end, 0), run.complaints
    assert run.moved(directory / "file", "write") == 50_000
    ended = {"abort": "abort", "terminated": "killed"}.get(end, "exit")
    assert [row["ended"] for row in run.rows("processes")] == [ended]


def test_a_thread_that_was_stopped_holds_nobody_up(directory: Path) -> None:
    """As garbage collectors do: a handler waits in one thread for another thread, which makes calls."""
    run = run_recorded("stopped.c", directory, buffer="1 MiB")
    assert run.code == 0, run.complaints
    own = sum(c["call"] == "pwrite" and c["offset"] == 1 for c in run.calls_on(directory / "file"))
    assert 1500 < own <= 3000
    assert own + run.absences()["calls"] >= 3000


@pytest.mark.parametrize("coder", ["coder", "no coder"])
def test_small_stacks(directory: Path, coder: str) -> None:
    program: list[Any] = [compiled("small_stacks.c", directory.parent), directory]
    if coder == "no coder":
        program.insert(0, compiled("no_more_threads.c", directory.parent))
    run = recorded(program, directory.parent / "run", buffer="1 MiB")
    assert run.code == 0, run.complaints
    assert run.moved(directory / "file", "write") == 80_000
    assert run.moved(directory / "other", "write") == 10_000


@pytest.mark.parametrize("at_once", [5000, 68_000])
def test_many_files_and_descriptors(directory: Path, at_once: int) -> None:
    """More than are remembered, of each."""
    import resource

    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < at_once + 100:
        pytest.skip(f"needs {at_once + 100} descriptors (ulimit -n)")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (at_once + 100, at_once + 100))

    run = run_recorded("many_files.c", directory, 70_000, at_once, preexec_fn=limit)
    assert run.code == 0, run.complaints
    writes = [c for c in run.calls if c["call"] == "write" and c["path"].startswith(f"{directory}/")]
    assert len({c["path"] for c in writes}) == 70_000
    assert {(c["offset"], c["moved"]) for c in writes} == {(0, 1)}
