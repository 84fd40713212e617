"""apps/05_turns in each language and with each MPI: phases of collective I/O, in turn with another job."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from coordinator_process import LIMIT_S, PATIENT, CoordinatorProcess
from scripted_agents import Agent, has_turn, run_until

Start = Callable[..., CoordinatorProcess]
ROOT = Path(__file__).resolve().parents[3]
CELLS, PHASES = 1 << 17, 4
RANKS = {"openmpi": 4, "mpich": 2}
CASES = [("openmpi", "c"), ("openmpi", "fortran"), ("openmpi", "python"), ("mpich", "c"), ("mpich", "fortran")]


def command_of(mpi: str, language: str) -> list[str]:
    """Of the example, without its arguments; skips where it is not built."""
    launcher = f"mpirun.{mpi}"
    if shutil.which(launcher) is None:
        pytest.skip(f"{launcher} is not installed")
    program = [sys.executable, str(ROOT / "apps/05_turns/turns.py")]
    if language == "python":
        for module in ("mpi4py", "halcyon._turns"):
            if importlib.util.find_spec(module) is None:
                pytest.skip(f"{module} is not there")
    else:
        built = ROOT / "build" / {"openmpi": "release", "mpich": "mpich"}[mpi] / f"apps/05_turns/turns_{language}"
        if not built.exists():
            pytest.skip(f"{built} is not built")
        program = [str(built)]
    return [launcher, "-n", str(RANKS[mpi]), *program]


def start_example(
    command: list[str], file: Path, config: Path | None, *targets: int, **variables: str
) -> "subprocess.Popen[str]":
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HALCYON_COORD")}
    environment |= allowed | {"OMPI_MCA_rmaps_base_oversubscribe": "1"} | variables
    return subprocess.Popen(
        [*command, str(file), *([str(config)] if config else []), *map(str, targets)], cwd=file.parent.parent,
        env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def check_field(file: Path, ranks: int) -> None:
    written = np.fromfile(file).reshape(PHASES, ranks, CELLS)
    phase, rank, cell = np.ogrid[0:PHASES, 0:ranks, 0:CELLS]
    np.testing.assert_allclose(written, 100 * phase + 10 * rank + 1e-6 * cell, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("mpi", "language"), CASES)
def test_all_ranks_take_one_turn_together(start: Start, tmp_path: Path, mpi: str, language: str) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    command = command_of(mpi, language)
    of = start(paths=[str(folder)], times=PATIENT)
    other = Agent(of, "other")
    other.begin()
    run_until([other], has_turn(other), "the other job has the turn")
    program = start_example(command, folder / "field", of.config, HALCYON_COORDINATE_PATIENCE_MS="20000")
    waits = lambda: any(one.state == "waiting" for one in of.top().applications)  # noqa: E731
    run_until([other], waits, "the program waits")
    assert [one.agents for one in of.top().applications] == [1, 1]
    assert (folder / "field").stat().st_size == 0
    other.release()
    run_until([other], lambda: program.poll() is not None, "the program ends")
    said, _ = program.communicate(timeout=LIMIT_S)
    assert program.returncode == 0, said
    assert said.count(": coordinated, waited ") == RANKS[mpi], said
    assert said.count(", 0 phases out of turn") == RANKS[mpi], said
    check_field(folder / "field", RANKS[mpi])


@pytest.mark.parametrize(("mpi", "language"), CASES)
def test_nobody_waits_for_a_job_on_other_storage_targets(start: Start, tmp_path: Path, mpi: str, language: str) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    of = start(paths=[str(folder)], bounds={"starvation": "10 min"}, times=PATIENT)
    other = Agent(of, "other")
    other.phase = 1
    other.inform(targets=[2, 7])  # a phase without end
    run_until([other], has_turn(other), "the other job has the turn")
    command = command_of(mpi, language)
    program = start_example(command, folder / "field", of.config, 3, 17, HALCYON_COORDINATE_PATIENCE_MS="20000")
    run_until([other], lambda: program.poll() is not None, "the program ends")
    said, _ = program.communicate(timeout=LIMIT_S)
    assert program.returncode == 0, said
    assert said.count(", 0 phases out of turn") == RANKS[mpi], said
    assert other.has_turn
    check_field(folder / "field", RANKS[mpi])


@pytest.mark.parametrize(("mpi", "language"), CASES)
def test_without_a_coordinator_it_says_so_and_writes_the_same(tmp_path: Path, mpi: str, language: str) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    nobody = tmp_path / "coordinators.yaml"
    nobody.write_text("halcyon: 1\ncoordinators:\n  other: {paths: [/elsewhere], address: 'unix:/nowhere'}\n")
    program = start_example(command_of(mpi, language), folder / "field", nobody)
    said, _ = program.communicate(timeout=LIMIT_S)
    assert program.returncode == 0, said
    assert said.count(": uncoordinated, waited ") == RANKS[mpi], said
    check_field(folder / "field", RANKS[mpi])
