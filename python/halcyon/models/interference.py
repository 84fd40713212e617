"""How probable it is that applications do I/O at once, and what it costs them (Dorier 2014, chapter 6)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from halcyon.errors import UsageError
from halcyon.models import functions as room
from halcyon.models.functions import functions
from halcyon.models.workload import Workload


@dataclass(frozen=True)
class Probability:
    """Of I/O at once, where each application spends `io_share` of its time in I/O."""

    io_share: float
    two_or_more: float
    """At a moment, two or more applications are in I/O (eq. 6.2)."""
    another: float
    """An application that starts its I/O finds another one in I/O (slides)."""


@dataclass(frozen=True)
class SizeShare:
    """A step of figure 6.1 a: jobs on at most so many cores."""

    cores: int
    of_jobs: float
    of_job_time: float
    """Weighed by how long they ran."""


@dataclass(frozen=True)
class Concurrency:
    """What figure 6.1 shows of a workload, and the probabilities that follow from it."""

    jobs: int
    left_out: dict[str, int]
    span_s: float
    """From the first start to the last end."""
    running: list[float]
    """Element n: the share of the time in which n jobs run."""
    of_unknown_size: int
    """Jobs that are not in `sizes`."""
    sizes: list[SizeShare]
    """By their cores."""
    probabilities: list[Probability]

    @property
    def mean_running(self) -> float:
        return math.fsum(n * share for n, share in enumerate(self.running))

    @property
    def median_running(self) -> int:
        return self.running_in(0.5)

    def running_in(self, share: float) -> int:
        """In this share of the time, so many jobs run, or fewer."""
        within = (n for n, sum_ in enumerate(accumulate(self.running)) if sum_ >= share)
        return next(within, len(self.running) - 1)


@dataclass(frozen=True)
class Constant:
    """A machine on which always the same number of jobs run."""

    jobs_at_once: int
    probabilities: list[Probability]


@dataclass(frozen=True)
class Point:
    """Times of both phases in seconds where B starts `delta_s` after A (before it, where negative)."""

    delta_s: float
    a_s: float
    b_s: float
    a_factor: float
    """Interference factor: time over time alone."""
    b_factor: float
    core_seconds: float
    """Spent in I/O: the sum over both of cores times time (eq. 6.4)."""

    @property
    def factors(self) -> float:
        """The sum of both interference factors."""
        return self.a_factor + self.b_factor


@dataclass(frozen=True)
class Best:
    """Policies with the least of each at a delay of B; all that are equal."""

    delta_s: float
    core_seconds: list[str]
    factors: list[str]


@dataclass(frozen=True)
class DeltaGraph:
    """Expected, one curve per policy. Eq. 6.5, in seconds: B, which starts after A, should interrupt A where it starts
    earlier than `b_interrupts_before_s` after it rather than wait; and A, after B, the same. 0: it should wait."""

    a: "Phase"
    b: "Phase"
    curves: dict[str, list[Point]]
    b_interrupts_before_s: float
    a_interrupts_before_s: float

    @property
    def best(self) -> list[Best]:
        """One per delay."""
        delays = zip(*self.curves.values(), strict=True)
        return [
            Best(at[0].delta_s, _least([one.core_seconds for one in at]), _least([one.factors for one in at]))
            for at in delays
        ]


@dataclass(frozen=True)
class Phase:
    """An I/O phase: time alone in seconds; share of the storage's bandwidth it takes alone; weight against others;
    cores that wait for it."""

    alone_s: float
    demand: float = 1.0
    weight: float = 1.0
    cores: float = 1.0


@dataclass(frozen=True)
class Files:
    """Files that so many ranks create."""

    ranks: int
    shared: int
    one_per_rank: int
    logs: int


POLICIES = ("interfere", "fcfs", "interrupt")
EQUAL = 1e-9
"""Relative: what differs by less is equal."""


def concurrency(workload: Workload, io_shares: Sequence[float]) -> Concurrency:
    """Of a workload, for each share of time that applications spend in I/O (0 to 1)."""
    running = functions().running_at_once(workload.starts_s, workload.ends_s)
    return Concurrency(
        len(workload.starts_s),
        workload.left_out,
        max(workload.ends_s) - min(workload.starts_s),
        running,
        sum(cores <= 0 for cores in workload.cores),
        _sizes(workload),
        probabilities(running, running, io_shares),
    )


def constant(jobs_at_once: int, io_shares: Sequence[float]) -> Constant:
    """Each of these jobs meets the others, which are one fewer."""
    if jobs_at_once < 1:
        raise UsageError(f"jobs at once: {jobs_at_once}; expected 1 or more")
    others = [0.0] * (jobs_at_once - 1) + [1.0]
    return Constant(jobs_at_once, probabilities([0.0, *others], others, io_shares))


def probabilities(running: Sequence[float], others: Sequence[float], io_shares: Sequence[float]) -> list[Probability]:
    """`running`: element n is the probability that n applications run; `others`: that an application which starts its
    I/O meets n others, for which the slides take the same distribution."""
    ask = functions()
    return [
        Probability(share, ask.probability_of_two(running, share), ask.probability_of_another(others, share))
        for share in io_shares
    ]


def delta_graph(a: Phase, b: Phase, deltas_s: Sequence[float]) -> DeltaGraph:
    """Under each policy. UsageError: a value out of its bounds."""
    if not deltas_s:
        raise UsageError("no delays of B: a Δ-graph needs one or more")
    curves = {name: [_point(a, b, delta_s, getattr(functions().Arbitration, name.upper())) for delta_s in deltas_s]
              for name in POLICIES}  # fmt: skip
    pays_before = functions().interruption_pays_before
    return DeltaGraph(a, b, curves, pays_before(_of_room(a), _of_room(b)), pays_before(_of_room(b), _of_room(a)))


def deltas(a: Phase, b: Phase, points: int) -> list[float]:
    """From where B ends as A starts to where A has ended, and a fifth more on both sides; 0 is one of them."""
    if points < 2:
        raise UsageError(f"points: {points}; expected 2 or more")
    reach = 0.2 * max(a.alone_s, b.alone_s)
    low, high = -(b.alone_s + reach), a.alone_s + reach
    return sorted({0.0, *(low + (high - low) * i / (points - 1) for i in range(points))})


def files(ranks: Sequence[int]) -> list[Files]:
    """Of a shared file, one per rank, and logs."""
    uses = functions().FileUse
    count = functions().files_created
    return [Files(n, count(uses.SHARED, n), count(uses.ONE_PER_RANK, n), count(uses.LOGS, n)) for n in ranks]


def _point(a: Phase, b: Phase, delta_s: float, way: room.Way) -> Point:
    phases = _of_room(a), _of_room(b)
    a_s, b_s = functions().expected_times(*phases, delta_s, way)
    cost = functions().core_seconds(*phases, delta_s, way)
    return Point(delta_s, a_s, b_s, a_s / a.alone_s, b_s / b.alone_s, cost)


def _of_room(phase: Phase) -> room.Phase:
    return functions().IoPhase(phase.alone_s, demand=phase.demand, weight=phase.weight, cores=phase.cores)


def _least(values: Sequence[float]) -> list[str]:
    least = min(values)
    return [name for name, value in zip(POLICIES, values, strict=True) if value <= least * (1 + EQUAL)]


def _sizes(workload: Workload) -> list[SizeShare]:
    jobs: dict[int, int] = {}
    time_s: dict[int, float] = {}
    for start_s, end_s, cores in zip(workload.starts_s, workload.ends_s, workload.cores, strict=True):
        if cores > 0:
            jobs[cores] = jobs.get(cores, 0) + 1
            time_s[cores] = time_s.get(cores, 0.0) + end_s - start_s
    sizes = sorted(jobs)
    all_jobs, all_time_s = sum(jobs.values()), math.fsum(time_s.values())
    counted = accumulate(jobs[cores] for cores in sizes)
    timed = accumulate(time_s[cores] for cores in sizes)
    return [
        SizeShare(cores, count / all_jobs, time / all_time_s)
        for cores, count, time in zip(sizes, counted, timed, strict=True)
    ]
