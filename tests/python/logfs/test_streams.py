"""Streams of the C library on log containers do what they do on plain files."""

import shutil
import subprocess
from pathlib import Path

import pytest
from calls.random_streams import SEED, compare, operations
from logfs.logged import Place, both, same

SOURCES = Path(__file__).resolve().parents[2] / "calls/streams"
CASES = [
    "appended", "buffers", "cancelled", "characters", "checked", "child_of_vfork", "commands", "conversions",
    "descriptors", "forked", "inherited", "mapped", "messages", "modes", "redirected", "reopened_beneath_threads",
    "reopening", "shared_by_threads", "threads_of_children", "written_by_processes",
]  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs."""
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc")
    folder = tmp_path_factory.mktemp("programs")
    for name in ("stream_cases", "random_streams"):
        words = ["gcc", "-O1", "-w", "-pthread", str(SOURCES / f"{name}.c"), "-o", str(folder / name)]
        subprocess.run(words, check=True)
    return folder


@pytest.fixture
def places(tmp_path: Path) -> tuple[Place, Place]:
    return both(tmp_path)


@pytest.mark.parametrize("case", CASES)
def test_streams_of_c(places: tuple[Place, Place], built: Path, case: str) -> None:
    done = same(places, 'exec "$2" "$1" "$3"', built / "stream_cases", case)
    assert done.returncode == 0, done
    assert done.stdout.endswith("by a destructor\n")


def test_what_waits_in_streams_is_written_when_the_process_ends(places: tuple[Place, Place], built: Path) -> None:
    script = '"$2" "$1" ending >"$1/output"; echo "status $?"; cat "$1/output" "$1/never closed"'
    assert same(places, script, built / "stream_cases").stdout.splitlines() == [
        "status 0", "never flushed either", "by a handler at exit", "by a destructor", "never flushed",
    ]  # fmt: skip
    assert {"output", "never closed"} <= places[1].containers()


@pytest.mark.parametrize("seed", [SEED, SEED + 1])
def test_random_operations_narrow_and_wide(places: tuple[Place, Place], built: Path, seed: int) -> None:
    def outcomes(count: int, told_from: int) -> list[list[str]]:
        words = [built / "random_streams", seed, count, told_from]
        done = [place.shell('exec "$2" "$1" "$3" "$4" "$5"', *words, timeout=3600) for place in places]
        assert [(one.returncode, one.stderr) for one in done] == [(0, ""), (0, "")]
        return [one.stdout.splitlines() for one in done]

    compare(outcomes, operations(10_000))


UNITS = {
    "formatted": """open(unit=1, file=trim(name), form='formatted')
write(1,*) 'one', 2
close(1)
open(unit=1, file=trim(name), position='append')
write(1,*) 'three'
rewind(1)
read(1,'(a)') line
print '(a)', trim(line)""",
    "stream": """open(unit=1, file=trim(name), access='stream', form='unformatted')
write(1) 'abcdef'
write(1, pos=3) 'X'
read(1, pos=1) line(1:6)
print '(a)', line(1:6)""",
    "direct": """open(unit=1, file=trim(name), access='direct', recl=8, form='unformatted')
write(1, rec=3) 'record 3'
write(1, rec=1) 'record 1'
read(1, rec=3) line(1:8)
print '(a)', line(1:8)""",
}


@pytest.mark.parametrize("kind", UNITS)
def test_units_of_fortran(places: tuple[Place, Place], tmp_path: Path, kind: str) -> None:
    if shutil.which("gfortran") is None:
        pytest.skip("there is no gfortran")
    source = tmp_path / "units.f90"
    source.write_text(
        "program units\ncharacter(len=500) :: name\ncharacter(len=80) :: line\n"
        f"call get_command_argument(1, name)\nname = trim(name) // '/unit'\n{UNITS[kind]}\nclose(1)\nend program\n"
    )
    subprocess.run(["gfortran", str(source), "-o", str(tmp_path / "units")], check=True)
    done = same(places, '"$2" "$1" && md5sum < "$1/unit"', tmp_path / "units")
    assert done.returncode == 0, done.stderr
    assert places[1].containers() == {"unit"}
