"""MPI-IO by the interposed library: ranks write parts of one file that lie between those of others."""

import hashlib
import subprocess
from pathlib import Path

import pytest
from logfs.logged import Place, both, halcyon
from logfs.mpi_programs import FAMILIES, LAUNCHERS, ROMIO, built, launcher_or_skip

from halcyon import logfs
from halcyon.observe.dataset import Dataset
from halcyon.observe.pack import pack

RANKS, PIECES = 4, 3000
STRIDED_RANKS = 2
RANDOM_PIECES = 50_000


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    launcher_or_skip(name)
    return name


@pytest.fixture(scope="module")
def program(family: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(family, "sieving.c", tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module", params=["strided.c", "strided.f90"])
def strided(family: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(family, str(request.param), tmp_path_factory.mktemp("built"))


def run(place: Place, *words: object, options: tuple[object, ...] = ()) -> subprocess.CompletedProcess[str]:
    log = ("--log", place.directory) if place.is_logged else ()
    if log or options:
        return halcyon("run", *log, *options, "--", *words)
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, timeout=300)


def md5(place: Place) -> str:
    if not place.is_logged:
        return hashlib.md5((place.directory / "f").read_bytes()).hexdigest()
    return place.shell('md5sum < "$1/f"').stdout.split()[0]


@pytest.mark.parametrize("how", ["sieve", "plain"])
@pytest.mark.parametrize("library", ["default", "romio"])
def test_interleaved_writes_equal_a_plain_file(
    tmp_path: Path, family: str, program: Path, how: str, library: str
) -> None:
    if library == "romio" and not ROMIO[family]:
        pytest.skip("MPICH has ROMIO alone")
    if library == "default" and ROMIO[family] and how == "sieve":
        pytest.skip("OMPIO does not sieve")
    options = ROMIO[family] if library == "romio" else []
    places = both(tmp_path)
    for place in places:
        done = run(place, *LAUNCHERS[family], *options, "-n", RANKS, program, place.directory / "f", how, PIECES)
        assert done.returncode == 0, done.stderr
    assert places[1].containers() == {"f"}
    assert md5(places[1]) == md5(places[0])
    assert len(list((places[1].directory / "f").glob("hostdir.*/index.*"))) >= RANKS
    assert places[1].left() == []


@pytest.mark.parametrize("library", ["romio", "two_phase"])
def test_what_ranks_wrote_is_not_written_back_older(tmp_path: Path, family: str, library: str) -> None:
    """By collective buffering, which reads what lies between the pieces of all ranks."""
    if library == "two_phase" and not ROMIO[family]:
        pytest.skip("MPICH has ROMIO alone")
    program = built(family, "holes.c", tmp_path)
    options, ways = ROMIO[family], ("next", "preallocated")
    if library == "two_phase":
        options, ways = ["--mca", "fcoll", "two_phase"], ("at",)
    elif family == "mpich":
        ways = ("at", "begun", "started")  # the last of which ends Open MPI 4.1, on any file
    place = both(tmp_path)[1]
    for how in ways:
        done = run(place, *LAUNCHERS[family], *options, "-n", 2, program, place.directory / how, how)
        assert done.returncode == 0, f"{how}: {done.stderr}"
        assert logfs.check(place.directory / how).conflict_bytes == 0


def reads_of(family: str, strided: Path, place: Place, hint: str) -> tuple[int, str]:
    """How often ROMIO reads what lies between pieces that it writes, and what it says of its hint."""
    traced = place.directory.parent / f"trace-{place.directory.name}"
    command = [*LAUNCHERS[family], *ROMIO[family], "-n", STRIDED_RANKS, strided, place.directory / "f", hint]
    done = run(place, *command, options=("--trace", "-o", traced))
    assert done.returncode == 0, done.stderr
    pack(traced, traced / "data")
    data = Dataset.open(traced / "data")
    files = {row["file"]: row["path"] for batch in data.batches("files") for row in batch.to_pylist()}
    calls = [row for batch in data.batches("calls") for row in batch.to_pylist()]
    of_file = [row for row in calls if files.get(row["file"]) == f"{place.directory}/f" and row["level"] == "posix"]
    assert any(row["kind"] == "write" for row in of_file)
    said = next(line for line in done.stdout.splitlines() if line.startswith("romio_ds_write "))
    return sum(row["kind"] == "read" for row in of_file), said.removeprefix("romio_ds_write ")


@pytest.mark.parametrize("hint", ["null", "other"])
def test_writes_are_not_sieved_in_logs(tmp_path: Path, family: str, strided: Path, hint: str) -> None:
    plain, logged = both(tmp_path)
    assert reads_of(family, strided, plain, hint)[0] > 0
    assert reads_of(family, strided, logged, hint) == (0, "disable")
    assert md5(logged) == md5(plain)


def test_writes_are_sieved_where_the_program_says_so(tmp_path: Path, family: str, strided: Path) -> None:
    plain, logged = both(tmp_path)
    reads, said = reads_of(family, strided, logged, "enable")
    assert (reads > 0, said) == (True, "enable")
    reads_of(family, strided, plain, "enable")
    assert md5(logged) == md5(plain)


def test_writes_are_sieved_where_the_hints_of_romio_say_so(
    tmp_path: Path, family: str, strided: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hints = tmp_path / "hints"
    hints.write_text("romio_ds_write enable\n")
    monkeypatch.setenv("ROMIO_HINTS", str(hints))
    reads, said = reads_of(family, strided, both(tmp_path)[1], "null")
    # Open MPI does not say what it read there.
    assert reads > 0
    assert said != "disable"


def test_a_prefix_asks_for_a_log(tmp_path: Path, family: str, strided: Path) -> None:
    plain, logged = both(tmp_path)
    command = [*LAUNCHERS[family], *ROMIO[family], "-n", STRIDED_RANKS, strided]
    done = run(logged, *command, f"halcyon:{logged.directory}/f", "null")
    assert done.returncode == 0, done.stderr
    assert "romio_ds_write disable" in done.stdout
    assert logged.containers() == {"f"}
    assert run(plain, *command, plain.directory / "f", "null").returncode == 0
    assert md5(logged) == md5(plain)
    # Where nothing is logged, the library refuses it.
    (elsewhere := tmp_path / "elsewhere").mkdir()
    done = run(logged, *command, f"halcyon:{elsewhere}/f", "null")
    assert done.returncode != 0
    assert f"halcyon:{elsewhere}/f: it lies below no directory of --log" in done.stderr
    assert not any(elsewhere.iterdir())


def test_one_rank_of_a_node_merges_the_index_for_all(
    tmp_path: Path, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (node := tmp_path / "node").mkdir(mode=0o700)
    program = built(family, "together.c", tmp_path)
    place = both(tmp_path)[1]
    monkeypatch.setenv("HALCYON_LOG_INDEXES", str(node))
    # By ROMIO, whose ranks open a file at the same moment; those of OMPIO wait for the first one.
    words = [*LAUNCHERS[family], *ROMIO[family], "-n", RANKS, program]
    done = run(place, *words, place.directory / "f", node, RANDOM_PIECES)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "merged by 1\n"
    assert len(list(node.glob("index.*"))) == 1
