"""How large the differences between the values of two arrays are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class DifferenceSize:
    """The largest differences between pairs of numbers a, b, over all pairs in which both are finite."""

    absolute: float
    """max |a - b|, in the unit of the values"""
    relative: float
    """max |a - b| / max(|a|, |b|): 1 where one of them is 0, at most 2"""
    endless: int = 0
    """differing pairs in which one or both are infinite or NaN: they have no size"""

    def joined(self, other: "DifferenceSize") -> "DifferenceSize":
        """The size of both taken together."""
        return DifferenceSize(
            max(self.absolute, other.absolute), max(self.relative, other.relative), self.endless + other.endless
        )

    def __str__(self) -> str:
        said = []
        if self.absolute:
            said.append(f"largest difference {self.absolute:.6g}, relative {self.relative:.6g}")
        if self.endless:
            said.append(f"{self.endless} with NaN or infinity")
        return "; ".join(said)


def size_of(a: NDArray[Any], b: NDArray[Any]) -> DifferenceSize | None:
    """The size of the differences between equally long lists of unequal values of one type; None for no numbers."""
    if a.dtype.kind in "iu":
        # The unsigned difference of ordered integers is exact, whatever their signs.
        apart = np.maximum(a, b).astype(np.uint64) - np.minimum(a, b).astype(np.uint64)
        return _largest(apart, np.maximum(_magnitude(a), _magnitude(b)), 0)
    if a.dtype.kind not in "fc":
        return None
    wide = np.result_type(a.dtype, np.float64)  # a difference may not fit the values' own type
    a, b = a.astype(wide), b.astype(wide)
    finite = np.isfinite(a) & np.isfinite(b)
    endless = int(finite.size - np.count_nonzero(finite))
    a, b = a[finite], b[finite]
    with np.errstate(over="ignore"):
        return _largest(np.abs(a - b), np.maximum(np.abs(a), np.abs(b)), endless)


def _magnitude(values: NDArray[Any]) -> NDArray[np.float64]:
    return np.abs(values.astype(np.float64))


def _largest(apart: NDArray[Any], scale: NDArray[Any], endless: int) -> DifferenceSize:
    if not apart.size:
        return DifferenceSize(0.0, 0.0, endless)
    relative = min(float((apart / scale).max()), 2.0)  # unequal values are not both 0; `apart` may have overflowed
    return DifferenceSize(float(apart.max()), relative, endless)
