"""The first servers of a session, killed before one of their system calls while the session opens."""

from dataclasses import dataclass
from pathlib import Path

from running import BUILDS, Case, Outcome, finish, wait_for

ITERATIONS, NZ = 3, 4
MOST_KILLED = 3
"""One less than an open starts."""

FIRST_SERVERS = """\
#!/bin/sh
# Each start appends a line; the first of them are stopped at a step.
echo >>{starts}
start=$(wc -l <{starts})
[ $start -gt {killed} ] || exec {tracer} {step} kill {report}-$start {server} "$@"
exec {server} "$@"
"""


@dataclass(frozen=True)
class Opening:
    """A run of which the first `killed` servers are killed before this call."""

    step: int
    killed: int

    def play(self, case: Case) -> Outcome:
        case.configure(nz=str(NZ))
        self.put_in_place(case)
        return case.run(f"iterations={ITERATIONS}")

    def put_in_place(self, case: Case) -> None:
        build = BUILDS[case.mpi]
        case.start_servers_by(
            FIRST_SERVERS.format(
                starts=case.directory / "starts", killed=self.killed, tracer=build / "tests/stop_at_step",
                step=self.step, report=case.directory / "report", server=build / "bin/halcyon-server",
            )
        )  # fmt: skip

    def was_reached(self, case: Case) -> bool:
        return all((case.directory / f"report-{start}").exists() for start in range(1, self.killed + 1))

    @staticmethod
    def starts(case: Case) -> int:
        return len((case.directory / "starts").read_text().splitlines())


def steps_of_an_opening(case: Case) -> int:
    """How many system calls the first server makes until every rank's session is open."""
    case.configure(nz=str(NZ))
    count = Opening(0, killed=1)
    count.put_in_place(case)
    run = case.start(f"iterations={ITERATIONS}", case.gates(0))
    report = case.directory / "report-1"
    wait_for((case.output / "run.json").exists, what="the session is open")
    Path(f"{report}.count").touch()
    case.open_gate(0)
    finish(run)
    return int(report.read_text())
