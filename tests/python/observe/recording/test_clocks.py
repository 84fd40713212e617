"""Calls on nodes whose clocks differ stand in the order in which they happened."""

import shlex
import subprocess
import time
from pathlib import Path

import namespaces
import numpy as np
import pytest
import slurm

from halcyon.layers.preload import variables
from halcyon.observe.dataset import Dataset
from halcyon.observe.pack import pack
from halcyon.observe.readers.clocks import Clock, Measurement
from halcyon.observe.recording.folder import Recording, new_folder

AHEAD_S = 1000

PROGRAM = """
#include <mpi.h>

int main(int count, char** arguments) {
    MPI_File file;
    MPI_Init(&count, &arguments);
    MPI_File_open(MPI_COMM_WORLD, arguments[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_close(&file);
    return MPI_Finalize();
}
"""


def test_the_offset_drifts_evenly_between_two_measurements() -> None:
    clock = Clock(10_000, [Measurement(1_000, 500, 3), Measurement(3_000, 600, 4)], 4)
    assert clock.of(np.array([1_000, 2_000, 3_000, 5_000])).tolist() == [10_500, 11_450, 12_400, 14_300]


def test_a_clock_that_was_measured_once_keeps_its_offset() -> None:
    assert Clock(0, [Measurement(1_000, 500, 3)], 3).of(np.array([0, 9_000])).tolist() == [-500, 8_500]


# Time stands still for the recorder: a wait for an end of its patience lasts for ever.
STANDING_CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec* out) {
    static struct timespec standing;
    Dl_info caller;
    const int done = syscall(SYS_clock_gettime, clock, out);
    if (clock != CLOCK_MONOTONIC || !dladdr(__builtin_return_address(0), &caller)) return done;
    if (!strstr(caller.dli_fname, "libhalcyon-io")) return done;
    if (standing.tv_sec == 0) standing = *out;
    *out = standing;
    return done;
}
"""

# A rank of which the recorder cannot receive anything.
DEAF_RANK = """
int PMPI_Irecv(void) {
    return 1;
}
"""

# A rank that reaches MPI_Finalize after rank 0 has given up waiting for it, and after all others have been there: each
# says so by a file when it is inside (attributes of MPI_COMM_SELF are deleted first). Then the clock of rank 0 leaps.
SLOW_RANK = """
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char* path_of(const char* directory, const char* what, int rank) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s.%d", directory, what, rank);
    return path;
}

static void make(const char* path) {
    if (open(path, O_CREAT | O_WRONLY, 0600) < 0) abort();
}

static void await(const char* path) {
    const time_t limit = time(NULL) + 90;
    while (access(path, F_OK) != 0) {
        if (time(NULL) > limit) exit(9);
        usleep(1000);
    }
}

static int rank;
static int say(MPI_Comm comm, int key, void* directory, void* state) {
    make(path_of(directory, "finalizing", rank));
    return MPI_SUCCESS;
}

int main(int count, char** arguments) {
    char* directory = arguments[1];
    int ranks, key;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, say, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, directory);
    if (rank == 1) {
        for (int other = 2; other < ranks; ++other) await(path_of(directory, "finalizing", other));
        make(path_of(directory, "leap", 0));
        await(path_of(directory, "finalizing", 0));
    }
    return MPI_Finalize();
}
"""

LEAPING_CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec* out) {
    Dl_info caller;
    const int done = syscall(SYS_clock_gettime, clock, out);
    if (clock != CLOCK_MONOTONIC || !dladdr(__builtin_return_address(0), &caller)) return done;
    const char* leap = getenv("LEAPS_WITH");
    if (strstr(caller.dli_fname, "libhalcyon-io") && leap && syscall(SYS_faccessat, AT_FDCWD, leap, F_OK) == 0)
        out->tv_sec += 1000;
    return done;
}
"""

LIMIT_S = 100
"""Of a run that waits for nobody: nobody's patience is as long."""


