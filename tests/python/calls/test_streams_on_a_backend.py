"""Streams on files that a backend answers for do what they do on a plain file: of C, C++, Fortran, Python and of
programs, in files in memory, which their processes share. Of the directory, the kernel sees nothing."""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import pytest
from calls.random_streams import SEED, compare, operations
from calls.stream_programs import (
    AS_DAEMON,
    CASES,
    CHECKS,
    CPP,
    ENDED,
    ENDING,
    FORTRAN,
    FULL,
    FULL_AT_EXIT,
    JOINED,
    PYTHON,
    PYTHON_STREAMS,
    READING,
    SHELL,
    STREAMS,
    built_in,
)
from observe.recorded_program import Run, compiled, recorded
from small_disk import small_disk

BUILD = Path(__file__).resolve().parents[3] / "build/release"
LIBRARY = BUILD / "tests/calls/libhalcyon_memory_io.so"
ARCHIVE = BUILD / "tests/calls/libhalcyon_memory_io.a"
DIRECTORY_LIBRARY = BUILD / "tests/calls/libhalcyon_directory_io.so"

pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="the library of the in-memory backend is not built")


@dataclass
class Outcome:
    """Of a program: what it said, with the directory's name taken out, and its exit status."""

    said: str
    complaints: str
    status: int


@dataclass
class Place:
    """A directory on a backend, or a plain one."""

    directory: Path
    preloaded: str = str(LIBRARY)
    variables: dict[str, str] = field(default_factory=dict)
    is_mounted: bool = True

    def run(self, script: str, *words: object, timeout: int = 300) -> Outcome:
        """By dash: programs that a recorded shell starts find the files that it has. $1: the directory."""
        self.directory.mkdir(exist_ok=True)
        environment = {**os.environ, "LC_ALL": "C", **self.variables}
        if self.is_mounted:
            environment |= {"LD_PRELOAD": self.preloaded, "HALCYON_MEMORY_MOUNT": str(self.directory)}
        done = subprocess.run(
            ["dash", "-c", script, "sh", str(self.directory), *map(str, words)],
            env=environment, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False,
        )  # fmt: skip
        said, complaints = (
            text.decode(errors="backslashreplace").replace(str(self.directory), "DIRECTORY")
            for text in (done.stdout, done.stderr)
        )
        if self.is_mounted:
            assert not list(self.directory.iterdir()), "the kernel has some of it"
        calls = self.variables.get("HALCYON_TEXT_DIR")
        assert calls is None or any(Path(calls).iterdir()), "nothing was recorded"
        return Outcome(said, complaints, done.returncode)


Places = Callable[[], tuple[Place, Place]]


@pytest.fixture(params=[False, True], ids=["plainly", "recorded"])
def places(tmp_path: Path, request: pytest.FixtureRequest) -> Places:
    """Makes a plain directory and one on a backend, whose programs are recorded or not."""
    made = 0

    def make() -> tuple[Place, Place]:
        nonlocal made
        made += 1
        variables = {}
        if request.param:
            variables["HALCYON_TEXT_DIR"] = str(tmp_path / f"calls{made}")
            (tmp_path / f"calls{made}").mkdir()
        plain = Place(tmp_path / f"plain{made}", is_mounted=False)
        return plain, Place(tmp_path / f"memory{made}", variables=variables)

    return make


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """The program of a source in tests/calls/streams, made once."""
    return built_in(tmp_path_factory.mktemp("programs"))


def same(places: tuple[Place, Place], script: str, *words: object) -> Outcome:
    """What the program says in both, which is the same."""
    expected, found = (place.run(script, *words) for place in places)
    for one, other in zip_longest(expected.said.splitlines(), found.said.splitlines()):
        assert other == one
    assert found == expected
    return expected


@pytest.mark.parametrize("case", CASES)
def test_streams_of_c(places: Places, built: Callable[..., Path], case: str) -> None:
    outcome = same(places(), 'exec "$2" "$1" "$3"', built("stream_cases.c"), case)
    assert outcome.status == 0, outcome
    assert outcome.said.endswith("by a destructor\n")


