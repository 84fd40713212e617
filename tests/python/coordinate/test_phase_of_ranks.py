"""A phase of collective I/O in Python: the ranks of one communicator, in one turn."""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinator_process import LIMIT_S, PATIENT, CoordinatorProcess

Start = Callable[..., CoordinatorProcess]
RANKS, PHASES = 3, 2

PROGRAM = f"""
import sys
from mpi4py import MPI
from halcyon.turns import Turns

done = []

class ToldTurns(Turns):
    def wait(self):
        super().wait()
        done.append("has waited")

    def join(self):
        super().join()
        done.append("has joined")

    def release(self):
        super().release()
        done.append("has released")

class ToldRanks:
    def Get_rank(self):
        return MPI.COMM_WORLD.Get_rank()

    def Barrier(self):
        MPI.COMM_WORLD.Barrier()
        done.append("has met the others")

with ToldTurns(sys.argv[1], sys.argv[2]) as turns:
    for phase in range({PHASES}):
        with turns.phase(ToldRanks()):
            done.append("writes")
    assert turns.status().coordination == "coordinated"
    assert turns.status().steps_unasked == 0
for rank, of_rank in enumerate(MPI.COMM_WORLD.gather(done) or []):
    print(rank, ", ".join(of_rank))
"""
MET = "has met the others"
OF_FIRST = ["has waited", MET, "writes", MET, "has released"]
OF_OTHERS = [MET, "has joined", "writes", "has released", MET]


def test_the_rank_that_waited_gives_the_turn_back_last(start: Start, tmp_path: Path) -> None:
    for module in ("mpi4py", "halcyon._turns"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not there")
    if shutil.which("mpirun.openmpi") is None:
        pytest.skip("mpirun.openmpi is not installed")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    of = start(paths=[str(scratch)], times=PATIENT)
    mpirun = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", str(RANKS)]
    patience = ["-x", "HALCYON_COORDINATE_PATIENCE_MS=20000"]
    program = [sys.executable, "-c", PROGRAM, str(scratch), str(of.config)]
    done = subprocess.run(
        [*mpirun, *patience, *program], capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{rank} {', '.join(PHASES * (OF_FIRST if rank == 0 else OF_OTHERS))}" for rank in range(RANKS)
    ]
