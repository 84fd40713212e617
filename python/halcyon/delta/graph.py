"""A measured Δ-graph: interference factors over the delay for each policy, beside what the model expects."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

from halcyon.delta.estimate import CONFIDENCE, Estimate, estimate, sum_of_ratios
from halcyon.delta.measuring import ALONE, HALF_WIDTH, of_key, problems_of
from halcyon.delta.runs import Key, Run, Told
from halcyon.delta.turns import UNCOORDINATED, policies
from halcyon.errors import UsageError
from halcyon.models import interference
from halcyon.models.interference import DeltaGraph, Phase

MEET = 0.985
"""Of the times alone: delays are in units of the first of these, and the mean may come to be another one."""


@dataclass(frozen=True)
class Parts:
    """Of a command's time in I/O, means in seconds: at least one process transfers; none does, and the thread that
    waited longest for its turn would account for it; and the rest, such as communication."""

    transfer_s: float
    waiting_s: float
    rest_s: float


@dataclass(frozen=True)
class Measured:
    """A point: B's I/O started `dt_s` after A's, as the gates saw it (`dt_ns`: as wanted)."""

    policy: str
    dt_ns: int
    dt_s: float
    runs: int
    a_s: Estimate
    b_s: Estimate
    a_factor: Estimate
    b_factor: Estimate
    factors: Estimate
    """The sum of both interference factors."""
    core_seconds: Estimate
    """In I/O: the sum over both of cores times time."""
    a_parts: Parts
    b_parts: Parts
    link_share: float | None
    """Median, of the storage link used most while both did I/O."""
    met: bool
    """There are as many runs as wanted, and both times are known as well as wanted."""


@dataclass(frozen=True)
class Unmeasured:
    """A point of which no run counts. `problems`: why, of each run, in their order; empty: none was made."""

    policy: str
    dt_ns: int
    problems: list[str]


@dataclass(frozen=True)
class Best:
    """Policies with the least of each at a delay, and those whose intervals reach the least one's."""

    dt_ns: int
    factors: list[str]
    core_seconds: list[str]


@dataclass(frozen=True)
class Applications:
    """What the expected curves take of A and B besides their times alone. None: by their processes that did I/O."""

    a_cores: float | None = None
    b_cores: float | None = None
    a_weight: float | None = None
    b_weight: float | None = None
    a_demand: float = 1.0
    b_demand: float = 1.0


@dataclass(frozen=True)
class Graph:
    """`expected`: by the times alone, over the same delays. `left_out`: runs that do not count, by their reasons."""

    a_alone: Estimate
    b_alone: Estimate
    a_cores: float
    b_cores: float
    points: list[Measured]
    unmeasured: list[Unmeasured]
    expected: DeltaGraph
    phases: int
    """The most that a command had in one run: above 1, its time is the sum of several."""
    left_out: dict[str, int]
    repeat: int
    """Runs that each point shall have at least, and each of A and B alone."""
    half_width: float
    """That intervals of times shall have at most, over the mean."""
    met: bool
    """All points are, and both times alone have as many runs, and as narrow intervals, as wanted."""
    programs: list[str]
    """Builds that made the runs that count, as halcyon.delta.identity knows them; "": nobody noted it."""
    boots: list[str]
    """Of the machine, during these runs."""

    @property
    def policies(self) -> list[str]:
        found = {point.policy for point in self.points}
        return [name for name in policies() if name in found]

    def meet(self, dt_ns: int) -> bool:
        """Whether both are in I/O at a time, by their times alone, and for more than these are known to."""
        return -MEET * self.b_alone.mean < dt_ns / 1e9 < MEET * self.a_alone.mean

    def of(self, policy: str) -> list[Measured]:
        return [point for point in self.points if point.policy == policy]

    @property
    def best(self) -> list[Best]:
        """One per delay at which several policies were measured."""
        found = []
        for dt_ns in sorted({point.dt_ns for point in self.points}):
            at = [point for point in self.points if point.dt_ns == dt_ns]
            if len(at) > 1:
                best = [_least({one.policy: getattr(one, what) for one in at}) for what in ("factors", "core_seconds")]
                found.append(Best(dt_ns, *best))
        return found

    @property
    def wide(self) -> list[Measured]:
        """Points that have as many runs as wanted, of which times are not known as well as wanted."""
        return [point for point in self.points if not point.met and point.runs >= self.repeat]

    def expected_of(self, policy: str) -> str | None:
        """The curve of the model that stands for a policy; None: there is none."""
        name = "interfere" if policy == UNCOORDINATED else policy
        return name if name in self.expected.curves else None