@pytest.fixture(params=["openmpi", "mpich"])
def mpi(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def program(tmp_path: Path, mpi: str) -> Path:
    path = tmp_path / "program"
    subprocess.run([f"mpicc.{mpi}", "-x", "c", "-o", path, "-"], input=PROGRAM, text=True, check=True)
    return path


def build_library(path: Path, source: str) -> Path:
    command = ["gcc", "-shared", "-fPIC", "-x", "c", "-o", str(path), "-"]
    subprocess.run(command, input=source, text=True, check=True)
    return path


@pytest.fixture
def standing_clock(tmp_path: Path) -> Path:
    return build_library(tmp_path / "standing_clock.so", STANDING_CLOCK)


def prepare(directory: Path, program: Path, mpi: str, preloaded: Path | None = None) -> tuple[Path, list[str]]:
    """A run's folder, and the launcher's options by which one rank on each node is recorded there."""
    folder = new_folder(directory, [str(program)])
    wanted = variables(["trace"], folder / "trace", None, None)
    if preloaded is not None:
        wanted["LD_PRELOAD"] = f"{preloaded}:{wanted['LD_PRELOAD']}"
    Recording.of([str(program)], ["trace"], time.time()).write(folder)
    if mpi == "openmpi":
        return folder, [word for name, value in wanted.items() for word in ("-x", f"{name}={value}")]
    return folder, [word for name, value in wanted.items() for word in ("-env", name, value)]


TWO_RANKS = ["-n", "2"]
SECOND_NODE = f"unshare --time --monotonic {AHEAD_S}"
needs_two_nodes = pytest.mark.skipif(bool(namespaces.unavailable()), reason=namespaces.unavailable())


@needs_two_nodes
def test_two_nodes_agree_although_one_clock_is_a_thousand_seconds_ahead(
    tmp_path: Path, program: Path, mpi: str
) -> None:
    folder, exported = prepare(tmp_path / "run", program, mpi)
    with namespaces.two_nodes(tmp_path, SECOND_NODE, mpi) as launcher:
        subprocess.run([*launcher, *TWO_RANKS, *exported, program, tmp_path / "out"], check=True)
    pack(folder, tmp_path / "data")
    with Dataset.open(tmp_path / "data") as data:
        processes = data.processes.to_pandas().set_index("rank")
        calls = data.calls.filter(data.calls.call == "MPI_File_open").to_pandas().set_index("process")
        absences = data.absences.to_pandas()
    error_ns = int(processes.clock_error_ns[1])
    assert processes.clock_error_ns[0] == 0
    assert 0 < error_ns < 1e9
    # A collective call of two ranks overlaps.
    begun = {rank: calls.start_ns[processes.process[rank]] for rank in (0, 1)}
    ended = {rank: begun[rank] + calls.duration_ns[processes.process[rank]] for rank in (0, 1)}
    assert begun[0] < ended[1] + error_ns
    assert begun[1] < ended[0] + error_ns
    facts = [int(value.split()[0]) for value in _offsets(tmp_path / "data")]
    assert len(facts) == 2
    assert all(abs(offset - AHEAD_S * 10**9) <= error_ns for offset in facts)
    # The messages went over MPI's sockets: these are no files, and their calls nothing that was missed.
    assert absences.empty
    assert not list((folder / "trace").glob(".*"))


@needs_two_nodes
@pytest.mark.parametrize("unrecorded", [0, 1])
def test_nobody_waits_for_a_node_whose_rank_is_not_recorded(
    tmp_path: Path, program: Path, mpi: str, standing_clock: Path, unrecorded: int
) -> None:
    folder, exported = prepare(tmp_path / "run", program, mpi, standing_clock)
    ranks = [
        ["-n", "1", *([] if rank == unrecorded else exported), str(program), str(tmp_path / "out")] for rank in (0, 1)
    ]
    with namespaces.two_nodes(tmp_path, SECOND_NODE, mpi) as launcher:
        subprocess.run([*launcher, *ranks[0], ":", *ranks[1]], check=True, timeout=LIMIT_S)
    pack(folder, tmp_path / "data")
    with Dataset.open(tmp_path / "data") as data:
        assert list(data.processes.to_pandas()["rank"]) == [1 - unrecorded]
    assert not list((folder / "trace").glob(".*"))


@needs_two_nodes
def test_nobody_waits_for_a_rank_that_gave_up(tmp_path: Path, program: Path, mpi: str, standing_clock: Path) -> None:
    folder, exported = prepare(tmp_path / "run", program, mpi, standing_clock)
    deaf = build_library(tmp_path / "deaf.so", DEAF_RANK)
    second = [word + f":{deaf}" if str(standing_clock) in word else word for word in exported]
    ranks = [["-n", "1", *options, str(program), str(tmp_path / "out")] for options in (exported, second)]
    with namespaces.two_nodes(tmp_path, SECOND_NODE, mpi) as launcher:
        subprocess.run([*launcher, *ranks[0], ":", *ranks[1]], check=True, timeout=LIMIT_S)
    pack(folder, tmp_path / "data")
    assert _offsets(tmp_path / "data") == []
    assert not list((folder / "trace").glob(".*"))


@needs_two_nodes
def test_a_rank_that_comes_late_to_the_end_waits_for_nobody_and_costs_others_nothing(
    tmp_path: Path, mpi: str, standing_clock: Path
) -> None:
    program = tmp_path / "slow"
    subprocess.run([f"mpicc.{mpi}", "-x", "c", "-o", program, "-"], input=SLOW_RANK, text=True, check=True)
    folder, exported = prepare(tmp_path / "run", program, mpi, standing_clock)
    leaping = build_library(tmp_path / "leaping_clock.so", LEAPING_CLOCK)
    (tmp_path / "told").mkdir()
    first = [word.replace(str(standing_clock), str(leaping)) for word in exported]
    leaps = f"LEAPS_WITH={tmp_path / 'told' / 'leap.0'}"
    ranks = [
        ["-n", "1", *first, "env", leaps, str(program), str(tmp_path / "told")],
        ["-n", "1", *exported, str(program), str(tmp_path / "told")],
    ]
    if mpi == "openmpi":  # a third one, with a clock of its own
        other_clock = ["unshare", "--time", "--monotonic", "500"]
        ranks.append(["-n", "1", *exported, *other_clock, str(program), str(tmp_path / "told")])
    with namespaces.two_nodes(tmp_path, SECOND_NODE, mpi) as launcher:
        joined = [word for rank in ranks for word in (":", *rank)][1:]
        subprocess.run([*launcher, *joined], check=True, timeout=LIMIT_S)
    pack(folder, tmp_path / "data")
    # Of each but rank 0 the first comparison, and the last of the one that was in time.
    assert len(_offsets(tmp_path / "data")) == (3 if mpi == "openmpi" else 1)


@needs_two_nodes
def test_two_launches_of_one_run_compare_their_own_ranks(tmp_path: Path, program: Path, mpi: str) -> None:
    folder, exported = prepare(tmp_path / "run", program, mpi)
    with namespaces.two_nodes(tmp_path, SECOND_NODE, mpi) as launcher:
        launches = [
            subprocess.Popen([*launcher, *TWO_RANKS, *exported, program, tmp_path / name]) for name in ("a", "b")
        ]
        assert [launch.wait(LIMIT_S) for launch in launches] == [0, 0]
    pack(folder, tmp_path / "data")
    facts = [int(value.split()[0]) for value in _offsets(tmp_path / "data")]
    assert len(facts) == 4
    assert all(abs(offset - AHEAD_S * 10**9) < 1e9 for offset in facts)


@pytest.mark.skipif(bool(slurm.unavailable()), reason=slurm.unavailable())
@pytest.mark.parametrize(("mpi", "interface"), [("mpich", "pmi2"), ("openmpi", "pmix")], indirect=["mpi"])
def test_two_job_steps_of_srun_compare_their_own_ranks(tmp_path: Path, program: Path, interface: str) -> None:
    folder = new_folder(tmp_path / "run", [str(program)])
    Recording.of([str(program)], ["trace"], time.time()).write(folder)
    recorded = [f"{name}={value}" for name, value in variables(["trace"], folder / "trace", None, None).items()]
    step = ["srun", "--overlap", "-N2", "-n2", f"--mpi={interface}", "env", *recorded, str(program)]
    a, b = (shlex.join([*step, str(tmp_path / name)]) for name in "ab")
    with slurm.two_nodes(SECOND_NODE.split()) as on_first:
        job = [*on_first, "salloc", "-N2", "sh", "-c", f"{a} & first=$!; {b} && wait $first"]
        subprocess.run(job, check=True, timeout=LIMIT_S)
    pack(folder, tmp_path / "data")
    facts = [int(value.split()[0]) for value in _offsets(tmp_path / "data")]
    assert len(facts) == 4
    assert all(abs(offset - AHEAD_S * 10**9) < 1e9 for offset in facts)
    assert not list((folder / "trace").glob(".*"))


def _offsets(directory: Path) -> list[str]:
    with Dataset.open(directory) as data:
        return list(data.facts.filter(data.facts.key == "clock.offset").order_by("time_ns").to_pandas()["value"])
