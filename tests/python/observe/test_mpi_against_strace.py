"""Recordings of parallel programs: equal to what the kernel saw of each file, and with what MPI-IO and HDF5 were asked
for above it."""

import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from recorded_program import compiled, recorded
from strace_comparison import Comparison


@dataclass(frozen=True)
class Library:
    """One of the two MPIs, as Debian names its parts."""

    name: str
    ranks: int

    @property
    def launcher(self) -> list[str]:
        return [f"mpirun.{self.name}", "-n", str(self.ranks)]

    @property
    def romio(self) -> bool:
        return self.name == "mpich"

    def program(self, source: str, folder: Path, *options: str, compiler: str = "mpicc") -> Path:
        """The program of tests/calls/programs/<source>."""
        words = f"{compiler}.{self.name}"
        if shutil.which(words) is None:
            pytest.skip(f"{words} is not installed")
        return compiled(f"programs/{source}", folder, *options, compiler=words)


LIBRARIES = [Library("openmpi", 4), Library("mpich", 2)]


@pytest.fixture(params=LIBRARIES, ids=lambda library: str(library.name))
def mpi(request: pytest.FixtureRequest) -> Library:
    library: Library = request.param
    if shutil.which(library.launcher[0]) is None:
        pytest.skip(f"{library.launcher[0]} is not installed")
    return library


@pytest.fixture(autouse=True)
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"):
        monkeypatch.setenv(name, "1")


