#!/usr/bin/env python3
"""The metric under `dynamic` over the least one of all fixed policies, by the data of `make study-delta-…`.

`…_replay_…`: storage is simulated. Speeds side by side are those measured in one half of a study's runs; the policy
code of the coordinator knows the other half. The greatest ratio of all pairs and delays, either half being the truth.
`…_bed_…`: as measured, geometric mean of all pairs and delays, and the greatest upper end of an interval. Both for
the sum of interference factors and for core seconds; beside them, each fixed policy over the least one.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

from delta_studies import STUDIES, Study, stem
from measured_pairs import TooFewError, delays_ns, halves
from over_best import DEFAULT, DYNAMIC, FIXED, METRICS, Compared, Sums, measured, replayed
from rounds import count, unmet

from halcyon.delta.data_file import read
from halcyon.delta.graph import Graph
from halcyon.delta.printed import not_met
from halcyon.delta.runs import Run
from halcyon.errors import HalcyonError

ROOM = "coordinate"


@dataclass(frozen=True)
class Pair:
    """The data of two applications of a study."""

    study: str
    name: str
    of: Study
    folder: Path

    @property
    def stem(self) -> str:
        return stem(self.study, self.name)

    @property
    def target(self) -> str:
        return f"make study-delta-{self.study}"

    @property
    def runs(self) -> list[Run]:
        """HalcyonError: there are none."""
        return read(self.folder / f"{self.stem}.jsonl").runs

    @property
    def processes(self) -> tuple[int, int]:
        a, b = self.of.applications(self.of.pairs[self.name])
        return a.cores, b.cores

    def graph(self) -> Graph:
        return self.of.graph(*self.of.applications(self.of.pairs[self.name]), self.runs)

    def minimises(self, metric: Sums) -> bool:
        return (self.of.metric or DEFAULT.metric) == metric.metric


@dataclass(frozen=True)
class Found:
    """`lacking`: why there is no figure, by what to do about it."""

    compared: list[Compared]
    lacking: dict[str, str]

    @property
    def reason(self) -> str:
        said = "; ".join(f"`{target}` ({why})" for target, why in self.lacking.items())
        ratios = [one.over_best().mean for one in self.compared]
        so_far = f"; so far {len(ratios)} delays, {geometric_mean(ratios):.3f} in the mean" if ratios else ""
        return f"data is missing: {said}{so_far}"


def main() -> None:
    root = Path(os.environ.get("HALCYON_ROOT", Path(__file__).resolve().parents[2]))
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "bench/study/delta"
    report(folder)


def report(folder: Path) -> None:
    every = [Pair(study, name, of, folder) for study, of in STUDIES.items() for name in of.pairs]
    for metric in METRICS:
        replays = [one for one in every if one.of.one_phase]
        tell_replay(metric, found_in(replays, lambda pair, metric=metric: replay_of(pair, metric)))
        beds = [one for one in every if DYNAMIC in one.of.policies and one.minimises(metric)]
        tell_bed(metric, found_in(beds, lambda pair, metric=metric: bed_of(pair, metric)))


def found_in(pairs: Sequence[Pair], compare: Callable[[Pair], Iterator[Compared]]) -> Found:
    compared: list[Compared] = []
    lacking: dict[str, list[str]] = {}
    for pair in pairs:
        try:
            compared += compare(pair)
        except (HalcyonError, TooFewError) as why:
            lacking.setdefault(pair.target, []).append(f"{pair.stem}: {why}")
    return Found(compared, {target: ", ".join(dict.fromkeys(whys)) for target, whys in lacking.items()})


def replay_of(pair: Pair, metric: Sums) -> Iterator[Compared]:
    runs = pair.runs
    first, second = halves(runs)
    at = delays_ns(runs)
    yield from replayed(f"{pair.stem}, learnt from its first half,", first, second, at, pair.processes, metric)
    yield from replayed(f"{pair.stem}, learnt from its second half,", second, first, at, pair.processes, metric)


def bed_of(pair: Pair, metric: Sums) -> Iterator[Compared]:
    graph = pair.graph()
    found = list(measured(pair.stem, graph, metric))
    if not graph.met:
        raise TooFewError("; ".join(not_met(graph)))
    if not any("set-10" in one.values for one in found):
        raise TooFewError("no delay has both dynamic and set-10")
    yield from found


def tell_replay(metric: Sums, found: Found) -> None:
    name = f"dynamic_over_best_replay_{metric.figure}"
    if found.lacking or not found.compared:
        unmet(ROOM, name, found.reason)
        return
    worst = max(found.compared, key=lambda one: one.over_best().mean)
    print(f"{name}: the greatest of {len(found.compared)}: {worst.where}", file=sys.stderr)
    count(ROOM, name, worst.over_best().mean, "ratio")
    for policy, ratios in by_policy(found.compared).items():
        count(ROOM, f"{name}_mean{suffix(policy)}", geometric_mean(ratios), "ratio")


def tell_bed(metric: Sums, found: Found) -> None:
    name = f"dynamic_over_best_bed_{metric.figure}"
    if found.lacking or not found.compared:
        unmet(ROOM, name, found.reason)
        return
    for policy, ratios in by_policy(found.compared).items():
        count(ROOM, f"{name}{suffix(policy)}", geometric_mean(ratios), "ratio")
    widest = max(found.compared, key=lambda one: one.over_best().high)
    print(f"{name}: the greatest upper end of {len(found.compared)}: {widest.where}", file=sys.stderr)
    count(ROOM, f"{name}_upper_end", widest.over_best().high, "ratio")
    count(ROOM, f"{name}_with_set10", sum("set-10" in one.values for one in found.compared), "delays")


def by_policy(compared: Sequence[Compared]) -> Mapping[str, list[float]]:
    """Ratios over the best, of the delays at which a policy was measured."""
    found = {name: [one.over_best(name).mean for one in compared if name in one.values] for name in (DYNAMIC, *FIXED)}
    return {name: ratios for name, ratios in found.items() if ratios}


def suffix(policy: str) -> str:
    return "" if policy == DYNAMIC else f"_{policy.replace('set-10', 'set10').replace('-', '_')}"


if __name__ == "__main__":
    main()
