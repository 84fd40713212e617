"""A server that takes over from one that was killed, stopped before one of its system calls: killed there, or held."""

from dataclasses import dataclass
from pathlib import Path

from running import BUILDS, Case, Outcome, finish, stop_server, wait_for

STOPPED_SERVER = """\
#!/bin/sh
# The second server of the session is stopped at a step; the others run as they are.
[ "$4" = 2 ] || exec {server} "$@"
exec {tracer} {step} {mode} {report} {server} "$@"
"""

ITERATIONS, KILLED_AT = 12, 4


@dataclass(frozen=True)
class Takeover:
    """Which step (0: none) of the second server is hit, and how: `kill`, `hold` (until its successor serves, or the
    run has ended) or `slow` (it goes on before anybody gives it up)."""

    step: int
    mode: str

    def play(self, case: Case) -> Outcome:
        """The run, in which the first server is killed while iterations wait to be stored."""
        report = case.directory / "report"
        self.put_in_place(case, report)
        run = case.start(f"iterations={ITERATIONS}", "final_wait=1", case.gates(KILLED_AT))
        try:
            case.wait_at_gate(KILLED_AT)
            stop_server(case.server_process())
            case.open_gate(KILLED_AT)
            log = case.output / "server-n0000.log"
            if self.mode != "kill":
                wait_for(lambda: report.exists() or run.poll() is not None, what=f"step {self.step}")
            if self.mode == "hold":
                wait_for(lambda: "server 3 of" in log.read_text() or run.poll() is not None, what="the next server")
        finally:
            Path(f"{report}.go").touch()
        return finish(run)

    def put_in_place(self, case: Case, report: Path) -> None:
        build = BUILDS[case.mpi]
        program = case.directory / "server"
        tracer_mode = "kill" if self.mode == "kill" else "hold"
        program.write_text(
            STOPPED_SERVER.format(
                server=build / "bin/halcyon-server",
                tracer=build / "tests/stop_at_step",
                step=self.step,
                mode=tracer_mode,
                report=report,
            )
        )
        program.chmod(0o755)
        case.environment["HALCYON_SERVER"] = str(program)


def steps_of_a_takeover(case: Case) -> int:
    """How many system calls a server makes from its start until it has told that it took over."""
    report = case.directory / "report"
    Takeover(0, "kill").put_in_place(case, report)
    run = case.start(f"iterations={ITERATIONS}", "final_wait=1", case.gates(KILLED_AT))
    case.wait_at_gate(KILLED_AT)
    stop_server(case.server_process())
    log = case.output / "server-n0000.log"
    wait_for(lambda: "took over" in log.read_text(), what="the second server takes over")
    Path(f"{report}.count").touch()
    case.open_gate(KILLED_AT)
    finish(run)
    return int(report.read_text())
