#!/usr/bin/env python3
"""The interference factor of one writer of 32 MiB that starts amid the I/O of 16 others, by the data of
`make study-delta-small`: under `dynamic`, and beside it uncoordinated, under `fcfs` and under `interrupt`, all of them
measured in turn. The others write in calls of 1 MiB."""

import os
import sys
from pathlib import Path

from delta_studies import LEAST_SMALL_FACTOR, SMALL_AT_TA, SMALL_BYTES, STUDIES, expected_of
from rounds import count, unmet

from halcyon.delta.data_file import read
from halcyon.delta.graph import Measured, graph_of
from halcyon.delta.measuring import ALONE, HALF_WIDTH, of_key
from halcyon.delta.runs import Run
from halcyon.errors import HalcyonError

ROOM, FIGURE, TARGET = "coordinate", "small_factor", "`make study-delta-small`"
FIGURES = {"dynamic": "", "none": "_uncoordinated", "fcfs": "_fcfs", "interrupt": "_interrupt"}


def main() -> None:
    root = Path(os.environ.get("HALCYON_ROOT", Path(__file__).resolve().parents[2]))
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "bench/study/delta"
    report(folder / "small.jsonl")


def report(file: Path) -> None:
    try:
        runs = read(file).runs
        points = points_of(runs)
    except HalcyonError as why:
        unmet(ROOM, FIGURE, f"data is missing: {TARGET} ({why})")
        return
    if reasons := failed_premises(runs, points):
        unmet(ROOM, FIGURE, "; ".join(reasons))
        return
    for policy, suffix in FIGURES.items():
        count(ROOM, FIGURE + suffix, points[policy].b_factor.mean, "ratio")
    count(ROOM, f"{FIGURE}_half_width", points["dynamic"].b_factor.half or 0.0, "ratio")


def points_of(runs: list[Run]) -> dict[str, Measured]:
    """By policy, where the small application starts soon after the large one."""
    study = STUDIES["small"]
    graph = graph_of(runs, expected_of(*study.applications(study.pairs[""])))
    within_s = (SMALL_AT_TA / 2 * graph.a_alone.mean, SMALL_AT_TA * 2 * graph.a_alone.mean)
    return {one.policy: one for one in graph.points if within_s[0] <= one.dt_ns / 1e9 <= within_s[1]}


def failed_premises(runs: list[Run], points: dict[str, Measured]) -> list[str]:
    if lacking := [policy for policy in FIGURES if policy not in points]:
        return [f"no run of {', '.join(lacking)} counts at {SMALL_AT_TA:g} times A's time alone: {TARGET}"]
    said = []
    uncoordinated = points["none"].b_factor
    if uncoordinated.mean < LEAST_SMALL_FACTOR:
        said.append(f"uncoordinated, its factor is {uncoordinated.mean:.2f}, below {LEAST_SMALL_FACTOR:g}")
    written = {told.bytes for run in of_key(ALONE[1], runs) for told in run.told.values()}
    if written != {SMALL_BYTES}:
        said.append(f"it writes {sorted(written)} bytes, not {SMALL_BYTES}")
    wide = [policy for policy in FIGURES if points[policy].b_s.relative > HALF_WIDTH]
    if wide:
        said.append(f"too wide an interval under {', '.join(wide)}: {TARGET} goes on")
    return said


if __name__ == "__main__":
    main()
