"""Servers that take over, stopped before one of their system calls: killed there, or held."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from one_server import OneServerAtWork
from running import BUILDS, Case, Outcome, finish, stop_server, wait_for
from stored import check_whole_counts

STOPPED_SERVERS = """\
#!/bin/sh
# Some servers of the session are stopped at a step; the others run as they are.
case "$4" in
{hits}
esac
exec {server} "$@"
"""

ITERATIONS, KILLED_AT, NZ = 12, 4, 32


@dataclass(frozen=True)
class Hit:
    """Which step (0: none) of which server is hit, and how: `kill`, `hold` (until its successor serves, or the run has
    ended) or `slow` (it goes on before anybody gives it up)."""

    step: int
    mode: str
    server: int = 2

    def report(self, case: Case) -> Path:
        return case.directory / f"report-{self.server}"

    def was_reached(self, case: Case) -> bool:
        return self.report(case).exists()


@dataclass(frozen=True)
class Takeover:
    """A run whose first server is killed while iterations wait to be stored; later servers are hit."""

    hits: tuple[Hit, ...]

    def play(self, case: Case) -> Outcome:
        held = any(hit.mode == "hold" for hit in self.hits)
        # Short for a server that is held, long for one that is only slow on a busy machine.
        case.configure(nz=str(NZ), server=f"max-restarts: 20, hang-timeout: {'1 s' if held else '60 s'}")
        self.put_in_place(case)
        run = case.start(f"iterations={ITERATIONS}", "final_wait=1", case.gates(KILLED_AT))
        try:
            case.wait_at_gate(KILLED_AT)
            with OneServerAtWork(case):
                stop_server(case.server_process())
                case.open_gate(KILLED_AT)
                for hit in self.hits:
                    if hit.mode != "kill":
                        self.let_go_in_time(hit, case, lambda: run.poll() is not None)
                return finish(run)
        finally:
            for hit in self.hits:
                Path(f"{hit.report(case)}.go").touch()

    @staticmethod
    def let_go_in_time(hit: Hit, case: Case, is_over: Callable[[], bool]) -> None:
        wait_for(lambda: hit.was_reached(case) or is_over(), what=f"step {hit.step}")
        if hit.mode == "hold":
            log = case.output / "server-n0000.log"
            replaced = f"server {hit.server + 1} of"
            wait_for(lambda: replaced in log.read_text() or is_over(), what="the next server")
        Path(f"{hit.report(case)}.go").touch()

    def put_in_place(self, case: Case) -> None:
        build = BUILDS[case.mpi]
        server, tracer = build / "bin/halcyon-server", build / "tests/stop_at_step"
        hits = "\n".join(
            f"{hit.server}) exec {tracer} {hit.step} {'kill' if hit.mode == 'kill' else 'hold'} {hit.report(case)} "
            f'{server} "$@" ;;'
            for hit in self.hits
        )
        case.start_servers_by(STOPPED_SERVERS.format(server=server, hits=hits))


def check_counts_after(case: Case, outcome: Outcome) -> None:
    """All is counted, and as many restarts as servers have come to serve after the first."""
    check_whole_counts(case, ITERATIONS)
    restarts = case.counts()["server_restarts"]
    assert 1 <= restarts <= (case.output / "server-n0000.log").read_text().count("took over as server")
    assert [rank["restarts"] for rank in outcome.ranks.values()] == [restarts] * case.ranks


def steps_of_a_takeover(case: Case) -> int:
    """How many system calls a server makes from its start until it has told that it took over."""
    case.configure(nz=str(NZ))
    count = Hit(0, "kill")
    Takeover((count,)).put_in_place(case)
    run = case.start(f"iterations={ITERATIONS}", "final_wait=1", case.gates(KILLED_AT))
    case.wait_at_gate(KILLED_AT)
    stop_server(case.server_process())
    log = case.output / "server-n0000.log"
    wait_for(lambda: "took over" in log.read_text(), what="the second server takes over")
    Path(f"{count.report(case)}.count").touch()
    case.open_gate(KILLED_AT)
    finish(run)
    return int(count.report(case).read_text())
