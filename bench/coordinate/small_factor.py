#!/usr/bin/env python3
"""The interference factor of one writer of 32 MiB that starts amid the I/O of 16 others, by the data of
`make study-delta-small`: under `dynamic`, and beside it uncoordinated, under `fcfs` and under `interrupt`, all of them
measured in turn; and `…_worst`, the greatest under `dynamic` of all delays at which it starts amid their I/O. The
others write in calls of 1 MiB."""

import os
import sys
from pathlib import Path

from delta_studies import LEAST_SMALL_FACTOR, SMALL_AT_TA, SMALL_BYTES, STUDIES
from premises import failed_scenario, other_measurement, too_many_not_counted
from rounds import count, unmet

from halcyon.delta.data_file import read
from halcyon.delta.graph import Graph, Measured
from halcyon.delta.measuring import ALONE, HALF_WIDTH, of_key
from halcyon.delta.printed import delay
from halcyon.delta.runs import Key, Run
from halcyon.errors import HalcyonError

STUDY = STUDIES["small"]
WORST = "small_factor_worst"
ROOM, FIGURE, TARGET = "coordinate", "small_factor", "`make study-delta-small`"
FIGURES = {"dynamic": "", "none": "_uncoordinated", "fcfs": "_fcfs", "interrupt": "_interrupt"}


def main() -> None:
    root = Path(os.environ.get("HALCYON_ROOT", Path(__file__).resolve().parents[2]))
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "bench/study/delta"
    report(folder / "small.jsonl")


def report(file: Path) -> None:
    pair = STUDY.pairs[""]
    try:
        content = read(file)
        runs = content.runs
        graph = STUDY.graph(*STUDY.applications(pair), runs)
    except HalcyonError as why:
        tell_unmet(f"data is missing: {TARGET} ({why})")
        return
    points = points_of(graph)
    reasons = [
        *other_measurement(content, STUDY, pair), *failed_scenario(graph, STUDY, pair),
        *failed_points(runs, points, graph),
    ]  # fmt: skip
    if reasons:
        tell_unmet("; ".join(reasons))
        return
    for policy, suffix in FIGURES.items():
        count(ROOM, FIGURE + suffix, points[policy].b_factor.mean, "ratio")
        out = sum(run.problem is not None for run in runs if run.key.policy == policy and run.key.alone is None)
        count(ROOM, f"{FIGURE}{suffix}_not_counted", out, "runs")
    count(ROOM, f"{FIGURE}_half_width", points["dynamic"].b_factor.half or 0.0, "ratio")
    tell_worst(runs, graph)


def tell_unmet(reason: str) -> None:
    for name in (FIGURE, WORST):
        unmet(ROOM, name, reason)


def tell_worst(runs: list[Run], graph: Graph) -> None:
    """Over all delays at which it starts amid the others' I/O."""
    amid = [one for one in graph.of("dynamic") if one.dt_ns > 0 and graph.meet(one.dt_ns)]
    lacking = [one for one in graph.unmeasured if one.policy == "dynamic" and one.dt_ns > 0 and graph.meet(one.dt_ns)]
    reasons = [f"B starts {delay(one.dt_ns)}: no run under dynamic counts" for one in lacking]
    for one in amid:
        reasons += failed_point(runs, one)
    if reasons:
        unmet(ROOM, WORST, "; ".join(reasons))
        return
    count(ROOM, WORST, max(one.b_factor.mean for one in amid), "ratio")
    count(ROOM, f"{WORST}_of", len(amid), "delays")


def points_of(graph: Graph) -> dict[str, Measured]:
    """By policy, where the small application starts soon after the large one."""
    within_s = (SMALL_AT_TA / 2 * graph.a_alone.mean, SMALL_AT_TA * 2 * graph.a_alone.mean)
    return {one.policy: one for one in graph.points if within_s[0] <= one.dt_ns / 1e9 <= within_s[1]}


def failed_points(runs: list[Run], points: dict[str, Measured], graph: Graph) -> list[str]:
    """Of the figures' points, and of the small application alone."""
    if lacking := [policy for policy in FIGURES if policy not in points]:
        return [f"no run of {', '.join(lacking)} counts at {SMALL_AT_TA:g} times A's time alone: {TARGET}"]
    said = [*too_many_not_counted(ALONE, runs)]
    uncoordinated = points["none"].b_factor
    if uncoordinated.mean < LEAST_SMALL_FACTOR:
        said.append(f"uncoordinated, its factor is {uncoordinated.mean:.2f}, below {LEAST_SMALL_FACTOR:g}")
    written = {told.bytes for run in of_key(ALONE[1], runs) for told in run.told.values()}
    if written != {SMALL_BYTES}:
        said.append(f"it writes {sorted(written)} bytes, not {SMALL_BYTES}")
    if graph.b_alone.count < STUDY.repeat:
        said.append(f"B alone: {graph.b_alone.count} of {STUDY.repeat} runs: {TARGET} goes on")
    for policy in FIGURES:
        said += failed_point(runs, points[policy])
    return said


def failed_point(runs: list[Run], point: Measured) -> list[str]:
    key = Key(point.policy, point.dt_ns)
    said = too_many_not_counted([key], runs)
    if point.runs < STUDY.repeat:
        said.append(f"{key.text}: {point.runs} of {STUDY.repeat} runs: {TARGET} goes on")
    elif point.b_factor.relative > HALF_WIDTH:
        said.append(f"{key.text}: too wide an interval: {TARGET} goes on")
    return said


if __name__ == "__main__":
    main()
