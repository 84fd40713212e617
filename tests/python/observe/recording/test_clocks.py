"""Calls on nodes whose clocks differ stand in the order in which they happened."""

import subprocess
import time
from pathlib import Path

import namespaces
import numpy as np
import pytest

from halcyon.observe.dataset import Dataset
from halcyon.observe.pack import pack
from halcyon.observe.readers.clocks import Clock, Measurement
from halcyon.observe.recording.folder import Recording, new_folder
from halcyon.observe.recording.preload import variables

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


@pytest.mark.skipif(bool(namespaces.unavailable()), reason=namespaces.unavailable())
def test_two_nodes_agree_although_one_clock_is_a_thousand_seconds_ahead(tmp_path: Path) -> None:
    program = tmp_path / "program"
    subprocess.run(["mpicc.openmpi", "-x", "c", "-o", program, "-"], input=PROGRAM, text=True, check=True)
    folder = new_folder(tmp_path / "run", [str(program)])
    wanted = variables(["trace"], folder / "trace", None, None)
    Recording.of([str(program)], ["trace"], time.time()).write(folder)
    exported = [word for name, value in wanted.items() for word in ("-x", f"{name}={value}")]
    with namespaces.two_nodes(tmp_path, f"unshare --time --monotonic {AHEAD_S}") as launcher:
        subprocess.run([*launcher, *exported, program, tmp_path / "out"], check=True)
    pack(folder, tmp_path / "data")
    with Dataset.open(tmp_path / "data") as data:
        processes = data.processes.to_pandas().set_index("rank")
        calls = data.calls.filter(data.calls.call == "MPI_File_open").to_pandas().set_index("process")
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


def _offsets(directory: Path) -> list[str]:
    with Dataset.open(directory) as data:
        return list(data.facts.filter(data.facts.key == "clock.offset").order_by("time_ns").to_pandas()["value"])
