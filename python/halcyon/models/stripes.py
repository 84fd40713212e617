"""How many storage targets jobs use, and how many of their stripes meet on one (Wright 2014, chapter 6)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from halcyon.errors import UsageError
from halcyon.models.functions import ExpectedLoad, functions

STRIPES_OF_A_LOG = 2
"""Of each rank's data file, by Lustre's default of the time."""
GOOD_LOAD = 3.0
"""Up to here, targets perform well (section 6.3)."""
ACCEPTED_LOSS = 0.2
"""Of the bandwidth of one job, for far fewer targets: section 6.2 calls 14 and 20 % minor."""


@dataclass(frozen=True)
class Load:
    """A row of tables 6.2 to 6.4: `jobs` jobs of `request` stripes each. For logs, jobs are ranks."""

    jobs: int
    request: float
    requested: float
    in_use: float
    load: float


@dataclass(frozen=True)
class Compared:
    """Targets in use by equal jobs, as measured, and as expected."""

    measured_in_use: float
    expected: Load

    @property
    def measured_load(self) -> float:
        return self.expected.requested / self.measured_in_use

    @property
    def deviation(self) -> float:
        """Of the targets in use, as a share of those expected."""
        return self.measured_in_use / self.expected.in_use - 1


@dataclass(frozen=True)
class LoadTable:
    """Equal jobs on `total` targets: for each request in turn a row per number of jobs. `compared`: with what was
    measured."""

    total: int
    rows: list[Load]
    compared: list[Compared] = field(default_factory=list)


@dataclass(frozen=True)
class Logs:
    """Log-structured files: one of `stripes` stripes per rank (eq. 6.5 and 6.6)."""

    total: int
    stripes: int
    rows: list[Load]
    limit: float
    ranks_at_limit: int
    ranks_per_node: int
    compared: list[Compared] = field(default_factory=list)


@dataclass(frozen=True)
class MeasuredRequest:
    """What one job of `jobs` achieved with a request; of several measurements the mean."""

    request: int
    bytes_per_s: float


@dataclass(frozen=True)
class Weighed:
    """A request with its bandwidth and its load, each also as a share of those of the fastest request."""

    measured: MeasuredRequest
    expected: Load
    bandwidth_share: float
    in_use_share: float


@dataclass(frozen=True)
class Recommendation:
    """The smallest request that loses at most `accepted_loss` of the fastest one's bandwidth."""

    total: int
    jobs: int
    accepted_loss: float
    curve: list[Weighed]
    fastest: Weighed
    chosen: Weighed
    compared: list[Compared] = field(default_factory=list)


@dataclass(frozen=True)
class Purchase:
    """What keeps the load of `jobs` at or below `load`: a smaller request, or more targets."""

    total: int
    jobs: int
    request: int
    load_limit: float
    now: Load
    request_for_limit: Load
    """At least one stripe, with which the load may be above the limit."""
    targets_for_limit: int

    @property
    def limit_is_kept(self) -> bool:
        """By that request, but for rounding."""
        return self.request_for_limit.load <= self.load_limit * (1 + 1e-9)


def load_table(total: int, request: float, jobs: Sequence[int]) -> list[Load]:
    """Equations 6.2 to 6.4 for each number of jobs on `total` targets."""
    return [_row(functions().load_of_equal_jobs(total, request, each), each, request) for each in jobs]


def compare(total: int, jobs: int, request: int, in_use: float) -> Compared:
    """UsageError: no target in use, or more than there are, or than the jobs request."""
    most = min(total, jobs * request)
    if not 0 < in_use <= most:
        raise UsageError(f"{in_use:,g} targets in use by {jobs:,} jobs; expected more than 0 and at most {most:,}")
    return Compared(in_use, load_table(total, request, [jobs])[0])


def logs(
    total: int,
    ranks: Sequence[int],
    *,
    stripes: int = STRIPES_OF_A_LOG,
    limit: float = GOOD_LOAD,
    per_node: int = 1,
    compared: Sequence[Compared] = (),
) -> Logs:
    """Equations 6.5 and 6.6, with `stripes` for 2, and the ranks, in whole nodes, that bring the load to `limit`."""
    reached = functions().ranks_at_load(total, stripes, limit, per_node)
    return Logs(total, stripes, load_table(total, stripes, ranks), limit, reached, per_node, list(compared))


def recommend(
    total: int,
    jobs: int,
    measured: Sequence[MeasuredRequest],
    accepted_loss: float = ACCEPTED_LOSS,
    compared: Sequence[Compared] = (),
) -> Recommendation:
    """Weighs the bandwidth of one job against the load that `jobs` such jobs cause; of `compared`, what so many jobs
    used. UsageError: nothing measured, or a share out of bounds."""
    if not measured:
        raise UsageError("no measured request: a line per request with striping_factor and bytes_per_s is needed")
    if not 0 <= accepted_loss < 1:
        raise UsageError(f"accepted loss: {accepted_loss:g}; expected a share from 0 to below 1")
    best = max(measured, key=lambda one: one.bytes_per_s)
    most = _row(functions().load_of_equal_jobs(total, best.request, jobs), jobs, best.request)
    curve = []
    for one in sorted(measured, key=lambda one: one.request):
        expected = load_table(total, one.request, [jobs])[0]
        curve.append(Weighed(one, expected, one.bytes_per_s / best.bytes_per_s, expected.in_use / most.in_use))
    fastest = next(one for one in curve if one.measured is best)
    chosen = next(one for one in curve if one.bandwidth_share >= 1 - accepted_loss)
    own = [one for one in compared if one.expected.jobs == jobs]
    return Recommendation(total, jobs, accepted_loss, curve, fastest, chosen, own)


def purchase(total: int, jobs: int, request: int, load_limit: float) -> Purchase:
    """Section 6.4: what to request, or how many targets to buy, for a load of at most `load_limit`."""
    smaller = functions().request_for_load(total, jobs, load_limit)
    return Purchase(
        total, jobs, request, load_limit,
        now=load_table(total, request, [jobs])[0],
        request_for_limit=load_table(total, smaller, [jobs])[0],
        targets_for_limit=functions().targets_for_load([float(request)] * jobs, load_limit),
    )  # fmt: skip


def expected_histogram(total: int, requests: Sequence[float]) -> list[float]:
    """Element k: the expected number of targets that k of these jobs use, hence with k - 1 collisions."""
    return [total * chance for chance in functions().jobs_on_a_target(total, requests)]


def _row(load: ExpectedLoad, jobs: int, request: float) -> Load:
    return Load(jobs, request, load.requested, load.in_use, load.load)
