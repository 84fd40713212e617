#!/usr/bin/env python3
"""The metric under `dynamic` over the least one of all fixed policies, by the data of `make study-delta-…`.

`…_replay_…`: storage is simulated, at the speeds side by side that one half of a study's runs measured; the policy code
of the coordinator decides. It has never seen the two applications side by side, and knows their times alone from the
other half. The greatest ratio of all pairs and delays, either half being the truth. `…_known`: it has learned from the
other half's runs side by side, too.
`…_bed_…`: as measured, geometric mean of all pairs and delays, and the greatest upper end of an interval. Both for
the sum of interference factors and for core seconds; beside them, each fixed policy over the least one.
`dynamic_over_best`, `…_bed` and `…_bed_upper_end` are the greater one of both sums.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

from delta_studies import STUDIES, Study, stem
from measured_pairs import TooFewError, delays_ns, halves
from over_best import DEFAULT, DYNAMIC, FIXED, METRICS, Compared, Sums, measured, replayed
from premises import failed_premises, failed_scenario, other_measurement
from replay import Load
from rounds import count, unmet

from halcyon.delta.data_file import Content, read
from halcyon.delta.graph import Graph
from halcyon.delta.printed import delay
from halcyon.delta.runs import Run
from halcyon.errors import HalcyonError

ROOM, NAME, SET_10 = "coordinate", "dynamic_over_best", "set-10"


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

    def read(self) -> list[Run]:
        """HalcyonError: there are none. TooFewError: they are of another measurement than the table's."""
        content: Content = read(self.folder / f"{self.stem}.jsonl")
        if said := other_measurement(content, self.of, self.of.pairs[self.name]):
            raise TooFewError("; ".join(said))
        return content.runs

    @property
    def loads(self) -> tuple[Load, Load]:
        a, b = (Load(one.cores, one.weight, one.demand) for one in self.of.applications(self.of.pairs[self.name]))
        return a, b

    def graph(self, runs: Sequence[Run]) -> Graph:
        return self.of.graph(*self.of.applications(self.of.pairs[self.name]), runs)

    def minimises(self, metric: Sums) -> bool:
        return (self.of.metric or DEFAULT.metric) == metric.metric


@dataclass(frozen=True)
class Found:
    """`lacking`: why there is no figure, by what to do about it. `not_counted`: runs, by policies. `builds`: of
    Halcyon's programs, with the pairs of which they made runs that count; "": nobody noted it."""

    compared: list[Compared]
    lacking: dict[str, str]
    not_counted: Mapping[str, int]
    builds: Mapping[str, list[str]]

    @property
    def reason(self) -> str:
        said = "; ".join(f"`{target}` ({why})" for target, why in self.lacking.items())
        ratios = [one.over_best().mean for one in self.compared]
        so_far = f"; so far {len(ratios)} delays, {geometric_mean(ratios):.3f} in the mean" if ratios else ""
        return f"data is missing: {said}{so_far}"


@dataclass(frozen=True)
class Headlines:
    """Of one metric; None: not met. `upper_end`: on the bed, the greatest of an interval."""

    replay: float | None
    bed: float | None
    upper_end: float | None


def main() -> None:
    root = Path(os.environ.get("HALCYON_ROOT", Path(__file__).resolve().parents[2]))
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "bench/study/delta"
    report(folder)


def report(folder: Path) -> None:
    every = [Pair(study, name, of, folder) for study, of in STUDIES.items() for name in of.pairs]
    found = [headlines_of(metric, every) for metric in METRICS]
    tell_greater(NAME, [one.replay for one in found], "replay")
    tell_greater(f"{NAME}_bed", [one.bed for one in found], "bed")
    tell_greater(f"{NAME}_bed_upper_end", [one.upper_end for one in found], "bed")


def headlines_of(metric: Sums, every: Sequence[Pair]) -> Headlines:
    replays = [one for one in every if one.of.one_phase]
    held_out = found_in(replays, lambda pair: replay_of(pair, metric, learned=False))
    known = found_in(replays, lambda pair: replay_of(pair, metric, learned=True))
    beds = [one for one in every if DYNAMIC in one.of.policies and one.minimises(metric)]
    on_bed = found_in(beds, lambda pair: bed_of(pair, metric))
    replay = tell_replay(f"{NAME}_replay_{metric.figure}", held_out)
    tell_replay(f"{NAME}_replay_{metric.figure}_known", known)
    return Headlines(replay, *tell_bed(f"{NAME}_bed_{metric.figure}", on_bed))


def tell_greater(name: str, of_metrics: Sequence[float | None], by: str) -> None:
    """Of both metrics."""
    values = [one for one in of_metrics if one is not None]
    if len(values) < len(of_metrics):
        lacking = [of.figure for of, one in zip(METRICS, of_metrics, strict=True) if one is None]
        unmet(ROOM, name, f"not met: {', '.join(f'{NAME}_{by}_{figure}' for figure in lacking)}")
        return
    count(ROOM, name, max(values), "ratio")


