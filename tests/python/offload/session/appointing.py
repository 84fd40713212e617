"""A client that is killed while it appoints the next server, before one of the system calls of the thread that does."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from one_server import OneServerAtWork
from running import (
    BUILDS,
    Case,
    Outcome,
    finish,
    living_servers_of,
    processes_of,
    state_of,
    stop_server,
    wait_for,
)
from segment import Word, words
from stored import Key, check_nothing_is_half_done, check_values, recorded_missing

STORED, HANDED_OVER, ITERATIONS = 2, 5, 8
"""When the server ends, so many iterations are stored, and so many are handed over."""
SURVIVORS = {"openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--enable-recovery"]}
"""Launchers that let the other ranks go on when one dies."""


@dataclass(frozen=True)
class Appointing:
    """Rank 0 appoints, and is killed before this call; 0: it is not, and its calls are counted."""

    step: int

    def play(self, case: Case) -> Outcome:
        case.launcher = SURVIVORS[case.mpi]
        case.configure(nz="32", server="max-restarts: 20")
        vanish = "vanish=1" if self.step else "vanish=0"
        run = case.start(f"iterations={ITERATIONS}", "final_wait=1", vanish, case.gates(STORED, HANDED_OVER))
        case.wait_at_gate(STORED)
        server = case.server_process()
        os.kill(server, signal.SIGSTOP)
        case.open_gate(STORED)
        wait_for(lambda: words(server, Word.ENDED_THROUGH, 2) == [HANDED_OVER - 1] * 2, what="both are at the gate")
        # The launcher starts the ranks in their order.
        first, second = processes_of(run)
        with self.traced(case, first):
            with OneServerAtWork(case), stands_still(second):
                stop_server(server)
                wait_for(lambda: self.was_reached(case) or self.server_came(case), what="it dies, or a server comes")
            case.open_gate(HANDED_OVER)
            return finish(run)

    @contextmanager
    def traced(self, case: Case, client: int) -> Iterator[None]:
        report = self.report(case)
        tracer = BUILDS[case.mpi] / "tests/stop_at_step"
        with subprocess.Popen([tracer, str(self.step), "kill", report, "--thread", watcher_of(client)]):
            wait_for(Path(f"{report}.traced").exists, what="the thread is traced")
            yield

    def report(self, case: Case) -> Path:
        return case.directory / "report"

    def was_reached(self, case: Case) -> bool:
        return self.step > 0 and self.report(case).exists()

    @staticmethod
    def server_came(case: Case) -> bool:
        return "took over as server" in (case.output / "server-n0000.log").read_text()


def watcher_of(client: int) -> str:
    """The number of the thread that looks whether the server is there."""
    tasks = Path(f"/proc/{client}/task").iterdir()
    return next(task.name for task in tasks if (task / "comm").read_text().strip() == "halcyon-watch")


def watches(client: int) -> bool:
    """Whether it has that thread, which ends when the client knows that no server comes any more."""
    for task in Path(f"/proc/{client}/task").iterdir():
        with suppress(FileNotFoundError):  # the thread has just ended
            if (task / "comm").read_text().strip() == "halcyon-watch":
                return True
    return False


@contextmanager
def stands_still(process: int) -> Iterator[None]:
    os.kill(process, signal.SIGSTOP)
    try:
        wait_for(lambda: state_of(process) == "T", what=f"process {process} stands still")
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def lost_blocks(died: bool) -> set[Key]:
    """Those of rank 0 that it had not handed over when it died, if it did."""
    return {("theta", i, 0) for i in range(HANDED_OVER, ITERATIONS)} if died else set()


def check_values_after(case: Case, died: bool) -> None:
    """Of rank 0 is stored what it had handed over, of rank 1 everything."""
    wait_for(lambda: not living_servers_of(case), what="the servers exit")
    every = {("theta", i, rank) for i in range(ITERATIONS) for rank in range(2)}
    lost = lost_blocks(died)
    assert (set(check_values(case)), recorded_missing(case)) == (every - lost, lost)


def check_counts_after(case: Case, outcome: Outcome, died: bool) -> None:
    counts = case.counts()
    lost = len(lost_blocks(died))
    assert (counts["iterations"], counts["missing_blocks"], counts["dead_clients"]) == (ITERATIONS, lost, 2)
    assert counts["blocks"] == 2 * ITERATIONS - lost
    assert counts["server_restarts"] == outcome.ranks[1]["restarts"] >= 1
    assert counts["rejected_blocks"] == counts["failed_files"] == 0
    check_nothing_is_half_done(case)


def steps_of_an_appointment(case: Case) -> int:
    """How many calls the thread makes from the end of the server until its own end."""
    count = Appointing(0)
    count.play(case)
    report = count.report(case)
    wait_for(lambda: report.exists() and report.read_text(), what="the calls are counted")
    return int(report.read_text())
