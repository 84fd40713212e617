"""The functions of halcyon._core.models, with their types. Each raises UsageError for a value out of its bounds."""

from collections.abc import Sequence
from typing import Any, Protocol, cast

from halcyon.compiled import core


class ExpectedLoad(Protocol):
    """Of storage targets (Wright 2014, eq. 6.1 to 6.6)."""

    requested: float
    """Stripes of all jobs."""
    in_use: float
    """Targets with at least one stripe."""
    load: float
    """Stripes on a target in use; 0 where nothing is requested."""


class Functions(Protocol):
    """What the command line uses of the room models."""

    def load_of_jobs(self, targets: int, stripes: Sequence[float]) -> ExpectedLoad:
        """Of jobs that request so many targets each, at random places."""
        ...

    def load_of_equal_jobs(self, targets: int, stripes: float, jobs: int) -> ExpectedLoad:
        """Of `jobs` equal jobs; of logs, where a rank is a job of 2 stripes."""
        ...

    def ranks_at_load(self, targets: int, stripes: float, load: float, ranks_per_node: int = 1) -> int:
        """The least number of ranks, in whole nodes, whose logs reach this load."""
        ...

    def request_for_load(self, targets: int, jobs: int, load: float) -> int:
        """The largest request (at least 1) with which equal jobs keep the load."""
        ...

    def targets_for_load(self, stripes: Sequence[float], load: float) -> int:
        """The fewest targets with which these jobs keep the load."""
        ...

    def jobs_on_a_target(self, targets: int, stripes: Sequence[float]) -> list[float]:
        """Element k: the probability that k jobs use one target. Whole requests."""
        ...

    def targets_in_use(self, targets: int, stripes: Sequence[float]) -> list[float]:
        """Element u: the probability that u targets are in use. Whole requests; up to 65,536 targets."""
        ...


def functions() -> Functions:
    """UnavailableError: this installation lacks its compiled module."""
    return cast(Functions, cast(Any, core()).models)