@pytest.mark.parametrize("case", CASES)
def test_streams_of_programs_with_checks(tmp_path: Path, built: Callable[..., Path], case: str) -> None:
    both = Place(tmp_path / "plain", is_mounted=False), Place(tmp_path / "memory")
    outcome = same(both, 'exec "$2" "$1" "$3"', built("stream_cases.c", *CHECKS), case)
    assert outcome.status == 0, outcome
    if case == "checked":
        assert "child -6\n" in outcome.said, "the program has no checks"


def test_what_waits_in_streams_is_written_when_the_process_ends(places: Places, built: Callable[..., Path]) -> None:
    assert same(places(), ENDING, built("stream_cases.c")).said.splitlines() == ENDED


def test_standard_input_gives_back_what_it_read_ahead(places: Places, built: Callable[..., Path]) -> None:
    outcome = same(places(), READING, built("stream_cases.c"))
    assert outcome.said.startswith("1\n2\n3\n")


def test_closing_one_of_joined_descriptors_leaves_the_other(places: Places, built: Callable[..., Path]) -> None:
    assert same(places(), JOINED, built("stream_cases.c")).said == "0 12 still there\n"


@pytest.mark.parametrize("way", [">", ">>"])
def test_a_daemon_has_left_the_files_that_it_was_started_with(
    places: Places, built: Callable[..., Path], way: str
) -> None:
    assert same(places(), AS_DAEMON.replace("WAY", way), built("stream_cases.c")).said == "5 0\nbefore\n"


@pytest.mark.parametrize(("seed", "options"), [(SEED, ()), (SEED + 1, ()), (SEED + 2, CHECKS)])
def test_random_operations_narrow_and_wide(
    places: Places, built: Callable[..., Path], seed: int, options: tuple[str, ...]
) -> None:
    program = built("random_streams.c", *options)
    script = 'exec "$2" "$1" "$3" "$4" "$5"'

    def outcomes(count: int, told_from: int) -> list[list[str]]:
        done = [place.run(script, program, seed, count, told_from, timeout=3600) for place in places()]
        assert [one.status for one in done] == [0, 0], done[1].complaints
        return [one.said.splitlines() for one in done]

    compare(outcomes, operations(40_000))


LIMITS = {"ENOSPC": "HALCYON_MEMORY_CAPACITY", "EDQUOT": "HALCYON_MEMORY_QUOTA"}


@pytest.mark.parametrize("error", LIMITS)
def test_what_finds_no_room_is_an_error_of_the_stream(tmp_path: Path, built: Callable[..., Path], error: str) -> None:
    memory = Place(tmp_path / "memory", variables={LIMITS[error]: str(1 << 20)})
    found = memory.run(FULL, built("full.c"))
    assert found.status == 0
    assert f"fflush -1 {error}\nerror 1\n" in found.said
    assert f"fclose -1 {error}\n" in found.said
    if error == "ENOSPC":
        with small_disk(tmp_path / "plain", "1m") as disk:
            assert Place(disk, is_mounted=False).run(FULL, built("full.c")).said == found.said


@pytest.mark.parametrize("is_recorded", [False, True], ids=["plainly", "recorded"])
@pytest.mark.parametrize("error", LIMITS)
def test_what_finds_no_room_at_exit_is_said(
    tmp_path: Path, built: Callable[..., Path], error: str, is_recorded: bool
) -> None:
    variables = {LIMITS[error]: str(1 << 20)}
    if is_recorded:
        (tmp_path / "calls").mkdir()
        variables["HALCYON_TEXT_DIR"] = str(tmp_path / "calls")
    memory = Place(tmp_path / "memory", variables=variables)
    why = os.strerror(getattr(errno, error))
    lost = f"bytes that a stream held when the process ended are not in DIRECTORY/file: {why}"
    found = memory.run(FULL_AT_EXIT, built("full.c"))
    assert found.said == f"status 0\n{1 << 20}\n"
    lines = found.complaints.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].endswith(lost)
    # A program that asks says it itself.
    found = memory.run('seq 1000000 >"$1/file"; echo "status $?"')
    assert found.said == "status 1\n"
    assert why in found.complaints
    if error == "EDQUOT":  # also where standard error is a file there, which has room
        found = memory.run('"$2" "$1/file" print >"$1/file" 2>"$1/errors"; cat "$1/errors"', built("full.c"))
        assert found.said.endswith(f"{lost}\n")
        assert len(found.said.splitlines()) == 1, found


