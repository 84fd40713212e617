"""Telling coordinators of jobs that Slurm starts and ends: what its prolog and epilog do."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from halcyon.coordinate.configuration import default_file, read_coordinators
from halcyon.coordinate.connection import Connection
from halcyon.coordinate.jobs import end_job, reserve_job, tell_each
from halcyon.errors import UsageError

PATIENCE_S = 2.0
"""For each step of talking with a coordinator: a job waits meanwhile."""


@dataclass(frozen=True)
class Job:
    """Of Slurm, by the environment of a prolog or epilog."""

    number: str
    user: int
    processors: int
    """0: not known. No job has more processes, but one that shares processors among them."""
    nodes: int
    """0: not known."""

    @classmethod
    def of_script(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """UsageError: this is no prolog or epilog."""
        number, user = environment.get("SLURM_JOB_ID", ""), environment.get("SLURM_JOB_UID", "")
        if not number.isdecimal() or not user.isdecimal():
            raise UsageError(
                f"SLURM_JOB_ID is {number!r} and SLURM_JOB_UID {user!r}; expected two numbers: this is for a prolog or "
                "epilog of Slurm. For other batch systems: halcyon coordinator reserve, and end"
            )
        nodes = environment.get("SLURM_JOB_NUM_NODES", "")
        processors = _processors_in(environment.get("SLURM_JOB_CPUS_PER_NODE", ""))
        return cls(number, int(user), processors, int(nodes) if nodes.isdecimal() else 0)

    @property
    def name(self) -> str:
        """At coordinators: its applications are named after it (job_identity.cpp)."""
        return f"slurm-{self.number}"


def announce_begin(job: Job, file: Path | None = None) -> list[str]:
    """To all coordinators of the file, by default this machine's; says what went wrong, coordinator by coordinator."""
    return _tell_all(file, lambda to: reserve_job(to, job.name, job.user, job.processors, job.nodes))


def announce_end(job: Job, file: Path | None = None) -> list[str]:
    """As announce_begin."""
    return _tell_all(file, lambda to: end_job(to, job.name))


def _tell_all(file: Path | None, tell: Callable[[Connection], object]) -> list[str]:
    told = tell_each(read_coordinators(file or default_file()), tell, PATIENCE_S)
    return [f"{name}: {why}" for name, why in told.failed.items()]


def _processors_in(text: str) -> int:
    """Slurm writes `72(x2),36` for nodes of 72, 72 and 36; 0: it cannot be read."""
    each = [re.fullmatch(r"([0-9]+)(?:\(x([0-9]+)\))?", one) for one in text.split(",")]
    return sum(int(one[1]) * int(one[2] or 1) for one in each if one) if all(each) else 0
