"""How predictable a sequence is at all: what its last few symbols tell of the next one."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

ORDERS = (1, 2, 3, 4)
MOST_CALLS = 1 << 20
"""Of a stream: the last so many."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Bound:
    """Of a sequence, given something that was known before each of its values."""

    given: str
    calls: int
    entropy_bits: float
    """Empirical conditional entropy: what is left to be told."""
    best: float
    """Share of right forecasts of whoever knew, all along, which value follows each given most often."""


def bounds(symbols: Integers, sizes: Integers) -> list[Bound]:
    """Of the symbols given the last 1 to 4 of them; and of the sizes (below 0: none) given their symbols.

    The longer what is given, the more rarely it repeats, and the more a best forecast in hindsight is worth only there.
    """
    found = []
    given = np.zeros(len(symbols), np.int64)
    for order in ORDERS:
        if len(symbols) <= order:
            break
        # Those for one symbol less, and the one before these.
        given = _numbered(given[1:], symbols[:-order])
        name = f"the last {order} call sites" if order > 1 else "the last call site"
        found.append(_bound(name, given, symbols[order:]))
    moves = sizes >= 0
    if moves.any():
        own, of = sizes[moves], symbols[moves]
        found.append(_bound("its call site", of, own))
        by_site = np.argsort(of, kind="stable")
        before = np.full(len(own), -1, np.int64)
        same = of[by_site][1:] == of[by_site][:-1]
        before[by_site[1:][same]] = own[by_site[:-1][same]]
        found.append(_bound("its call site and the size before there", _numbered(of, before), own))
    return found


def _numbered(first: Integers, second: Integers) -> Integers:
    """A number for each pair."""
    return _dense(_dense(first) * (len(second) + 1) + _dense(second))


def _dense(values: Integers) -> Integers:
    """The same order of values, counted from 0."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _bound(name: str, given: Integers, values: Integers) -> Bound:
    given = _dense(given)
    pairs, counts = np.unique(_numbered(given, values) + given * (len(values) + 1), return_counts=True)
    of = pairs // (len(values) + 1)
    begins = np.flatnonzero(np.diff(of, prepend=-1))
    totals = np.add.reduceat(counts, begins)
    most = np.maximum.reduceat(counts, begins)
    share = counts / np.repeat(totals, np.diff([*begins, len(counts)]))
    entropy = float(-(counts * np.log2(share)).sum() / len(values))
    return Bound(name, len(values), abs(entropy), float(most.sum() / len(values)))
