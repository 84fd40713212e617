"""The table of `make study-delta-many`: three applications over two delays (Dorier 2014, end of section 6.1.2), and
eight of different sizes. A storage host's link carries some 23.7 MB/s of data at 200 Mbit/s."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from several import Key, Setup
from study_bed import study_bed
from writers import MIB, Application, Writers, bandwidth, mounts

from halcyon.delta.measuring import Wanted
from halcyon.testbed.place import MOUNTS
from halcyon.testbed.plan import Plan

MINUTES = 90
"""After them, no run begins: of both cases together."""
FIXED = ("none", "fcfs", "interrupt", "delay", "fair-share", "set-10")


@dataclass(frozen=True)
class Points:
    """Policies, each with these starts after the first application's, in units of its time alone."""

    policies: tuple[str, ...]
    starts: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Case:
    """Applications A, B, C, …; the first one is the largest."""

    question: str
    plan: Plan
    writers: Sequence[Writers]
    points: Sequence[Points]
    repeat: int = Wanted.repeat
    most: int = Wanted.most

    def applications(self, smaller: float = 1.0) -> list[Application]:
        """With so many times less data."""
        return [one.smaller(smaller).application(chr(ord("A") + i), self.plan) for i, one in enumerate(self.writers)]

    def setup(self, smaller: float = 1.0) -> Setup:
        each = self.applications(smaller)
        return Setup(
            tuple(one.command for one in each), tuple(one.arrive for one in each), tuple(one.cores for one in each),
            str(MOUNTS), tuple(placed for one in each for placed in one.placed), bandwidth(self.plan),
        )  # fmt: skip

    def keys(self, a_alone_s: float) -> list[Key]:
        """Whole milliseconds, as of halcyon.delta.delays; the earliest starts at 0."""
        found = []
        for points in self.points:
            for starts in points.starts:
                ms = [round(one * a_alone_s * 1000) for one in starts]
                starts_ns = tuple((one - min(ms)) * 1_000_000 for one in ms)
                found += [Key(policy, starts_ns) for policy in points.policies]
        return list(dict.fromkeys(found))


DELAYS = (-0.5, 0.0, 0.5, 1.0)
_SURFACE = tuple((0.0, b, c) for b, c in product(DELAYS, DELAYS))
_EIGHT_MIB = (128, 96, 64, 48, 32, 24, 16, 8)
"""Of each of the two writers of an application: 19.5 s at the rate of both links."""

CASES = {
    "three": Case(
        "three applications over two delays", study_bed(6, 2),
        (Writers(mounts(["c1", "c2"], 2), 64 * MIB), Writers(mounts(["c3", "c4"], 2), 64 * MIB),
         Writers(mounts(["c5", "c6"], 1), 32 * MIB)),
        (Points(("none", "fcfs", "dynamic"), _SURFACE),
         Points((*FIXED, "dynamic"), ((0.0, 0.0, 0.0), (0.0, 0.5, 1.0)))),
    ),
    "eight": Case(
        "eight applications, the largest first", study_bed(8, 2),
        tuple(Writers(mounts([f"c{i}"], 2), of * MIB) for i, of in enumerate(_EIGHT_MIB, start=1)),
        (Points((*FIXED, "dynamic"), (tuple(0.1 * i for i in range(8)),)),),
    ),
}  # fmt: skip
