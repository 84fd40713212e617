"""Finds where a stream's second iteration begins: what comes before is the learning phase."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from halcyon.predict.accuracy import Tally

MOST = 256
"""Pauses that are kept at a time."""
_PART_OF_LONGEST = 10  # as the model has it: shorter pauses start no new phase


@dataclass(frozen=True)
class Beginning:
    """Of a phase, after a pause."""

    call: int
    """How many came before."""
    pause_ns: float
    symbol: int
    before: Tally


class Beginnings:
    """The beginnings of phases, while the pauses that part them become known."""

    def __init__(self, least_pause_ns: int) -> None:
        self._least = least_pause_ns
        self._longest = 0.0
        self._first: int | None = None
        self._found: list[Beginning] = []

    def candidates(self, gaps_ns: npt.NDArray[np.float64], symbols: npt.NDArray[np.uint32]) -> Iterator[int]:
        """Places in a piece where a phase may begin, as far as there is room for more."""
        if self._first is None and len(symbols):
            self._first = int(symbols[0])
        gaps = np.nan_to_num(gaps_ns)
        longest = np.maximum(np.maximum.accumulate(gaps), self._longest)
        self._longest = float(longest[-1]) if len(longest) else self._longest
        for at in np.flatnonzero(gaps > np.maximum(self._least, longest / _PART_OF_LONGEST)).tolist():
            if len(self._found) < MOST:
                yield at

    def add(self, found: Beginning) -> None:
        """One of the candidates, with what was counted before it."""
        self._found.append(found)

    def forget(self, pause_ns: float) -> None:
        """Those that are no pauses any more, now that longer ones were seen."""
        self._found = [one for one in self._found if one.pause_ns > pause_ns]

    def second_iteration(self, pause_ns: float) -> Beginning | None:
        """The first phase that begins like one before it; else the second phase; None: there is but one."""
        self.forget(pause_ns)
        seen = {self._first}
        for one in self._found:
            if one.symbol in seen:
                return one
            seen.add(one.symbol)
        return self._found[0] if self._found else None
