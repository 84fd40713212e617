"""Starts what works on log containers in the background, behind the command that writes them."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from halcyon.compiled import load_compiled
from halcyon.installed_program import find_installed
from halcyon.layers.coordination import Coordination
from halcyon.layers.job import Job
from halcyon.layers.logs import Logs
from halcyon.quantities import parse_bytes

DEFAULT_RATE = "100 MB"
"""Written per second, so that other I/O of the node is hardly disturbed."""
REPORT = ".halcyon-left-alone"
"""In the first of the directories, for as long as there are containers that the agent leaves alone."""
_PATIENCE_MS = 10_000


@dataclass(frozen=True)
class Flattening:
    """Containers that nobody has open become plain files, while the command runs and after it."""

    rate: str = DEFAULT_RATE
    """Bytes per second, such as '100 MB'; '0': as fast as it goes."""

    def words(self) -> list[str]:
        """Of the agent's command line. UsageError: the rate is none."""
        return ["--flatten", "--rate", str(parse_bytes(self.rate, "--flatten-rate"))]


def start_agent(logs: Logs, flattening: Flattening, coordination: Coordination | None) -> None:
    """Starts the agent, which outlives this process and works until there is nothing more to do.

    With a coordination it takes turns as a job of its own. UsageError: a directory or the rate is none;
    UnavailableError: this installation lacks the agent, or it did not come up.
    """
    logs.variables()  # says what is wrong with the directories
    directories = [os.path.realpath(one) for one in logs.directories]
    words = ["--detach", *flattening.words(), "--job", str(os.getpid())]
    words += ["--report", str(Path(directories[0], REPORT))]
    variables: dict[str, str] = {}
    if coordination is not None:
        variables = replace(coordination, job=Job.new()).variables()
        words.append("--turns")
    program = find_installed("halcyon-log-agent", "HALCYON_LOG_AGENT")
    load_compiled("_logfs").start_agent(
        str(program), [*words, *directories], [f"{name}={value}" for name, value in variables.items()], _PATIENCE_MS
    )
