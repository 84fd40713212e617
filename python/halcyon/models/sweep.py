"""What a sweep over stripe count and stripe size shows (Wright 2014, section 6.1)."""

from collections.abc import Sequence
from dataclasses import dataclass

from halcyon.errors import UsageError
from halcyon.models.measurements import MeasuredStriping
from halcyon.models.stripes import ACCEPTED_LOSS, MeasuredRequest, Recommendation, recommend
from halcyon.quantities import binary_size


@dataclass(frozen=True)
class Sweep:
    """Points of a sweep. `best_by_count`: with the stripe size of the start; `best_by_size`: with its stripe count,
    None where the size was not varied. `recommendation`: of the best bandwidth of each stripe count."""

    points: list[MeasuredStriping]
    start: MeasuredStriping
    best: MeasuredStriping
    best_by_count: MeasuredStriping
    best_by_size: MeasuredStriping | None
    recommendation: Recommendation

    @property
    def speed_up(self) -> float:
        """Of the best point over the start."""
        return self.best.bytes_per_s / self.start.bytes_per_s


def sweep(
    total: int,
    jobs: int,
    points: Sequence[MeasuredStriping],
    start: tuple[int, int | None] | None = None,
    accepted_loss: float = ACCEPTED_LOSS,
) -> Sweep:
    """`start`: stripes, and bytes of each, of the settings before the sweep; by default the first point. UsageError:
    nothing measured, or not at the start."""
    if not points:
        raise UsageError("no measured point: a line per run with striping_factor and bytes_per_s is needed")
    first = points[0] if start is None else _at(points, *start)
    by_count = [one for one in points if one.stripe_bytes == first.stripe_bytes]
    by_size = [one for one in points if one.stripes == first.stripes]
    return Sweep(
        list(points), first, _fastest(points), _fastest(by_count),
        _fastest(by_size) if len({one.stripe_bytes for one in points}) > 1 else None,
        recommend(total, jobs, _by_count(points), accepted_loss),
    )  # fmt: skip


def _fastest(points: Sequence[MeasuredStriping]) -> MeasuredStriping:
    return max(points, key=lambda one: one.bytes_per_s)


def _at(points: Sequence[MeasuredStriping], stripes: int, stripe_bytes: int | None) -> MeasuredStriping:
    for one in points:
        if one.stripes == stripes and (stripe_bytes is None or one.stripe_bytes == stripe_bytes):
            return one
    of_size = "" if stripe_bytes is None else f" of {binary_size(stripe_bytes)}"
    raise UsageError(f"--start: {stripes} stripes{of_size} were not measured")


def _by_count(points: Sequence[MeasuredStriping]) -> list[MeasuredRequest]:
    best: dict[int, float] = {}
    for one in points:
        best[one.stripes] = max(one.bytes_per_s, best.get(one.stripes, 0.0))
    return [MeasuredRequest(stripes, rate) for stripes, rate in sorted(best.items())]
