"""Streams of the C library on log containers do what they do on plain files."""

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from calls.random_streams import SEED, compare, operations
from calls.stream_programs import (
    AS_DAEMON,
    CASES,
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
from logfs.logged import Place, both, same
from small_disk import small_disk

Built = Callable[..., Path]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The program of a source in tests/calls/streams, made once."""
    return built_in(tmp_path_factory.mktemp("programs"))


@pytest.fixture
def places(tmp_path: Path) -> tuple[Place, Place]:
    return both(tmp_path)


@pytest.mark.parametrize("case", CASES)
def test_streams_of_c(places: tuple[Place, Place], built: Built, case: str) -> None:
    done = same(places, 'exec "$2" "$1" "$3"', built("stream_cases.c"), case)
    assert done.returncode == 0, done
    assert done.stdout.endswith("by a destructor\n")


def test_what_waits_in_streams_is_written_when_the_process_ends(places: tuple[Place, Place], built: Built) -> None:
    assert same(places, ENDING, built("stream_cases.c")).stdout.splitlines() == ENDED
    assert {"output", "never closed"} <= places[1].containers()


def test_standard_input_gives_back_what_it_read_ahead(places: tuple[Place, Place], built: Built) -> None:
    assert same(places, READING, built("stream_cases.c")).stdout.startswith("1\n2\n3\n")


def test_closing_one_of_joined_descriptors_leaves_the_other(places: tuple[Place, Place], built: Built) -> None:
    assert same(places, JOINED, built("stream_cases.c")).stdout == "0 12 still there\n"


@pytest.mark.parametrize("way", [">", ">>"])
def test_a_daemon_has_left_the_files_that_it_was_started_with(
    places: tuple[Place, Place], built: Built, way: str
) -> None:
    assert same(places, AS_DAEMON.replace("WAY", way), built("stream_cases.c")).stdout == "5 0\nbefore\n"


@pytest.mark.parametrize("seed", [SEED, SEED + 1])
def test_random_operations_narrow_and_wide(tmp_path: Path, built: Built, seed: int) -> None:
    def outcomes(count: int, told_from: int) -> list[list[str]]:
        words = [built("random_streams.c"), seed, count, told_from]
        places = both(tmp_path / str(told_from))
        done = [place.shell('exec "$2" "$1" "$3" "$4" "$5"', *words, timeout=3600) for place in places]
        assert [(one.returncode, one.stderr) for one in done] == [(0, ""), (0, "")]
        return [one.stdout.splitlines() for one in done]

    compare(outcomes, operations(10_000))


def test_streams_of_cpp(places: tuple[Place, Place], built: Built) -> None:
    done = same(places, CPP, built("stream_cases.cpp", "-std=c++17", compiler="g++"))
    assert done.stderr.endswith("status 0\nwritten by a destructor\n")
    assert {"said", "last", "wide"} <= places[1].containers()


def test_units_of_fortran(places: tuple[Place, Place], built: Built) -> None:
    done = same(places, FORTRAN, built("stream_cases.f90", compiler="gfortran"))
    assert done.stdout.startswith("status 0\n")
    assert "read one line T\n" in done.stdout
    assert {"in", "out", "sequential"} <= places[1].containers()


def test_shells_and_programs_that_write_by_streams(places: tuple[Place, Place]) -> None:
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    done = same(places, SHELL, STREAMS / "shell_streams.sh")
    assert (done.returncode, done.stderr) == (0, "")


def test_python(places: tuple[Place, Place]) -> None:
    done = same(places, PYTHON, sys.executable, PYTHON_STREAMS)
    assert done.stdout.startswith("status 0\n"), done.stdout


@contextmanager
def full_disk(error: str, where: Path) -> Iterator[tuple[Place, dict[str, Any]]]:
    """A place with room for 1 MiB, and how to start the process for which that is so."""
    if error == "ENOSPC":
        with small_disk(where, "1m") as disk:
            yield Place(disk, is_logged=True), {}
        return
    with small_disk(where, "64m", "usrquota,usrquota_block_hardlimit=1m") as disk:
        disk.chmod(0o777)
        where.parent.chmod(0o755)
        nobody = 65534
        yield Place(disk, is_logged=True), {"user": nobody, "group": nobody, "extra_groups": []}


@pytest.mark.parametrize("error", ["ENOSPC", "EDQUOT"])
def test_what_finds_no_room_is_an_error_of_the_stream(tmp_path: Path, built: Built, error: str) -> None:
    program = shutil.copy(built("full.c"), tmp_path)
    with full_disk(error, tmp_path / "disk") as (place, user):
        found = place.shell(FULL, program, **user)
        assert found.returncode == 0, found
        assert f"fflush -1 {error}\nerror 1\n" in found.stdout
        assert f"fclose -1 {error}\n" in found.stdout
        assert int(found.stdout.splitlines()[-1]) == 500_000  # from when it was cut to that


@pytest.mark.parametrize("error", ["ENOSPC", "EDQUOT"])
def test_what_finds_no_room_at_exit_is_said(tmp_path: Path, built: Built, error: str) -> None:
    program = shutil.copy(built("full.c"), tmp_path)
    why = os.strerror(getattr(errno, error))
    with full_disk(error, tmp_path / "disk") as (place, user):
        found = place.shell(FULL_AT_EXIT, program, **user)
        status, size = found.stdout.splitlines()
        assert status == "status 0"
        assert 500_000 < int(size) < 1 << 20
        lines = found.stderr.splitlines()
        assert len(lines) == 1, lines
        assert lines[0].endswith(f"bytes that a stream held when the process ended are not in DIRECTORY/file: {why}")
        found = place.shell('rm "$1/file"; seq 1000000 >"$1/file"; echo "status $?"', **user)
        assert found.stdout == "status 1\n"
        assert why in found.stderr


def test_a_file_that_a_process_opens_for_each_line_has_few_logs(tmp_path: Path) -> None:
    """What each of the first two times wrote is a log; the second one goes on."""
    script = """import sys
lines = [f'line {number}\\n' for number in range(300)]
for at in range(0, 300, 3):
    with open(sys.argv[1], 'a') as file:
        file.write(''.join(lines[at:at + 3]))
    assert open(sys.argv[1]).read() == ''.join(lines[:at + 3])
"""
    place = both(tmp_path)[1]
    done = place.run(sys.executable, "-c", script, place.directory / "f")
    assert done.returncode == 0, done.stderr
    assert len(list(place.directory.glob("f/hostdir.*/index.*"))) == 2
    assert place.shell('wc -l < "$1/f"').stdout == "300\n"
