"""Intervals on one axis: their union, and the gaps in it."""

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]


def merge(begin: Times, end: Times, gap: int = 0) -> tuple[Times, Times]:
    """The union of intervals as sorted, disjoint ones; gaps of at most `gap` are closed."""
    if not len(begin):
        return begin, end
    order = np.argsort(begin, kind="stable")
    first = begin[order]
    last = np.maximum.accumulate(end[order])
    new = np.concatenate([[True], first[1:] > last[:-1] + gap])
    return first[new], last[np.concatenate([new[1:], [True]])]