def test_streams_of_cpp(places: Places, built: Callable[..., Path]) -> None:
    outcome = same(places(), CPP, built("stream_cases.cpp", "-std=c++17", compiler="g++"))
    assert outcome.complaints.endswith("status 0\nwritten by a destructor\n")


def test_units_of_fortran(places: Places, built: Callable[..., Path]) -> None:
    outcome = same(places(), FORTRAN, built("stream_cases.f90", compiler="gfortran"))
    assert outcome.said.startswith("status 0\n")
    assert "read one line T\n" in outcome.said


def test_shells_and_programs_that_write_by_streams(places: Places) -> None:
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    outcome = same(places(), SHELL, STREAMS / "shell_streams.sh")
    assert (outcome.status, outcome.complaints) == (0, "")


def test_python(places: Places) -> None:
    outcome = same(places(), PYTHON, sys.executable, PYTHON_STREAMS)
    assert outcome.said.startswith("status 0\n"), outcome.said


def test_libraries_that_call_the_c_library_past_us(tmp_path: Path, built: Callable[..., Path]) -> None:
    module = built("deep_module.c", "-shared", "-fPIC")
    script = '"$2" "$1" "$3" >"$1/out"; echo "status $?"; cat "$1/out" "$1/file"'
    memory = Place(tmp_path / "memory", variables={"DEEP_DESCRIPTOR": "fails"})
    both = Place(tmp_path / "plain", is_mounted=False), memory
    outcome = same(both, script, built("deep_host.c", "-ldl"), module)
    assert outcome.said.startswith("status 0\nprinted by the module\nprinted by the program\n")
    assert outcome.complaints == "read by a stream of the module\n"


def test_a_program_that_calls_nothing_that_we_stand_in_front_of(places: Places, built: Callable[..., Path]) -> None:
    outcome = same(places(), '"$2" >"$1/out"; echo "status $?"; cat "$1/out"', built("without_calls.c", "-ldl"))
    assert outcome.said.endswith("\n2998\n2999\n")


def test_tables_of_streams_that_are_sealed(tmp_path: Path, built: Callable[..., Path]) -> None:
    sealed = built("sealed_tables.c", "-shared", "-fPIC")
    memory = Place(tmp_path / "memory", preloaded=f"{LIBRARY}:{sealed}")
    if memory.run("true").status == 77:
        pytest.skip("this kernel seals no memory")
    both = Place(tmp_path / "plain", is_mounted=False), memory
    outcome = same(both, 'exec "$2" "$1" modes', built("stream_cases.c"))
    assert outcome.status == 0


def test_tables_of_streams_that_are_not_known(tmp_path: Path, built: Callable[..., Path]) -> None:
    other = built("other_tables.c", "-shared", "-fPIC")
    memory = Place(tmp_path / "memory", preloaded=f"{LIBRARY}:{other}")
    why = "the tables of this C library's streams are not laid out as they are known to be\n"
    found = memory.run('"$2" "$1" characters 2>&1', built("stream_cases.c"))
    assert found.status != 0
    refused = "a stream (fopen, fdopen, freopen) on DIRECTORY/file was refused, a file of the backend 'memory': "
    assert found.said.startswith(f"halcyon: {refused}{why}"), found.said
    found = memory.run('env printf "lost\\n" >"$1/file"; echo "status $?"; wc -c <"$1/file"')
    assert found.said.startswith("status 1\n"), found
    assert "leads to a backend's file, and will fail to read or write: " + why in found.complaints
    # Others than streams are as they were.
    assert memory.run('echo written >"$1/file" && read -r line <"$1/file" && echo "$line"').said == "written\n"


