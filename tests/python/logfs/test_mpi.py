"""MPI-IO by the interposed library: ranks write parts of one file that lie between those of others."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from logfs.logged import Place, both, halcyon

SOURCE = Path(__file__).resolve().parents[2] / "logfs/programs/sieving.c"
RANKS, PIECES = 4, 3000
FAMILIES = {"openmpi": "mpicc.openmpi", "mpich": "mpicc.mpich"}
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"],
    "mpich": ["mpirun.mpich"],
}


@pytest.fixture(scope="module", params=FAMILIES)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    family = request.param
    if shutil.which(FAMILIES[family]) is None or shutil.which(LAUNCHERS[family][0]) is None:
        pytest.skip(f"there is no {family}")
    built = tmp_path_factory.mktemp("built") / "sieving"
    subprocess.run([FAMILIES[family], "-O1", "-w", str(SOURCE), "-o", str(built)], check=True)
    return family, built


def launch(program: tuple[str, Path], place: Place, how: str, *options: str) -> subprocess.CompletedProcess[str]:
    family, built = program
    command = [*LAUNCHERS[family], *options, "-n", RANKS, built, place.directory / "f", how, PIECES]
    if place.is_logged:
        return halcyon("run", "--log", place.directory, "--", *command)
    return subprocess.run([str(w) for w in command], capture_output=True, text=True, check=False, timeout=300)


def md5(place: Place) -> str:
    if not place.is_logged:
        return hashlib.md5((place.directory / "f").read_bytes()).hexdigest()
    return place.shell('md5sum < "$1/f"').stdout.split()[0]


@pytest.mark.parametrize("how", ["sieve", "plain"])
@pytest.mark.parametrize("options", [(), ("--mca", "io", "romio321")], ids=["default", "romio"])
def test_interleaved_writes_equal_a_plain_file(
    tmp_path: Path, program: tuple[str, Path], how: str, options: tuple[str, ...]
) -> None:
    if options and program[0] != "openmpi":
        pytest.skip("MPICH has ROMIO alone")
    places = both(tmp_path)
    for place in places:
        done = launch(program, place, how, *options)
        assert done.returncode == 0, done.stderr
    assert places[1].containers() == {"f"}
    assert md5(places[1]) == md5(places[0])
    assert len(list((places[1].directory / "f").glob("hostdir.*/index.*"))) >= RANKS
    assert places[1].left() == []


def test_writes_are_not_sieved_unless_the_user_says_so(tmp_path: Path, program: tuple[str, Path]) -> None:
    options = ("--mca", "io", "romio321") if program[0] == "openmpi" else ()
    plain, logged = both(tmp_path)
    assert "romio_ds_write disable" not in launch(program, plain, "hint", *options).stdout
    done = launch(program, logged, "hint", *options)
    assert "romio_ds_write disable\n" in done.stdout, done.stderr
    hints = tmp_path / "hints"
    hints.write_text("romio_ds_write enable\n")
    os.environ["ROMIO_HINTS"] = str(hints)
    try:
        done = launch(program, logged, "hint", *options)
    finally:
        del os.environ["ROMIO_HINTS"]
    # Open MPI does not tell what it read there.
    assert "romio_ds_write " in done.stdout, done.stderr
    assert "romio_ds_write disable" not in done.stdout
