"""The table of studies of Δ-graphs, after chapter 6 of M. Dorier's thesis (2014). A storage host's link carries some
23.7 MB/s of data at 200 Mbit/s; by their sizes, the larger application takes LEAST_LARGER_S to MOST_LARGER_S alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from saw import CORE_SECONDS, FACTORS, Saw
from study_bed import study_bed
from writers import MIB, Application, Lammps, Ranks, Writers, mounts, some

from halcyon.delta.delays import Delays, parse_delays
from halcyon.delta.graph import Applications, Graph, graph_of
from halcyon.delta.measuring import Wanted, points
from halcyon.delta.runs import Run
from halcyon.testbed.plan import Plan

LEAST_LARGER_S, MOST_LARGER_S = 5.0, 10.0
"""Time in I/O alone of the larger application; of several, of the largest one."""
LEAST_SMALL_FACTOR = 6.0
"""Of one writer beside 16, uncoordinated: below, there is too little to calm."""
SMALL_BYTES = 32 * MIB
SMALL_AT_TA = 0.05
"""When that writer starts, in units of the others' time alone: they are in the middle of their I/O."""
DELTA = Delays(parse_delays("-1.05TA,-0.75TA,-0.5TA,-0.25TA,0,0.25TA,0.5TA,0.75TA,1.05TA"))
"""From end to end. At just T_A, chance decides whether one has ended when the other one comes, and may interrupt it."""
OTHERS_AT = Delays(parse_delays("0,0.25TA,0.5TA,0.75TA"))
FEW = Delays(parse_delays("-0.4TA,0,0.2TA,0.4TA,5s"))
SAW = Delays(parse_delays("-0.4TA,0,0.2TA,0.4TA,0.6TA,0.7TA,0.8TA,0.9TA,0.97TA,1.2TA"))
"""On both sides of 3/4 and of 15/16, from where on interruption no longer wins."""
# When LAMMPS writes depends on the processor, and its later writes more than the first ones: at these delays it
# computes, or begins. Where B came at the edge of a write, chance would decide.
BETWEEN_WRITES = Delays(parse_delays("-6s,-3.3s,-1.5s,0,1.6s"))
BETWEEN_WRITES_OTHERS_AT = Delays(parse_delays("-3.3s,0,1.6s"))
SAW_OTHERS_AT = Delays(parse_delays("0,0.2TA,0.4TA,0.6TA,0.8TA"))


@dataclass(frozen=True)
class Pair:
    """Two applications. `factors`: bounds of the interference factors of A and B, uncoordinated and at a delay of 0,
    within which the storage is what they share."""

    a: Writers | Ranks | Lammps
    b: Writers | Ranks | Lammps
    factors: tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Study:
    """`figures`: those of the thesis; "": it has none. `bites`: the storage links are the limit while both are in I/O.
    `one_phase`: of each application. `others`: policies that are measured at the delays `others_at` alone, which are
    some of `delays`. `minutes`: after them, no run begins. `saw`: where interruption is to win. `over`: policies, each
    over another one."""

    question: str
    figures: str
    plan: Plan
    pairs: Mapping[str, Pair]
    policies: tuple[str, ...]
    minutes: int
    delays: Delays = DELTA
    metric: str | None = None
    bites: bool = True
    one_phase: bool = True
    others: tuple[str, ...] = ()
    others_at: Delays = OTHERS_AT
    repeat: int = Wanted.repeat
    most: int = Wanted.most
    saw: Saw | None = None
    over: tuple[tuple[str, str], ...] = ()
    needs: str | None = None
    """A program that must be installed."""

    def applications(self, pair: Pair, smaller: float = 1.0) -> tuple[Application, Application]:
        """A and B, with so many times less data."""
        a, b = (one.smaller(smaller).application(who, self.plan) for who, one in (("A", pair.a), ("B", pair.b)))
        return a, b

    def wanted(self) -> list[Wanted]:
        return [
            Wanted(delays, policies, self.repeat, self.most)
            for delays, policies in ((self.delays, self.policies), (self.others_at, self.others))
        ]

    def graph(self, a: Application, b: Application, runs: Sequence[Run]) -> Graph:
        """Not met as long as one point lacks runs. UsageError: as graph_of."""
        keys = [key for one in self.wanted() for key in points(one, runs)]
        return graph_of(runs, expected_of(a, b), wanted=keys, repeat=self.repeat)


def stem(study: str, pair: str) -> str:
    """Of the files of a pair."""
    return "-".join(filter(None, (study, pair)))


def expected_of(a: Application, b: Application) -> Applications:
    """What the model and the sums take of both."""
    return Applications(a.cores, b.cores, a.weight, b.weight, a.demand, b.demand)


_EQUAL = Writers(mounts(["c1", "c2"], 2), 80 * MIB)
_OTHER = Writers(mounts(["c3", "c4"], 2), 80 * MIB)
_ALIKE = ((1.6, 2.4), (1.6, 2.4))
_ALL_32 = mounts(["c1", "c2", "c3", "c4"], 8)