def graph_of(
    runs: Sequence[Run], applications: Applications, confidence: float = CONFIDENCE, half_width: float = HALF_WIDTH,
    wanted: Sequence[Key] = (), repeat: int = 1,
) -> Graph:  # fmt: skip
    """Of the runs of a file. `wanted`: points that shall be there, besides those that have runs. UsageError: no run of
    A or B alone counts, or none of both."""
    told_alone = {key.alone: _told_alone(key, runs) for key in ALONE}
    keys = dict.fromkeys([*wanted, *(run.key for run in runs if run.key.alone is None)])
    counted = {key: of_key(key, runs) for key in keys}
    unmeasured = [
        Unmeasured(key.policy, key.dt_ns, problems_of(key, runs)) for key in _in_order(keys) if not counted[key]
    ]
    if not any(counted.values()):
        raise UsageError(f"no run of both commands counts{_why([why for one in unmeasured for why in one.problems])}")
    a_alone, b_alone = (estimate([one.seconds for one in told_alone[name]], confidence) for name in "AB")
    cores = [
        given or median(one.processes for one in told_alone[name])
        for name, given in (("A", applications.a_cores), ("B", applications.b_cores))
    ]
    points = [
        _point(key, counted[key], (a_alone, b_alone), cores, confidence, half_width, repeat)
        for key in _in_order(keys) if counted[key]
    ]  # fmt: skip
    a, b = (
        Phase(a_alone.mean, applications.a_demand, applications.a_weight or cores[0], cores[0]),
        Phase(b_alone.mean, applications.b_demand, applications.b_weight or cores[1], cores[1]),
    )
    expected = interference.delta_graph(a, b, sorted({point.dt_ns / 1e9 for point in points}))
    alone_met = all(one.relative <= half_width and one.count >= repeat for one in (a_alone, b_alone))
    return Graph(
        a_alone, b_alone, cores[0], cores[1], points, unmeasured, expected,
        max(len(told.phases) for run in runs for told in (run.a, run.b) if told), _left_out(runs), repeat,
        half_width,
        alone_met and not unmeasured and all(point.met for point in points),
        sorted({run.programs for run in runs if run.problem is None}),
        sorted({run.boot for run in runs if run.problem is None}),
    )  # fmt: skip


def _told_alone(key: Key, runs: Sequence[Run]) -> list[Told]:
    """UsageError: there is none."""
    found = [told for run in of_key(key, runs) if (told := run.a or run.b)]
    if not found:
        why = _why(problems_of(key, runs))
        raise UsageError(f"no run of {key.alone} alone counts, so that no interference factor is known{why}")
    return found


def _why(problems: Sequence[str]) -> str:
    return f"; the last one of {len(problems)} does not: {problems[-1]}" if problems else ""


def _in_order(keys: Iterable[Key]) -> list[Key]:
    order = policies()
    return sorted(keys, key=lambda one: (order.index(one.policy), one.dt_ns))


def _point(
    key: Key, runs: Sequence[Run], alone: tuple[Estimate, Estimate], cores: Sequence[float], confidence: float,
    half_width: float, repeat: int,
) -> Measured:  # fmt: skip
    times = [_seconds([run.a for run in runs]), _seconds([run.b for run in runs])]
    a_s, b_s = (estimate(each, confidence) for each in times)
    # Of each run: where one application gains the time that the other loses, sums hardly vary.
    core_seconds = [cores[0] * a + cores[1] * b for a, b in zip(*times, strict=True)]
    a_factor, b_factor = a_s.over(alone[0]), b_s.over(alone[1])
    shares = [run.link_share for run in runs if run.link_share is not None]
    return Measured(
        key.policy, key.dt_ns, mean(run.dt_s or 0.0 for run in runs), len(runs), a_s, b_s, a_factor, b_factor,
        sum_of_ratios(times, alone, confidence), estimate(core_seconds, confidence),
        _parts([run.a for run in runs]), _parts([run.b for run in runs]), median(shares) if shares else None,
        max(a_s.relative, b_s.relative) <= half_width and len(runs) >= repeat,
    )  # fmt: skip


def _parts(told: Sequence[Told | None]) -> Parts:
    each = [one for one in told if one is not None]
    idle_s = [one.seconds - one.transfer_s for one in each]
    waiting_s = [min(one.waited_s, idle) for one, idle in zip(each, idle_s, strict=True)]
    rest_s = [idle - waiting for idle, waiting in zip(idle_s, waiting_s, strict=True)]
    return Parts(mean(one.transfer_s for one in each), mean(waiting_s), mean(rest_s))


def _seconds(told: Sequence[Told | None]) -> list[float]:
    return [one.seconds for one in told if one is not None]


def _least(values: Mapping[str, Estimate]) -> list[str]:
    least = min(values.values(), key=lambda one: one.mean)
    return [name for name, one in values.items() if one.low <= least.high]


def _left_out(runs: Sequence[Run]) -> dict[str, int]:
    found: dict[str, int] = {}
    for run in runs:
        if run.problem:
            found[run.problem] = found.get(run.problem, 0) + 1
    return found