NEWER = os.environ.get("HALCYON_NEWER_C_LIBRARY", "")
"""A folder with the dynamic linker and the libraries of another glibc (2.38 or later), and libgcc_s.so.1."""


@pytest.mark.parametrize("case", [case for case in CASES if case != "inherited"])  # which starts itself again
def test_another_c_library(tmp_path: Path, built: Callable[..., Path], case: str) -> None:
    if not NEWER:
        pytest.skip("HALCYON_NEWER_C_LIBRARY names no folder of another C library")
    script = 'exec "$4/ld-linux-x86-64.so.2" --library-path "$4" "$2" "$1" "$3"'
    both = Place(tmp_path / "plain", is_mounted=False), Place(tmp_path / "memory")
    assert same(both, script, built("stream_cases.c"), case, NEWER).status == 0


@pytest.mark.parametrize("optimisation", ["-O0", "-O3"])
# Both need libraries that are loaded while the program runs.
@pytest.mark.parametrize("case", [case for case in CASES if case not in ("cancelled", "conversions")])
def test_streams_of_static_programs(places: Places, built: Callable[..., Path], case: str, optimisation: str) -> None:
    if not ARCHIVE.exists():
        pytest.skip("the archive of the in-memory backend is not built")
    options = BUILD / "lib/halcyon-io.link"
    linked = f"-Wl,--whole-archive,{ARCHIVE},--no-whole-archive,@{options}"
    program = built("stream_cases.c", "-static", optimisation, linked)
    outcome = same(places(), 'exec "$2" "$1" "$3"', program, case)
    assert outcome.status == 0, outcome


@pytest.fixture
def recorded_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], Run]:
    """The run of streams.c in a plain directory, or (True) in one whose backend makes calls of its own."""
    program = compiled("streams.c", tmp_path, "-O1")

    def run(mounted: bool) -> Run:
        directory = tmp_path / ("mounted" if mounted else "plain")
        directory.mkdir()
        extra = {}
        if mounted:
            monkeypatch.setenv("HALCYON_IO_LIBRARY", str(DIRECTORY_LIBRARY))
            (tmp_path / "behind").mkdir()
            extra = {
                "HALCYON_DIRECTORY_MOUNT": str(directory),
                "HALCYON_DIRECTORY_BEHIND": str(tmp_path / "behind"),
            }
        done = recorded([program], tmp_path / f"run-{directory.name}", extra=extra, cwd=directory)
        assert done.code == 0, done.complaints
        return done

    return run


# On the kernel's files, the recorder flushes wide streams before they seek: then the C library reads less ahead.
READ_LESS = ("wide r+ fseek", "wide r+ fsetpos")


def test_transfers_of_streams_are_recorded_as_they_are_made(
    tmp_path: Path, recorded_streams: Callable[[bool], Run]
) -> None:
    plain, mounted = recorded_streams(False), recorded_streams(True)
    names = sorted(path.name for path in (tmp_path / "plain").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "behind").iterdir())
    for name in names:
        content = (tmp_path / "plain" / name).read_bytes()
        assert (tmp_path / "behind" / name).read_bytes() == content, name
        for kind in ("read", "write"):
            expected = plain.moved(tmp_path / "plain" / name, kind)
            if kind == "read" and ("mapped" in name or name in READ_LESS):
                continue
            assert mounted.moved(tmp_path / "mounted" / name, kind) == expected, (name, kind)
        transfers = [c for c in mounted.calls_on(tmp_path / "mounted" / name) if c["call"].startswith("stdio ")]
        numbers = {(c["process"], c["thread"], c["number"]): c for c in transfers}
        below = [c for c in mounted.calls_on(tmp_path / "behind" / name) if c["kind"] in ("read", "write")]
        for call in below:
            above = numbers.get((call["process"], call["thread"], call["parent"]))
            if above is None:
                continue  # of a descriptor's own call
            assert (call["kind"], call["moved"]) == (above["kind"], above["moved"])
            assert above["offset"] == call["offset"] or call["offset"] is None, (above, call)
        told_below = {(c["process"], c["thread"], c["parent"]) for c in below}
        assert all(key in told_below for key, call in numbers.items() if call["bytes"]), name
