"""The self-check of a test bed: what its links, its storage and two applications beside one another do, before anybody
measures on it."""

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from halcyon.errors import UsageError
from halcyon.testbed.applications import Application, computing, run_together
from halcyon.testbed.bed import Bed
from halcyon.testbed.links import shares_of_storage_links

LEAST_LINK_SHARE = 0.9
"""Of the rate of each storage link, while both applications write: below, the links are not the limit."""
LEAST_BESIDE_COMPUTING = 0.95
"""Of the speed of a writer alone: below, computing takes what writing needs."""
LEAST_FACTOR = 6.0
"""Slow-down of the small application beside the large one: below, there is too little to calm."""
LEAST_ALONE = 0.85
"""Of the storage link's rate, data of one writer alone. Headers take 5 %."""
_WRITES = 3
"""Of the small application without the large one, in each round; their median counts."""
_SMALL_S = 0.7
"""That the small application takes at the link's rate. A shorter one is over before its part of the links settles."""
_LARGE_OVER_SMALL = 1.6
"""Bytes of one writer of the large application over those of the small one, so that the large one outlasts it."""


@dataclass(frozen=True)
class Round:
    """Times in seconds; shares of the storage links' rate."""

    alone_s: float
    beside_computing_s: float
    together_s: float
    large_s: float
    overlap_share: float
    """Of the storage link used least, while both applications wrote; on the wire."""
    covered: bool
    """The large application wrote all the time that the small one did."""

    @property
    def factor(self) -> float:
        return self.together_s / self.alone_s

    @property
    def beside_computing(self) -> float:
        return self.alone_s / self.beside_computing_s


@dataclass(frozen=True)
class Checked:
    """Rounds of one bed, and what speaks against measuring on it."""

    rounds: list[Round]
    small_bytes: int
    large_writers: int
    link_bytes_per_s: float

    @property
    def factor(self) -> float:
        return median(one.factor for one in self.rounds)

    @property
    def alone_share(self) -> float:
        """Data of one writer alone over the rate of its storage link."""
        return self.small_bytes / median(one.alone_s for one in self.rounds) / self.link_bytes_per_s

    @property
    def overlap_share(self) -> float:
        return median(one.overlap_share for one in self.rounds)

    @property
    def beside_computing(self) -> float:
        return median(one.beside_computing for one in self.rounds)

    @property
    def refusals(self) -> list[str]:
        """Why not to measure here; empty: nothing speaks against it."""
        uncovered = sum(not one.covered for one in self.rounds)
        limits = [
            ("one writer alone reaches {:.3f} of its storage link's rate", self.alone_share, LEAST_ALONE,
             "another link is the limit, or the processors are: choose a lower --storage-link"),
            ("storage links carry {:.3f} of their rate while both applications write", self.overlap_share,
             LEAST_LINK_SHARE, "they are not the limit: choose a lower --storage-link, or more --mounts"),
            ("a writer beside computing keeps {:.3f} of its speed", self.beside_computing, LEAST_BESIDE_COMPUTING,
             "processors are the limit: choose a lower --storage-link"),
            ("the small application is slowed down by a factor of {:.1f}", self.factor, LEAST_FACTOR,
             "weight follows mounts: raise the bed with more --mounts"),
        ]  # fmt: skip
        said = [
            f"{what.format(value)}, below {least:g}: {way_out}"
            for what, value, least, way_out in limits
            if value < least
        ]
        if uncovered:
            said.append(f"the large application ended before the small one in {uncovered} of {len(self.rounds)} rounds")
        return said

    def to_dict(self) -> dict[str, Any]:
        return {
            "rounds": [{**asdict(one), "factor": one.factor, "beside_computing": one.beside_computing}
                       for one in self.rounds],
            "small_bytes": self.small_bytes,
            "large_writers": self.large_writers,
            "link_bytes_per_s": self.link_bytes_per_s,
            "alone_share": self.alone_share,
            "overlap_share": self.overlap_share,
            "beside_computing": self.beside_computing,
            "factor": self.factor,
            "refusals": self.refusals,
        }  # fmt: skip


def two_applications(bed: Bed) -> tuple[Application, Application]:
    """A large one, a writer on each mount but the last, and a small one on that. UsageError: the bed lacks storage, a
    limit of its storage links, or a second mount."""
    rate = bed.plan.storage_link_bits_per_s / 8
    mounts = bed.mounts()
    if len(mounts) < 2 or not rate:
        raise UsageError("measuring interference needs a bed with --storage, a --storage-link, and 2 or more --mounts")
    small_bytes = max(1 << 20, round(_SMALL_S * rate / (1 << 20)) << 20)
    large_bytes = round(_LARGE_OVER_SMALL * small_bytes)
    return Application("large", mounts[:-1], large_bytes), Application("small", mounts[-1:], small_bytes)


def check(bed: Bed, rounds: int, on_round: Callable[[Round], None] | None = None) -> Checked:
    """Measures alone, beside computing, and together, in turn. HalcyonSystemError: a writer failed, or a daemon of the
    bed has ended; UsageError: somebody else measures on the bed, or as two_applications."""
    if rounds < 1:
        raise UsageError(f"rounds: {rounds}; expected 1 or more")
    large, small = two_applications(bed)
    measured = []
    with bed.measuring():
        for _ in range(rounds):
            measured.append(measure_round(bed, large, small))
            if on_round is not None:
                on_round(measured[-1])
    return Checked(measured, small.bytes_each, len(large.at), bed.plan.storage_link_bits_per_s / 8)


def measure_round(bed: Bed, large: Application, small: Application) -> Round:
    """The small application alone, beside computing, and beside the large one."""
    alone_s = _median_s(bed, small)
    with computing(bed, os.cpu_count() or 1):
        beside_s = _median_s(bed, small)
    of_large, of_small = run_together(bed, [(large, 0.0), (small, 0.0)])
    first_end = min(of_large.end, of_small.end, key=lambda counted: counted.time_s)
    shares = shares_of_storage_links(bed, of_small.begin, first_end)
    return Round(
        alone_s, beside_s, of_small.seconds, of_large.seconds, min(shares.values()),
        of_large.end.time_s >= of_small.end.time_s,
    )  # fmt: skip


def _median_s(bed: Bed, application: Application) -> float:
    return median(run_together(bed, [(application, 0.0)])[0].seconds for _ in range(_WRITES))
