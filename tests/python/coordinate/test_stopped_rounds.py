"""Collective writes that are stopped in each of their rounds: no rank goes further than another one."""

import os
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import namespaces
import pytest
from coordinated_run import said_by, write
from coordinator_process import PATIENT, CoordinatorProcess
from gated_collective import REGIONS, Gates, expected
from scripted_agents import Agent, has_turn, run_until

Start = Callable[..., CoordinatorProcess]

pytestmark = pytest.mark.usefixtures("library")

SECRET = "known-to-all-nodes-of-the-job"


@dataclass(frozen=True)
class Launch:
    """`aggregators`: the two ranks that write, so many times in each collective call."""

    mpi: str
    ranks: int
    aggregators: tuple[int, int]
    rounds: int
    options: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    """Of OMPIO."""

    @property
    def variables(self) -> dict[str, str]:
        return {f"OMPI_MCA_{name}": value for name, value in self.settings.items()}


# OMPIO's own choice of an algorithm hands the rounds of a larger call to aio, which is never held back.
LAUNCHES = {
    "romio": Launch("mpich", 2, (0, 1), 8, [str(64 << 10)]),
    "ompio": Launch("openmpi", 4, (0, 2), 1),
    "ompio-in-rounds": Launch(
        "openmpi", 4, (0, 2), 8,
        settings={"fcoll": "two_phase", "io_ompio_num_aggregators": "2", "io_ompio_bytes_per_agg": str(128 << 10)},
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Stop:
    """The rank `ahead` has a transfer under way when the turn is called back, in this round of this collective call;
    `behind` has not begun its own, and must, since the first one may wait for it."""

    collective: int
    round: int
    number: int
    """Of the transfer, over all calls."""
    ahead: int
    behind: int


def all_stops(launch: Launch) -> list[Stop]:
    """One in each collective write but the first, behind which it is known who the aggregators are."""
    ways = [
        (*ranks, k) for ranks in (launch.aggregators, launch.aggregators[::-1]) for k in range(1, launch.rounds + 1)
    ]
    # The view is set collectively, too.
    return [Stop(2 * (n + 1), k, n * launch.rounds + k, *ranks) for n, (*ranks, k) in enumerate(ways, 1)]


class StoppedRun:
    """A program of MPI in `memory`, a newer application for which it is stopped, and one more node of the program's
    job, which hears what all nodes are told, and keeps a stop waiting for its answers."""

    def __init__(self, of: CoordinatorProcess, memory: Path, launch: Launch, launcher: Sequence[str]) -> None:
        self.launch = launch
        self.file = memory / "shared"
        self._gates = Gates(memory.parent / "gates", self.file, launch.mpi)
        stops = all_stops(launch)
        for stop in stops:
            self._gates.close("below", stop.ahead, stop.number)
            self._gates.close("above", stop.behind, stop.number)
        done = memory.parent / "done"
        done.touch()
        self._newest = Agent(of, "newest")
        steps = str(max(len(stops) + 1, REGIONS))
        command = [*launcher, str(self._gates.program), str(self.file), str(done), steps, *launch.options]
        job = {"HALCYON_JOB": f"rounds-{os.getpid()}-{launch.mpi}", "HALCYON_JOB_SECRET": SECRET}
        self._program = write(
            of, self.file.parent, command=command, variables=os.environ | self._gates.variables | launch.variables | job
        )
        names = lambda: [one.job for one in of.top().applications if one.job != "newest"]  # noqa: E731
        self._agents = [self._newest]
        self._until(names, "the ranks are registered")
        self._there = Agent(of, names()[0], node="elsewhere", secret=SECRET)
        self._there.stops = False
        self._agents.append(self._there)

    def _until(self, condition: Callable[[], Any], what: str) -> None:
        run_until(self._agents, lambda: condition() or self._program.poll() is not None, what)
        assert self._program.poll() is None, self._program.communicate()[0]

    def stop(self, at: Stop) -> None:
        gates, there = self._gates, self._there
        self._until(lambda: gates.is_reached("below", at.ahead, at.number), "a transfer is under way")
        self._until(lambda: gates.is_reached("above", at.behind, at.number), "another one is about to begin")
        there.heard.clear()
        self._newest.begin()
        self._until(lambda: there.of_type("recall"), "the turn is called back")
        gates.open("above", at.behind, at.number)
        self._until(lambda: gates.is_left("above", at.behind, at.number), "the other one comes to its transfer")
        there.answer(there.of_type("recall")[-1])
        self._until(lambda: there.of_type("stop"), "the round is named")
        assert there.of_type("stop")[-1]["round"] == (at.collective << 32 | at.round) + 1
        there.answer(there.of_type("stop")[-1])
        gates.open("below", at.ahead, at.number)
        self._until(has_turn(self._newest), "the newest one has the turn")
        assert [gates.ended(rank) for rank in self.launch.aggregators] == [at.number] * 2
        self._newest.release()

    def end(self) -> str:
        """What it said."""
        run_until(self._agents, lambda: self._program.poll() is not None, "the program ends")
        return said_by(self._program)

    def close(self) -> None:
        if self._program.poll() is None:
            os.killpg(self._program.pid, signal.SIGKILL)
            self._program.communicate()


@pytest.fixture(autouse=True)
def prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"):
        monkeypatch.setenv(name, "1")


def stop_everywhere(of: CoordinatorProcess, memory: Path, launch: Launch, launcher: Sequence[str]) -> None:
    run = StoppedRun(of, memory, launch, launcher)
    try:
        for stop in all_stops(launch):
            run.stop(stop)
        said = run.end()
    finally:
        run.close()
    assert f"{launch.ranks} processes took turns" in said
    assert "out of turn" not in said
    assert "went on without a process" not in said
    assert run.file.read_bytes() == expected(launch.ranks)


@pytest.mark.parametrize("launch", LAUNCHES.values(), ids=LAUNCHES)
def test_ranks_stop_behind_the_same_round_whichever_that_is(start: Start, memory: Path, launch: Launch) -> None:
    if not (shutil.which(f"mpicc.{launch.mpi}") and shutil.which(f"mpirun.{launch.mpi}")):
        pytest.skip(f"{launch.mpi} is not installed")
    of = start(paths=[str(memory)], policy="interrupt", times=PATIENT | {"stop": "60 s"})
    stop_everywhere(of, memory, launch, [f"mpirun.{launch.mpi}", "-n", str(launch.ranks)])


@pytest.mark.skipif(bool(namespaces.unavailable()), reason=namespaces.unavailable())
def test_ranks_of_two_nodes_stop_behind_the_same_round_whichever_that_is(
    start: Start, memory: Path, tmp_path: Path
) -> None:
    """Each node has an agent of its own, and the ranks are not in the same round when they are asked."""
    if not (shutil.which("mpicc.mpich") and shutil.which("mpiexec.mpich")):
        pytest.skip("mpich is not installed")
    named = tmp_path / "named"
    named.write_text('#!/bin/sh\nhostname "$1" && shift && exec "$@"\n')
    named.chmod(0o755)
    of = start(paths=[str(memory)], policy="interrupt", times=PATIENT | {"stop": "60 s"})
    with namespaces.two_nodes(tmp_path, f"unshare --uts {named} second", "mpich") as launcher:
        command = ["unshare", "--uts", str(named), "first", *launcher, "-n", "2"]
        stop_everywhere(of, memory, LAUNCHES["romio"], command)