def _split(of_b: int, mib: int = 13) -> Pair:
    """32 writers, of which B has so many. Of 13 MiB each, A is in I/O for 9.1 s with 31 writers, for 7.1 s with 24. Up
    to 4 of B are in I/O for little more than a second: 16 calls of 1 MiB, which A has under way at a storage host when
    it is to stop, would keep them waiting for as long as that."""
    call_bytes = MIB // 4 if of_b <= 4 else MIB
    a, b = (Writers(some(_ALL_32, at, n), mib * MIB, 1, call_bytes) for at, n in ((0, 32 - of_b), (32 - of_b, of_b)))
    return Pair(a, b, ((1.0, 2.4), (1.6, 20.0)))


def _four_files(call_bytes: int) -> Pair:
    a = Writers(mounts(["c1", "c2"], 2), 20 * MIB, 4, call_bytes)
    return Pair(a, Writers(mounts(["c3", "c4"], 2), 20 * MIB, 1, call_bytes), ((1.1, 1.5), (1.6, 2.4)))


def _strided(hosts: Sequence[str]) -> Ranks:
    return Ranks(hosts, 4, MIB, 4, 5)


STUDIES = {
    "equal": Study(
        "two equal applications", "6.2 and 6.10 a", study_bed(4, 2), {"": Pair(_EQUAL, _OTHER, _ALIKE)},
        ("none", "fcfs", "interrupt", "dynamic"), 50, others=("delay", "fair-share", "set-10"),
    ),
    "small": Study(
        # Three storage hosts: six of the 16 share the link with the one, and what they have under way when they are to
        # stop is 6 MiB at most of the link's time, beside its 32.
        "one writer beside 16", "6.12", study_bed(5, 4, storage=3),
        {"": Pair(Writers(mounts(["c1", "c2", "c3", "c4"], 4), 32 * MIB), Writers([("c5", 0)], SMALL_BYTES),
                  ((1.0, 1.3), (LEAST_SMALL_FACTOR, 14.0)))},
        ("none", "fcfs", "interrupt", "dynamic"), 45,
        Delays(parse_delays(f"-1TA,-0.5TA,-0.25TA,0,{SMALL_AT_TA}TA,0.25TA,0.5TA,0.75TA,1TA")),
        others=("delay", "fair-share", "set-10"),
    ),
    "splits": Study(
        "32 writers, of which B has 1, 2, 4, 8 or 16", "6.4, 6.5, 6.9 and 6.12", study_bed(4, 8),
        {**{f"{n}": _split(n) for n in (1, 2, 4, 8)}, "16": _split(16, 18)},
        ("none", "fcfs", "interrupt", "dynamic"), 85, FEW,
        others=("set-10",), others_at=Delays(parse_delays("0,0.4TA")),
    ),
    "strided": Study(
        # One storage host: each job's file is on one, so that a second host's bandwidth would be nobody's.
        "two jobs of collective, strided writes", "6.11", study_bed(4, 1, storage=1),
        {"": Pair(_strided(["c1", "c2"]), _strided(["c3", "c4"]), ((1.2, 2.6), (1.2, 2.6)))},
        ("none", "fcfs", "interrupt", "dynamic"), 50, others=("delay", "fair-share", "set-10"),
    ),
    "files": Study(
        "four files against one, interrupted between requests and between files", "6.13 and 6.14", study_bed(4, 2),
        {"request": _four_files(MIB), "file": _four_files(20 * MIB)}, ("none", "fcfs", "interrupt", "dynamic"),
        65, SAW, metric="cpu-hours", others=("set-10",), others_at=Delays(parse_delays("0,0.4TA")), saw=CORE_SECONDS,
    ),
    "factors": Study(
        # Not `delay`: side by side, A takes 1.25 times as long, which is just what `delay` tolerates, so that it lets B
        # in at once or not by chance.
        "four files against one, as in `files`, where the factors are to be least", "6.14", study_bed(4, 2),
        {"": _four_files(MIB)}, ("none", "fcfs", "interrupt", "dynamic"), 42, SAW,
        others=("fair-share", "set-10"), others_at=SAW_OTHERS_AT, saw=FACTORS,
    ),
    "underload": Study(
        # Together they want 1.4 times what the storage carries, above the factor of 1.25 that `delay` tolerates: B
        # waits for 0.375 of A's time under it, and it is not the same as `interfere`.
        "two applications that take seven tenths of the storage each", "6.10 b and 6.15", study_bed(2, 4, 280),
        {"": Pair(Writers(mounts(["c1"], 4), 50 * MIB), Writers(mounts(["c2"], 4), 50 * MIB),
                  ((1.2, 1.7), (1.2, 1.7)))},
        ("none", "fcfs", "delay", "dynamic"), 65, others=("interrupt", "fair-share", "set-10"),
        over=(("delay", "fcfs"), ("delay", "none")),
    ),
    "applications": Study(
        # One storage host, as LAMMPS has one file; one rank, which leaves the storage a core of a machine with two.
        "LAMMPS beside fio, both unmodified: forecasts are all that the coordinator knows", "",
        study_bed(3, 2, storage=1),
        {"": Pair(Lammps("c1", 1, 50, 7, 8), Writers(mounts(["c2", "c3"], 2), 48 * MIB, tells=False),
                  ((1.02, 8.0), (1.02, 2.4)))},
        ("none", "fcfs", "interrupt", "dynamic"), 75, BETWEEN_WRITES,
        one_phase=False, others=("delay", "fair-share", "set-10"), others_at=BETWEEN_WRITES_OTHERS_AT,
        needs="lmp",
    ),
}  # fmt: skip
