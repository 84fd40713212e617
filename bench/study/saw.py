"""The 'saw' (Dorier 2014, figures 6.13 and 6.14): four files of A against one of B, where interruption costs less than
waiting as long as enough of A is left, and more afterwards."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

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
    yield "saw_undecided", sum(is_undecided(one) for one in claimed), "delays"


def verdict(graph: Graph, saw: Saw) -> str:
    """Whether the claim holds, by delays on both sides of where waiting begins to win."""
    claimed = [one for one in differences(graph, saw) if is_claimed(one)]
    before = [one for one in claimed if one.at < saw.until]
    after = [one for one in claimed if one.at >= saw.until]
    violated = [one for one in claimed if is_violated(one, saw)]
    undecided = [one for one in claimed if is_undecided(one)]
    return (
        f"By {saw.point.replace('_', ' ')}, interruption wins where it should, before {Fraction(saw.until)} T_A, at "
        f"{_hold(before, saw)} of {len(before)} delays, and waiting after it at {_hold(after, saw)} of {len(after)}; "
        f"violated at {_delays(violated)}; undecided at {_delays(undecided)}."
    )


def is_claimed(one: Difference) -> bool:
    """Before 0, B comes first (at 0, A does by a little); after A's end there is nothing to interrupt."""
    return 0 <= one.at < 1


def is_violated(one: Difference, saw: Saw) -> bool:
    """Waiting wins where interruption should, or the other way round."""
    return one.met and (one.value.low > 0 if one.at < saw.until else one.value.high < 0)


def is_undecided(one: Difference) -> bool:
    """The interval, or a point that is not met, says neither."""
    return not one.met or one.value.low <= 0 <= one.value.high


def _hold(some: Sequence[Difference], saw: Saw) -> int:
    return sum(not is_violated(one, saw) and not is_undecided(one) for one in some)


def _delays(some: Sequence[Difference]) -> str:
    return ", ".join(f"{one.at:+.2f} T_A" for one in some) or "none"


def _less(one: Estimate, other: Estimate) -> Estimate:
    """Their difference: runs of different points are independent."""
    half = None if one.half is None or other.half is None else math.hypot(one.half, other.half)
    return Estimate(one.mean - other.mean, half, min(one.count, other.count))


def _of(point: Measured, saw: Saw) -> Estimate:
    value: Estimate = getattr(point, saw.point)
    return value
