"""The metric under `dynamic` over the least one of all fixed policies: replayed from measured speeds, and measured."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from measured_pairs import Half
from replay import Access, Load, Replay, registered

from halcyon.delta.estimate import Estimate
from halcyon.delta.graph import MEET, Graph, Measured
from halcyon.delta.runs import opening_ns
from halcyon.delta.turns import UNCOORDINATED
from halcyon.policy.functions import Learned, functions

DYNAMIC = "dynamic"
REPORT_S = 0.25
"""Between two reports of an agent: a heartbeat."""
FIXED = ("interfere", "fcfs", "interrupt", "delay", "fair-share", "set-10")


@dataclass(frozen=True)
class Sums:
    """A metric of coordinators.yaml, and the field of a measured point that has it."""

    metric: str
    point: str
    figure: str


DEFAULT = Sums("sum-of-interference-factors", "factors", "factors")
"""What a coordinator makes least unless it is told otherwise."""
METRICS = (DEFAULT, Sums("cpu-hours", "core_seconds", "core_s"))


@dataclass(frozen=True)
class Compared:
    """At one delay. `values`: of the metric under each policy."""

    where: str
    values: Mapping[str, Estimate]
    together: bool
    """At this delay both are in I/O at a time, by their times alone."""
    not_known: tuple[str, ...] = ()
    """Policies of which the metric's interval is too wide: those that may be the best, and the one that is compared."""

    @property
    def best(self) -> Estimate:
        return min((one for name, one in self.values.items() if name != DYNAMIC), key=lambda one: one.mean)

    def over_best(self, policy: str = DYNAMIC) -> Estimate:
        return self.values[policy].over(self.best)


def replayed(
    where: str, known: Half, truth: Half, delays_ns: Sequence[int], loads: tuple[Load, Load], metric: Sums, *,
    learned: bool,
) -> Iterator[Compared]:  # fmt: skip
    """At each delay, what storage as in one half does to applications of which the coordinator knows their times alone
    of the other half. `learned`: it has seen them side by side, too, in all runs of that half; else never."""
    from_runs = _learned(known, loads) if learned else None
    (a_speed, b_speed), (a_load, b_load) = truth.speed, loads
    for dt_ns in delays_ns:
        starts_ns = opening_ns({"A": max(0, -dt_ns), "B": max(0, dt_ns)})
        a = Access(starts_ns["A"] / 1e9, truth.a_alone_s, a_speed, a_load, known.a_alone_s)
        b = Access(starts_ns["B"] / 1e9, truth.b_alone_s, b_speed, b_load, known.b_alone_s)
        values = {name: Estimate(_played((a, b), name, metric, from_runs), None, 1) for name in (DYNAMIC, *FIXED)}
        together = -MEET * truth.b_alone_s < dt_ns / 1e9 < MEET * truth.a_alone_s
        yield Compared(f"{where} at {dt_ns / 1e9:+.2f} s", values, together)


def measured(where: str, graph: Graph, metric: Sums) -> Iterator[Compared]:
    """At each delay of a graph that has `dynamic` and a fixed policy."""
    for dt_ns in sorted({point.dt_ns for point in graph.points}):
        at: dict[str, list[Measured]] = {}
        for point in graph.points:
            if point.dt_ns == dt_ns:
                name = "interfere" if point.policy == UNCOORDINATED else point.policy
                at.setdefault(name, []).append(point)
        values = {
            name: min((getattr(one, metric.point) for one in ones), key=lambda one: one.mean)
            for name, ones in at.items()
        }
        if DYNAMIC in values and len(values) > 1:
            found = Compared(f"{where} at {dt_ns / 1e9:+.2f} s", values, graph.meet(dt_ns))
            # Of the metric: where one application gains in a run what the other loses, it is known and they are not.
            wide = [name for name, value in values.items() if value.relative > graph.half_width]
            not_known = tuple(name for name in wide if name == DYNAMIC or values[name].low <= found.best.high)
            yield replace(found, not_known=not_known)


def _played(accesses: tuple[Access, Access], rule: str, metric: Sums, learned: Learned | None) -> float:
    times_s = Replay(accesses, rule, metric.metric, learned).times_s()
    if metric.metric == "cpu-hours":
        return sum(one.load.processes * time_s for one, time_s in zip(accesses, times_s, strict=True))
    return sum(time_s / one.alone_s for one, time_s in zip(accesses, times_s, strict=True))


def _learned(half: Half, loads: tuple[Load, Load]) -> Learned:
    """What the coordinator knows after all runs of a half: it learns from each report of a speed."""
    learned = functions().Interference()
    a, b = registered(1, half.a_alone_s, loads[0]), registered(2, half.b_alone_s, loads[1])
    for one in half.overlaps:
        for _ in range(max(1, round(one.seconds / REPORT_S))):
            learned.observe(a, b, one.a_speed)
            learned.observe(b, a, one.b_speed)
    return learned
