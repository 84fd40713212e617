"""Programs that use containers through halcyon/logfs.h and halcyon/logfs.hpp: the examples, and one that runs under
`halcyon run --log`."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from logfs.logged import Place, both, halcyon
from logfs.mpi_programs import FAMILIES, LAUNCHERS, launcher_or_skip

from halcyon import logfs
from halcyon.observe.dataset import Dataset
from halcyon.observe.pack import pack

ROOT = Path(__file__).resolve().parents[3]
BUILDS = {"openmpi": "release", "mpich": "mpich"}
CELLS, BLOCKS, STEPS, RANKS = 1000, 50, 3, 2
BESIDE_LOG = "tests/logfs/api/logfs_beside_log"
APPEND = "apps/06_log/append_c"


def built(program: str, family: str = "openmpi") -> Path:
    path = ROOT / "build" / BUILDS[family] / program
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return path


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("language", ["c", "cpp"])
def test_ranks_write_one_checkpoint(tmp_path: Path, family: str, language: str) -> None:
    launcher_or_skip(family)
    program = built(f"apps/06_log/checkpoint_{language}", family)
    command = [*LAUNCHERS[family], "-n", str(RANKS), program, tmp_path / "file"]
    variables = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=variables)
    assert done.returncode == 0, done.stderr
    cells = RANKS * BLOCKS * CELLS
    assert done.stdout == f"{8 * cells} bytes, the last value is {STEPS - 1 + 1e-6 * (cells - 1):.6f}\n"
    with logfs.open(tmp_path / "file", "rb", verify=True) as file:
        values = np.frombuffer(file.read(), np.float64)
    np.testing.assert_allclose(values, STEPS - 1 + 1e-6 * np.arange(cells), rtol=0, atol=1e-12)
    assert logfs.check(tmp_path / "file").conflict_bytes == 0
    writers = logfs.map(tmp_path / "file").writers
    assert len(writers) == RANKS
    assert {each.rank for each in writers} == set(range(RANKS))


def test_processes_append_at_a_time(tmp_path: Path) -> None:
    program, file = built(APPEND), tmp_path / "results"
    lines = [[f"process {process} line {line} {'x' * 100}" for line in range(20)] for process in range(4)]
    running = [subprocess.Popen([program, file, *each]) for each in lines]
    assert [each.wait(60) for each in running] == [0] * len(lines)
    found = subprocess.run([program, file], capture_output=True, text=True, check=True).stdout.splitlines()
    for each in lines:
        assert [line for line in found if line in each] == each
    assert len(found) == sum(map(len, lines))


def test_a_program_under_log_uses_both_ways_at_once(tmp_path: Path) -> None:
    place = both(tmp_path)[1]
    done = place.run(built(BESIDE_LOG), place.directory)
    assert done.stdout.splitlines() == [
        "posix reads: interface",
        "interface reads: interface and posix",
        "posix sees a file of 19 bytes",
        "interface reads: posix",
        "posix reads: posix and interface",
        "interface reads: interface and posix and child",
        "posix reads: posix and interface",
        "posix reads: interface and posix and child",
        "posix sees nothing",
    ], done.stderr
    assert done.returncode == 0
    assert place.containers() == {"one"}
    assert place.left() == []
    assert (place.directory / "flat").read_text() == "interface and posix and child"
    # Nothing in the container has become one.
    one = place.directory / "one"
    assert [path.relative_to(one) for path in one.rglob("halcyon-container")] == [Path("halcyon-container")]
    assert all(path.is_file() for path in one.glob("hostdir.*/*"))
    assert logfs.check(one).is_sound


@pytest.mark.parametrize("is_logged", [True, False], ids=["log", "trace"])
def test_calls_within_a_container_are_recorded_but_under_log(tmp_path: Path, is_logged: bool) -> None:
    place = Place(tmp_path / "logs", is_logged=True)
    place.directory.mkdir()
    run = tmp_path / "run"
    options = ["--log", place.directory] if is_logged else []
    done = halcyon("run", "--trace", *options, "-o", run, "--", built(APPEND), place.directory / "f", "line")
    assert done.returncode == 0, done.stderr
    pack(run, run / "data")
    files = [row["path"] for batch in Dataset.open(run / "data").batches("files") for row in batch.to_pylist()]
    assert any("/logs/f/hostdir." in path for path in files) != is_logged
    with logfs.open(place.directory / "f", "rb") as file:
        assert file.read() == b"line\n"


BOTH_WAYS = """
import os, sys
del os.environ["HALCYON_LOG"]
from halcyon import logfs
folder = sys.argv[1]
with logfs.open(folder + "/one", "wb", 0) as file:
    file.write(b"interface")
    file.sync()
    with open(folder + "/one", "r+b", 0) as posix:
        print(posix.read().decode())
        posix.write(b" and posix")
        os.fsync(posix.fileno())
with logfs.open(folder + "/one", "rb", 0) as file:
    print(file.read().decode())
    if os.fork() == 0:
        with logfs.open(folder + "/one", "ab", 0) as own:
            own.write(b" and child")
        os._exit(0)
    os.wait()
    file.refresh()
    print(file.read().decode())
print(os.stat(folder + "/one").st_size, logfs.is_container(folder + "/one"), logfs.status(folder + "/one").size)
print(logfs.check(folder + "/one").is_sound, len(logfs.map(folder + "/one").writers))
logfs.flatten(folder + "/one", folder + "/flat")
print(open(folder + "/flat").read())
logfs.remove(folder + "/one")
print(os.listdir(folder))
"""


def test_a_python_program_under_log_uses_both_ways_at_once(tmp_path: Path) -> None:
    place = both(tmp_path)[1]
    done = place.run(sys.executable, "-c", BOTH_WAYS, place.directory)
    whole = "interface and posix and child"
    assert done.stdout.splitlines() == [
        "interface",
        "interface and posix",
        " and child",
        f"{len(whole)} True {len(whole)}",
        "True 3",
        whole,
        "['flat']",
    ], done.stderr
    assert (place.directory / "flat").read_text() == whole
    assert place.left() == []


ADDRESSES = """
import os, sys
from halcyon.logfs.filesystem import LogFileSystem
files = LogFileSystem(checks=True)
name = sys.argv[1] + "/file"
files.pipe_file(name, b"text")
print(files.info(name)["container"], files.cat_file(name), open(name).read())
with open(name, "w") as file:
    file.write("other")
print(files.cat_file(name))
files.mv(name, sys.argv[1] + "/moved")
files.rm(sys.argv[1] + "/moved")
print(os.listdir(sys.argv[1]))
"""


def test_addresses_of_containers_work_under_log(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    place = both(tmp_path)[1]
    done = place.run(sys.executable, "-c", ADDRESSES, place.directory)
    assert done.stdout.splitlines() == ["True b'text' text", "b'other'", "[]"], done.stderr
