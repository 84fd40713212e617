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


class Phase(Protocol):
    """One I/O phase: its time alone in seconds, the share of the bandwidth that it takes alone, its weight against
    others, and the cores that wait for it."""

    alone_s: float
    demand: float
    weight: float
    cores: float


class Way(Protocol):
    """What becomes of two phases that overlap."""

    INTERFERE: "Way"
    FCFS: "Way"
    INTERRUPT: "Way"


class Use(Protocol):
    """Files of an application's ranks."""

    SHARED: "Use"
    ONE_PER_RANK: "Use"
    LOGS: "Use"


class Dedication(Protocol):
    """Seconds of one iteration: output by all cores after computation, and output by a core left to it."""

    standard_s: float
    dedicated_s: float
    pays: bool
    """eq. 3.2"""


class LeastIo(Protocol):
    """With which a dedicated core pays."""

    over_computation: float
    share_of_time: float


class Run(Protocol):
    """Eq. 5.2"""

    run_time_s: float


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

    def running_at_once(self, starts_s: Sequence[float], ends_s: Sequence[float]) -> list[float]:
        """Element n: the share of the time in which n applications run."""
        ...

    def in_io_at_once(self, at_once: Sequence[float], io_share: float) -> list[float]:
        """Element k: the probability that k applications are in I/O (Dorier 2014, eq. 6.1)."""
        ...

    def probability_of_two(self, at_once: Sequence[float], io_share: float) -> float:
        """Two or more are in I/O (eq. 6.2)."""
        ...

    def probability_of_another(self, at_once: Sequence[float], io_share: float) -> float:
        """An application that starts its I/O finds another one in I/O."""
        ...

    def probability_of_start_within(self, alone_s: float, window_s: float) -> float:
        """B starts while A writes, both once within the window (eq. 6.3)."""
        ...

    Arbitration: Way
    FileUse: Use

    def files_created(self, use: Use, ranks: int) -> int:
        """By so many ranks."""
        ...

    def IoPhase(  # noqa: N802
        self, alone_s: float, *, demand: float = 1.0, weight: float = 1.0, cores: float = 1.0
    ) -> Phase: ...

    def expected_times(self, a: Phase, b: Phase, delta_s: float, way: Way) -> tuple[float, float]:
        """Seconds of A and of B, which starts `delta_s` after A."""
        ...

    def core_seconds(self, a: Phase, b: Phase, delta_s: float, way: Way) -> float:
        """Of both, in I/O (eq. 6.4)."""
        ...

    def interruption_pays_before(self, a: Phase, b: Phase) -> float:
        """Seconds after A's start (eq. 6.5)."""
        ...

    def dedicate_one_core(
        self, compute_s: float, write_s: float, dedicated_write_s: float, cores_per_node: int
    ) -> Dedication:
        """Dorier 2014, eq. 3.2 and 3.3; `compute_s`: on all cores."""
        ...

    def least_io_to_dedicate(self, cores_per_node: int) -> LeastIo:
        """Section 3.5.1."""
        ...

    def ScaledRun(  # noqa: N802
        self,
        *,
        base_s: float,
        iterations: int,
        cores: int,
        core_efficiency: float,
        nodes: int,
        node_efficiency: float,
    ) -> Run:
        """`base_s`: one iteration on one core; `cores` of each of `nodes` nodes compute."""
        ...

    def mean_power_w(self, max_w: float, idle_w: float, compute_nodes: int, dedicated_nodes: int) -> float:
        """Of a node (eq. 5.3 and 5.4)."""
        ...

    def energy_j(self, run: Run, max_w: float, idle_w: float, dedicated_nodes: int) -> float:
        """Of all nodes (eq. 5.1)."""
        ...


def functions() -> Functions:
    """UnavailableError: this installation lacks its compiled module."""
    return cast(Functions, cast(Any, core()).models)
