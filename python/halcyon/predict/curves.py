"""Curves over the calls of a stream, in as few points as show what they show."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

MOST_POINTS = 2000

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """Points (x, y), in the order of x."""

    name: str
    x: list[float]
    y: list[float]


@dataclass
class Thinned:
    """A curve in the making, of `length` values: of each bin the least and the greatest stay, where they are."""

    name: str
    length: int
    _x: list[Array] = field(default_factory=list)
    _y: list[Array] = field(default_factory=list)

    @property
    def bin(self) -> int:
        """Values of which two stay."""
        return max(1, -(-2 * self.length // MOST_POINTS)) if self.length > MOST_POINTS else 1

    def add(self, first: int, values: Array) -> None:
        """Values from call `first` on; NaN: there is none. All but the last piece hold whole bins."""
        width = self.bin
        count = -(-len(values) // width)
        padded = np.full(count * width, np.nan)
        padded[: len(values)] = values
        rows = padded.reshape(count, width)
        rows_x = first + np.arange(count) * width
        held = ~np.isnan(rows).all(axis=1)
        least = np.where(np.isnan(rows), np.inf, rows).argmin(axis=1)
        most = np.where(np.isnan(rows), -np.inf, rows).argmax(axis=1)
        at = np.sort(np.stack([least, most], axis=1)[held], axis=1)
        lines = np.flatnonzero(held)[:, None]
        x, y = rows_x[lines] + at, rows[lines, at]
        twice = at[:, 0] == at[:, 1]
        keep = np.stack([np.ones(len(at), bool), ~twice], axis=1)
        self._x.append(x[keep].astype(np.float64))
        self._y.append(y[keep])

    def curve(self) -> Curve:
        """What there is so far; of neighbours of one height the first and the last."""
        x, y = np.concatenate([[], *self._x]), np.concatenate([[], *self._y])
        inner = np.zeros(len(y), bool)
        inner[1:-1] = (y[1:-1] == y[:-2]) & (y[1:-1] == y[2:])
        # Whole numbers: calls are counted from 1.
        return Curve(self.name, (x[~inner] + 1).tolist(), [float(f"{value:.4g}") for value in y[~inner]])


class Sliding:
    """Means over the last `width` values of a sequence that comes in pieces; NaN counts as nothing."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._before: Array = np.array([])

    def of(self, values: Array) -> Array:
        """The mean at each value, of fewer where there were not so many yet."""
        all_ = np.concatenate([self._before, values])
        sums = np.concatenate([[0.0], np.cumsum(np.nan_to_num(all_))])
        counts = np.concatenate([[0], np.cumsum(~np.isnan(all_))])
        ends = np.arange(len(self._before) + 1, len(all_) + 1)
        begins = np.maximum(ends - self._width, 0)
        self._before = all_[-(self._width - 1) :]
        number = counts[ends] - counts[begins]
        # Sums of shares: rounding must not make them more than all.
        means = np.round((sums[ends] - sums[begins]) / np.maximum(number, 1), 6)
        return np.where(number > 0, means, np.nan)