def found_in(pairs: Sequence[Pair], compare: Callable[[Pair], tuple[list[Compared], Sequence[Run]]]) -> Found:
    compared: list[Compared] = []
    lacking: dict[str, list[str]] = {}
    not_counted: Counter[str] = Counter()
    builds: dict[str, list[str]] = {}
    for pair in pairs:
        try:
            found, runs = compare(pair)
        except (HalcyonError, TooFewError) as why:
            lacking.setdefault(pair.target, []).append(f"{pair.stem}: {why}")
            continue
        compared += found
        not_counted.update(run.key.alone or run.key.policy for run in runs if run.problem is not None)
        for build in sorted({run.programs for run in runs if run.problem is None}):
            builds.setdefault(build, []).append(pair.stem)
    reasons = {target: ", ".join(dict.fromkeys(whys)) for target, whys in lacking.items()}
    return Found(compared, reasons, not_counted, builds)


def replay_of(pair: Pair, metric: Sums, *, learned: bool) -> tuple[list[Compared], Sequence[Run]]:
    runs = pair.read()
    first, second = halves(runs)
    if said := failed_scenario(pair.graph(runs), pair.of, pair.of.pairs[pair.name]):
        raise TooFewError("; ".join(said))
    found: list[Compared] = []
    for which, known, truth in (("first", first, second), ("second", second, first)):
        where = f"{pair.stem}, times alone of its {which} half,"
        found += replayed(where, known, truth, delays_ns(runs), pair.loads, metric, learned=learned)
    return found, runs


def bed_of(pair: Pair, metric: Sums) -> tuple[list[Compared], Sequence[Run]]:
    runs = pair.read()
    graph = pair.graph(runs)
    found = list(measured(pair.stem, graph, metric))
    not_known = [f"{one.where}: too wide intervals of {', '.join(one.not_known)}" for one in found if one.not_known]
    failed = failed_premises(graph, pair.of, pair.of.pairs[pair.name], runs)
    if said := [*failed, *not_known, *lacking_others(pair.of, graph)]:
        raise TooFewError("; ".join(said))
    return found, runs


def lacking_others(study: Study, graph: Graph) -> list[str]:
    """Policies of `others` without a point beside one of `dynamic`, at a delay at which they are to be measured."""
    at: dict[int, set[str]] = {}
    for point in graph.points:
        at.setdefault(point.dt_ns, set()).add(point.policy)
    wanted = {*study.others, DYNAMIC}
    compared = {dt_ns: policies for dt_ns, policies in at.items() if not policies.isdisjoint(study.others)}
    said = [
        f"B starts {delay(dt_ns)}: no run under {', '.join(sorted(wanted - policies))}"
        for dt_ns, policies in compared.items() if wanted - policies
    ]  # fmt: skip
    return said if compared else [f"no delay has {', '.join(study.others)}"]


def tell_replay(name: str, found: Found) -> float | None:
    """The figure; None: it is not met."""
    if found.lacking or not found.compared:
        unmet(ROOM, name, found.reason)
        return None
    worst = max(found.compared, key=lambda one: one.over_best().mean)
    print(f"{name}: the greatest of {len(found.compared)}: {worst.where}", file=sys.stderr)
    count(ROOM, name, worst.over_best().mean, "ratio")
    for policy, ratios in by_policy(found.compared).items():
        count(ROOM, f"{name}_mean{suffix(policy)}", geometric_mean(ratios), "ratio")
    return worst.over_best().mean


def tell_bed(name: str, found: Found) -> tuple[float | None, float | None]:
    """The mean, and the greatest upper end; None: they are not met."""
    if found.lacking or not found.compared:
        unmet(ROOM, name, found.reason)
        return None, None
    for policy, ratios in by_policy(found.compared).items():
        count(ROOM, f"{name}{suffix(policy)}", geometric_mean(ratios), "ratio")
    widest = max(found.compared, key=lambda one: one.over_best().high)
    print(f"{name}: the greatest upper end of {len(found.compared)}: {widest.where}", file=sys.stderr)
    count(ROOM, f"{name}_upper_end", widest.over_best().high, "ratio")
    some = {"at_set10": [one for one in found.compared if SET_10 in one.values],
            "together": [one for one in found.compared if one.together]}  # fmt: skip
    for which, ones in some.items():
        count(ROOM, f"{name}_{which}", geometric_mean(one.over_best().mean for one in ones), "ratio")
        count(ROOM, f"{name}_{which}_delays", len(ones), "delays")
    count(ROOM, f"{name}_not_counted", found.not_counted.total(), "runs")
    for who in sorted(found.not_counted):
        print(f"{name}: {found.not_counted[who]} runs of {who} do not count", file=sys.stderr)
    count(ROOM, f"{name}_builds", len(found.builds), "builds")
    for build, pairs in found.builds.items():
        print(f"{name}: runs of build {build or 'that nobody noted'}: {', '.join(pairs)}", file=sys.stderr)
    return geometric_mean(one.over_best().mean for one in found.compared), widest.over_best().high


def by_policy(compared: Sequence[Compared]) -> Mapping[str, list[float]]:
    """Ratios over the best, of the delays at which a policy was measured."""
    found = {name: [one.over_best(name).mean for one in compared if name in one.values] for name in (DYNAMIC, *FIXED)}
    return {name: ratios for name, ratios in found.items() if ratios}


def suffix(policy: str) -> str:
    return "" if policy == DYNAMIC else f"_{policy.replace('set-10', 'set10').replace('-', '_')}"


if __name__ == "__main__":
    main()
