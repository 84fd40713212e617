"""Bandwidth per writer where several write to one storage target, beside an ideal target that divides what one writer
gets (Wright 2014, figure 6.3 and table F.2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from halcyon.errors import UsageError
from halcyon.models.measurements import MeasuredWriters

LOSS = 0.05
"""Of the ideal; where intervals are narrow, less than this lies below them and matters to nobody."""
WITHIN, BELOW, ABOVE = "within", "below", "above"


@dataclass(frozen=True)
class Shared:
    """What each of `writers` got, and the band of the ideal: the interval of one writer, divided by their number."""

    writers: int
    bytes_per_s: float
    low_bytes_per_s: float
    high_bytes_per_s: float
    ideal_bytes_per_s: float
    ideal_low_bytes_per_s: float
    ideal_high_bytes_per_s: float

    @property
    def total_bytes_per_s(self) -> float:
        """Of all writers."""
        return self.writers * self.bytes_per_s

    @property
    def of_ideal(self) -> float:
        return self.bytes_per_s / self.ideal_bytes_per_s

    @property
    def standing(self) -> str:
        """Of the interval: outside of the ideal band as a whole, or else within it."""
        if self.high_bytes_per_s < self.ideal_low_bytes_per_s:
            return BELOW
        return ABOVE if self.low_bytes_per_s > self.ideal_high_bytes_per_s else WITHIN


@dataclass(frozen=True)
class Contention:
    """By the number of writers, from one on."""

    name: str
    steps: list[Shared]

    @property
    def first_loss(self) -> Shared | None:
        """The fewest writers that lose: their interval lies below the ideal band, and they get clearly less."""
        return next((step for step in self.steps if step.standing == BELOW and step.of_ideal < 1 - LOSS), None)


def contention(name: str, measured: Sequence[MeasuredWriters]) -> Contention:
    """UsageError: one writer alone was not measured, from which the ideal follows."""
    alone = next((one for one in measured if one.writers == 1), None)
    if alone is None:
        raise UsageError(f"{name}: no line of 1 writer, whose bandwidth the ideal divides")
    return Contention(
        name,
        [
            Shared(
                one.writers, one.bytes_per_s, one.low_bytes_per_s, one.high_bytes_per_s,
                *(each / one.writers for each in (alone.bytes_per_s, alone.low_bytes_per_s, alone.high_bytes_per_s)),
            )
            for one in sorted(measured, key=lambda one: one.writers)
        ],
    )  # fmt: skip
