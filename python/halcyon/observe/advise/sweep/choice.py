"""What to use: the fastest point, and the one that is almost as fast for far less of what others need."""

from dataclasses import dataclass

from halcyon.observe.advise.sweep.search import Measured
from halcyon.observe.advise.sweep.space import Point, cost

TOLERANCE = 0.05
"""Almost as fast: within this share of the best …"""
_MOST = 0.10
"""… or within the scatter of the best one's own runs, where that is wider, up to this share."""


@dataclass(frozen=True)
class Choice:
    """`frugal`: of all points almost as fast as the best the one of the lowest cost; the best itself where there is
    none (Wright 2014, section 6.2: what is best for one is not best for all)."""

    best: Point
    frugal: Point
    tolerance: float


def choose(measured: Measured, tolerance: float = TOLERANCE) -> Choice:
    """Of points with enough runs to be believed. UsageError: no run succeeded."""
    best = measured.best()
    allowed = max(tolerance, min(measured.scatter(best), _MOST))
    near = [one for one in measured.repeated() if measured.speed(one) >= (1 - allowed) * measured.speed(best)]
    frugal = min(near, key=lambda one: (cost(one), -measured.speed(one)))
    return Choice(best, frugal, allowed)
