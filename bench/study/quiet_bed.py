"""A test bed on which no run begins while the machine has other work."""

import time
from collections.abc import Sequence

from rounds import BUSY_AT_MOST, busy_share

from halcyon.delta.commands import OnBed
from halcyon.errors import UnavailableError
from halcyon.testbed.bed import Bed


class QuietBed(OnBed):
    """Waits for `patience_s` at most; 0: does not look, for trials on a busy machine. UnavailableError, which is no
    failure of a run: the machine has other work all that time."""

    def __init__(self, bed: Bed, patience_s: float = 300.0) -> None:
        super().__init__(bed)
        self._patience_s = patience_s

    def renew(self, placed: Sequence[tuple[str, str]]) -> None:
        super().renew(placed)
        until_s = time.monotonic() + self._patience_s
        while self._patience_s and (share := busy_share()) > BUSY_AT_MOST:
            if time.monotonic() > until_s:
                raise UnavailableError(
                    f"the machine has other work: {share:.0%} busy after {self._patience_s:g} s, at most "
                    f"{BUSY_AT_MOST:.0%} expected; the same command goes on when it is idle"
                )
