"""The 'saw' (Dorier 2014, figures 6.13 and 6.14): four files of A against one of B, where interruption costs less than
waiting as long as enough of A is left, and more afterwards."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from halcyon.delta.estimate import Estimate
from halcyon.delta.graph import Graph, Measured


@dataclass(frozen=True)
class Saw:
    """Where B takes a quarter of A's time alone, T_A: interruption wins up to a delay of `until` T_A for the sum that
    `point`, a field of a measured point, has."""

    point: str
    until: float


CORE_SECONDS = Saw("core_seconds", 0.75)
"""Both have as many cores: T_A + 2 T_B against 2 T_A - dt + T_B."""
FACTORS = Saw("factors", 0.9375)
"""1 + T_B/T_A + 1 against 1 + (T_A - dt)/T_B + 1."""


@dataclass(frozen=True)
class Difference:
    """At one delay, in units of A's time alone: the sum under `interrupt` less that under `fcfs`. `met`: the points of
    both are."""

    at: float
    value: Estimate
    met: bool = True


def differences(graph: Graph, saw: Saw) -> list[Difference]:
    """At all delays that have both."""
    fcfs = {point.dt_ns: point for point in graph.of("fcfs")}
    return [
        Difference(
            point.dt_ns / 1e9 / graph.a_alone.mean, _less(_of(point, saw), _of(other, saw)), point.met and other.met
        )
        for point in graph.of("interrupt") if (other := fcfs.get(point.dt_ns))
    ]  # fmt: skip


def figures(graph: Graph, saw: Saw) -> Iterator[tuple[str, float, str]]:
    """Each difference with its half-width, where it is met; delays at which the claim is violated, beyond the interval,
    and those of which the interval, or a point that is not met, says neither."""
    found = differences(graph, saw)
    unit = "ratio" if saw is FACTORS else "s"
    for one in (each for each in found if each.met):
        at = f"{'m' if one.at < 0 else ''}{abs(one.at):.2f}TA"
        yield f"interrupt_less_fcfs_{at}", one.value.mean, unit
        yield f"interrupt_less_fcfs_{at}_half_width", one.value.half or 0.0, unit
    claimed = [one for one in found if is_claimed(one)]
    yield "saw_delays", len(claimed), "delays"
    yield "saw_violated", sum(is_violated(one, saw) for one in claimed), "delays"
    yield "saw_undecided", sum(not one.met or one.value.low <= 0 <= one.value.high for one in claimed), "delays"


def is_claimed(one: Difference) -> bool:
    """Before 0, B comes first (at 0, A does by a little); after A's end there is nothing to interrupt."""
    return 0 <= one.at < 1


def is_violated(one: Difference, saw: Saw) -> bool:
    """Waiting wins where interruption should, or the other way round."""
    return one.met and (one.value.low > 0 if one.at < saw.until else one.value.high < 0)


def _less(one: Estimate, other: Estimate) -> Estimate:
    """Their difference: runs of different points are independent."""
    half = None if one.half is None or other.half is None else math.hypot(one.half, other.half)
    return Estimate(one.mean - other.mean, half, min(one.count, other.count))


def _of(point: Measured, saw: Saw) -> Estimate:
    value: Estimate = getattr(point, saw.point)
    return value