def flags_of(package: str) -> list[str]:
    """What pkg-config says of a library."""
    found = subprocess.run(["pkg-config", "--cflags", "--libs", package], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        pytest.skip(f"{package} is not installed")
    return found.stdout.split()


def moved(compare: Comparison, path: Path, level: str, kind: str) -> int:
    return sum(c["moved"] or 0 for c in compare.run.calls_on(path) if (c["level"], c["kind"]) == (level, kind))


def parents(compare: Comparison, path: Path, level: str) -> set[str | None]:
    """The levels of what made the transfers of `level`."""
    transfers = [c for c in compare.run.calls_on(path) if c["level"] == level and c["kind"] in ("read", "write")]
    assert transfers, f"no transfers of {level}"
    return {c["parent_level"] for c in transfers}


@pytest.mark.parametrize("way", ["independent", "collective"])
def test_hdf5(compare: Comparison, mpi: Library, way: str) -> None:
    program = mpi.program("hdf5_rows.c", compare.place, *flags_of(f"hdf5-{mpi.name}"))
    path = compare.directory / "rows.h5"
    assert compare(*mpi.launcher, program, path, way) == []
    expected = mpi.ranks * 5 * 8 * 1000 * 4
    calls = [c for c in compare.run.calls_on(path) if c["call"] in ("H5Dwrite", "H5Dread")]
    assert Counter(c["call"] for c in calls) == {"H5Dwrite": 5 * mpi.ranks, "H5Dread": 5 * mpi.ranks}
    assert {c["argument"] for c in calls} == {int(way == "collective")}
    assert moved(compare, path, "hdf5", "write") == moved(compare, path, "hdf5", "read") == expected
    under_data: Counter[str] = Counter()
    for c in compare.run.calls_on(path):
        if c["level"] == "mpiio" and c["parent_call"] in ("H5Dwrite", "H5Dread"):
            under_data[c["kind"]] += c["moved"] or 0
    assert (under_data["write"], under_data["read"]) == (expected, expected)
    assert parents(compare, path, "hdf5") == {None}
    assert parents(compare, path, "mpiio") == {"hdf5"}
    assert parents(compare, path, "posix") == {"mpiio"}


# In the programs that call every function, Open MPI 4.1's own MPI-IO crashes with more than two ranks, and its ROMIO
# with collectives that do not block; recorded or not.
EVERY_FUNCTION = {
    "openmpi": (Library("openmpi", 2), [], []),
    "openmpi-romio": (LIBRARIES[0], ["--mca", "io", "romio321"], ["blocking-collectives"]),
    "mpich": (LIBRARIES[1], [], []),
}


@pytest.mark.parametrize("which", EVERY_FUNCTION)
def test_every_function_of_mpi_io(compare: Comparison, which: str) -> None:
    """Among them the shared pointer, split collectives, and collectives that do not block."""
    mpi, chosen, words = EVERY_FUNCTION[which]
    program = mpi.program("mpiio_calls.c", compare.place)
    path = compare.directory / "data"
    assert compare(*mpi.launcher, *chosen, program, path, *words) == []
    assert parents(compare, path, "mpiio") == {None}
    assert parents(compare, path, "posix") == {"mpiio"}
    ranks = {row["process"] for row in compare.run.rows("processes") if row["rank"] is not None}
    unseen = {row["subject"] for row in compare.run.rows("absences") if row["process"] in ranks}
    assert "stores into mapped files" not in unseen  # the memory that MPI's ranks share is none


def test_the_launchers_own_memory_is_no_absence(tmp_path: Path, mpi: Library) -> None:
    """The application's is, although it is no program of MPI and maps as the launcher does."""
    program = compiled("remapped.c", tmp_path)
    script = f"mpirun.{mpi.name} -n 1 {program} {tmp_path}; {program} {tmp_path}"
    run = recorded(["bash", "-c", script], tmp_path / "run")
    assert run.code == 0, run.complaints
    names = {row["process"]: row["command"] for row in run.rows("processes")}
    told = [names[row["process"]] for row in run.rows("absences") if row["subject"] == "stores into mapped files"]
    assert [Path(command.split()[0]).name for command in told] == [program.name] * 2


@pytest.mark.parametrize("interface", ["MPIF_H", "MPI", "MPI_F08"])
@pytest.mark.parametrize("which", ["openmpi", "mpich"])
def test_fortran(compare: Comparison, which: str, interface: str) -> None:
    mpi, _, words = EVERY_FUNCTION[which]
    options = [f"-DUSE_{interface}", f"-J{compare.place}", "-ffree-line-length-none", "-fallow-argument-mismatch"]
    program = mpi.program("mpiio_calls.F90", compare.place, *options, compiler="mpif90")
    path = compare.directory / "data"
    assert compare(*mpi.launcher, program, path, *words) == []
    assert parents(compare, path, "mpiio") == {None}
    assert parents(compare, path, "posix") == {"mpiio"}


def test_pnetcdf(compare: Comparison) -> None:
    """Debian builds it for Open MPI alone."""
    mpi = LIBRARIES[0]
    program = mpi.program("pnetcdf_writer.c", compare.place, *flags_of("pnetcdf"))
    path = compare.directory / "waves.nc"
    assert compare(*mpi.launcher, program, path) == []
    header = 512  # and what follows it, which nobody writes
    variables = 3 * 5 * 1000 * 8 * mpi.ranks
    assert path.stat().st_size == header + variables
    data: Counter[tuple[str, str]] = Counter()
    for c in compare.run.calls_on(path):
        if c["level"] in ("mpiio", "posix") and c["kind"] in ("read", "write") and c["offset"] >= header:
            data[c["level"], c["kind"]] += c["moved"]
    assert data == {(level, kind): variables for level in ("mpiio", "posix") for kind in ("read", "write")}
    assert parents(compare, path, "mpiio") == {None}
    # PnetCDF looks itself, in rank 0, which format a file has.
    own = [c for c in compare.run.calls_on(path) if c["level"] == "posix" and c["parent"] is None]
    assert [(c["call"], c["offset"], c["moved"]) for c in own if c["kind"] == "read"] == [("read", 0, 8)]


def test_threads_that_make_calls_at_once(compare: Comparison, mpi: Library) -> None:
    program = mpi.program("mpiio_shapes.c", compare.place)
    path = compare.directory / "data"
    assert compare(*mpi.launcher, program, path, "threads") == []
    expected = mpi.ranks * 4 * 25 * 1000
    for level in ("mpiio", "posix"):
        assert (moved(compare, path, level, "write"), moved(compare, path, level, "read")) == (expected, expected)
    writes = [c for c in compare.run.calls_on(path) if c["call"] == "MPI_File_write_at"]
    assert sorted(c["offset"] for c in writes) == list(range(0, expected, 1000))
    assert len({(c["process"], c["thread"]) for c in writes}) == 4 * mpi.ranks
    assert parents(compare, path, "posix") == {"mpiio"}


def test_atomic_mode(compare: Comparison, mpi: Library) -> None:
    program = mpi.program("mpiio_shapes.c", compare.place)
    path = compare.directory / "data"
    # Open MPI's own MPI-IO has no atomic mode; its ROMIO has.
    chosen = [] if mpi.romio else ["--mca", "io", "romio321"]
    assert compare(*mpi.launcher, *chosen, program, path, "atomic") == []
    expected = mpi.ranks * 25 * 1000
    for level in ("mpiio", "posix"):
        assert (moved(compare, path, level, "write"), moved(compare, path, level, "read")) == (expected, expected)
    locks = [c for c in compare.run.calls_on(path) if c["kind"] in ("lock", "unlock")]
    assert len(locks) >= mpi.ranks * 25 * 4
    assert {c["parent_level"] for c in locks} == {"mpiio"}


def test_large_counts(compare: Comparison) -> None:
    """MPI-4; Open MPI 4 has none of it."""
    mpi = LIBRARIES[1]
    program = mpi.program("mpiio_shapes.c", compare.place)
    path = compare.directory / "data"
    assert compare(*mpi.launcher, program, path, "large") == []
    asked: Counter[str] = Counter()
    for c in compare.run.calls_on(path):
        if c["level"] == "mpiio" and c["kind"] in ("read", "write"):
            asked[c["kind"]] += c["bytes"]
    assert asked == {"write": 6 * 1000 * mpi.ranks, "read": 1000 * mpi.ranks}
    assert moved(compare, path, "posix", "write") == 6 * 1000 * mpi.ranks
    assert parents(compare, path, "posix") == {"mpiio"}


def test_a_rank_that_is_killed(compare: Comparison, mpi: Library) -> None:
    """What its calls moved is there, and who was killed is told."""
    program = mpi.program("mpiio_shapes.c", compare.place)
    path = compare.directory / "data"
    assert compare(*mpi.launcher, program, path, "killed", expected_code={"openmpi": 137, "mpich": 9}[mpi.name]) == []
    assert moved(compare, path, "mpiio", "write") == moved(compare, path, "posix", "write") == mpi.ranks * 25 * 1000
    ended = {row["rank"]: row["ended"] for row in compare.run.rows("processes") if row["rank"] is not None}
    assert ended == dict.fromkeys(range(mpi.ranks), "killed")


def test_a_rank_that_aborts(compare: Comparison, mpi: Library) -> None:
    program = mpi.program("mpiio_shapes.c", compare.place)
    path = compare.directory / "data"
    assert compare(*mpi.launcher, program, path, "aborted", expected_code=7) == []
    assert moved(compare, path, "mpiio", "write") == moved(compare, path, "posix", "write") == mpi.ranks * 25 * 1000
    aborts = [c for c in compare.run.calls if c["call"] == "MPI_Abort"]
    ranks = {row["process"]: (row["rank"], row["ended"]) for row in compare.run.rows("processes")}
    assert [(ranks[c["process"]], c["argument"]) for c in aborts] == [((mpi.ranks - 1, "abort"), 7)]


LAMMPS = Path("/usr/share/lammps/examples/melt/in.melt")


@pytest.mark.full
def test_lammps(compare: Comparison) -> None:
    """A simulation as it is used: atoms dumped and restart files written every 50 steps."""
    if shutil.which("lmp") is None or not LAMMPS.exists():
        pytest.skip("LAMMPS and its examples are not installed (Debian: lammps, lammps-examples)")
    text = re.sub(r"^#dump\s+id", "dump id", LAMMPS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    text = re.sub(r"^run\s+\d+", "restart 50 restart.*\nrun 250", text, flags=re.MULTILINE)
    (compare.directory / "in.melt").write_text(text, encoding="utf-8")
    assert compare(*LIBRARIES[0].launcher, "lmp", "-in", "in.melt", "-log", "log.melt") == []
    names = {path.name for path in compare.directory.iterdir()}
    assert {"dump.melt", *(f"restart.{step}" for step in range(50, 251, 50))} < names
    for path in compare.directory.iterdir():
        if path.name != "in.melt":
            assert moved(compare, path, "posix", "write") == path.stat().st_size, path.name
