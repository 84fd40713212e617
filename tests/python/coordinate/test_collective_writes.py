"""Collective writes that others interrupt: no rank waits for one that is held back."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinated_run import write
from coordinator_process import LIMIT_S, PATIENT, CoordinatorProcess, wait_until

from halcyon.layers.agent_facts import read_agents
from halcyon.layers.coordination import read_turns

Start = Callable[..., CoordinatorProcess]
SOURCE = Path(__file__).resolve().parents[2] / "coordinate/programs/collective.c"
STEPS, REGIONS, PIECES, PIECE = 8, 8, 128, 4096
"""As in the program."""
OTHERS, STOPS = 5, 3
"""Others that come while the ranks write. So many of them stop the ranks, at least: on a busy machine, a phase of the
ranks may end by itself."""


@pytest.fixture(autouse=True)
def prepared(library: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"):
        monkeypatch.setenv(name, "1")


def expected(ranks: int) -> bytes:
    return b"".join(bytes([piece % 251]) * PIECE for piece in range(REGIONS * PIECES * ranks))


# With a small buffer, a call of ROMIO has many rounds. OMPIO would hand them to aio, which is never held back.
@pytest.mark.parametrize(
    ("mpi", "ranks", "more"), [("mpich", 2, ["32768"]), ("openmpi", 4, [])], ids=["romio", "ompio"]
)
def test_interrupted_collective_writes_end_and_lose_nothing(
    start: Start, tmp_path: Path, mpi: str, ranks: int, more: list[str]
) -> None:
    if not (shutil.which(f"mpicc.{mpi}") and shutil.which(f"mpirun.{mpi}")):
        pytest.skip(f"{mpi} is not installed")
    program = tmp_path / "collective"
    subprocess.run([f"mpicc.{mpi}", "-O1", SOURCE, "-o", program], check=True)
    folder, done = tmp_path / "scratch", tmp_path / "done"
    folder.mkdir()
    of = start(paths=[str(folder)], policy="interrupt", times=PATIENT | {"stop": "60 s"})
    command = [f"mpirun.{mpi}", "-n", str(ranks), str(program), f"{folder}/shared", str(done), str(STEPS), *more]
    collective = write(of, folder, command=command)
    trace = tmp_path / "collective.halcyon" / "trace"
    wait_until(lambda: of.count("moved_bytes") > 0, "the ranks write")
    (ranks_job,) = [one.job for one in of.top().applications]

    def ranks_move() -> bool:
        return any(one.job == ranks_job and one.state == "moving" for one in of.top().applications)

    for _ in range(OTHERS):
        wait_until(ranks_move, "the ranks have their turn again")
        said, _ = write(of, folder, name="other").communicate(timeout=LIMIT_S)
        assert "1 process took turns: 8.39 MB in turn" in said
    assert collective.poll() is None
    done.touch()
    said, _ = collective.communicate(timeout=LIMIT_S)
    assert collective.returncode == 0, said
    assert f"{ranks} processes took turns" in said
    assert "out of turn" not in said
    assert "went on without a process" not in said
    assert (folder / "shared").read_bytes() == expected(ranks)
    assert read_agents(trace).counts["recalls"] >= STOPS
    assert read_turns(trace).counts["waited_ns"] > 0
