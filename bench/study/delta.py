#!/usr/bin/env python3
"""Δ-graphs on a test bed: `make study-delta-equal` and others of delta_studies.py, at most 90 minutes each.

Runs are kept in bench/study/delta/<study>[-<pair>].jsonl, beside the picture; the same command goes on where it was
ended. Figures of a pair whose premises fail are not met, nor those of a point whose interval stays wide. To try a
study with a fifth of the data:
`delta.py STUDY --smaller 5 --dt 0,0.5TA --repeat 1 --data FOLDER`.
"""

import argparse
import os
import shutil
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import policy_ratios
import saw
from delta_studies import STUDIES, Pair, Study, stem
from premises import failed_premises, setup_of, too_wide
from quiet_bed import QuietBed
from rounds import count, unmet

from halcyon.delta.data_file import DataFile
from halcyon.delta.delays import Delays, parse_delays
from halcyon.delta.graph import Graph, Measured
from halcyon.delta.measuring import FORGIVE, Progress, measure
from halcyon.delta.picture import draw_graph
from halcyon.delta.printed import print_graph, run_in_words
from halcyon.delta.runs import Limits
from halcyon.errors import HalcyonError, UsageError
from halcyon.process_session import ended_in_order
from halcyon.terminal import VisibleConsole
from halcyon.testbed.bed import Bed, raised
from halcyon.testbed.requirements import unavailable


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=sorted(STUDIES))
    parser.add_argument("--smaller", type=float, default=1.0, help="so many times less data; other work may go on")
    parser.add_argument("--dt", help="other delays, as of `halcyon delta`")
    parser.add_argument("--repeat", type=int, help="runs of each point, and no more")
    root = Path(os.environ.get("HALCYON_ROOT", Path(__file__).resolve().parents[2]))
    parser.add_argument("--data", type=Path, default=root / "bench/study/delta")
    asked = parser.parse_args()
    study = STUDIES[asked.study]
    if asked.repeat:
        study = replace(study, repeat=asked.repeat, most=asked.repeat)
    if asked.dt:
        study = replace(study, delays=Delays(parse_delays(asked.dt)), others=())
    lacks = f"`{study.needs}` is not installed" if study.needs and shutil.which(study.needs) is None else ""
    if reason := unavailable(study.plan) or lacks:
        for name in study.pairs:
            unmet("coordinate", _figure(asked.study, name, "factors"), reason)
        return 0
    asked.data.mkdir(parents=True, exist_ok=True)
    of_thesis = f": figures {study.figures} of the thesis" if study.figures else ""
    print(f"{study.question}{of_thesis}", file=sys.stderr)
    try:
        with ended_in_order(), raised(study.plan) as bed:
            until_s = time.monotonic() + 60 * study.minutes
            for i, (name, pair) in enumerate(study.pairs.items()):
                # Time that a pair leaves goes to those after it.
                own_s = (until_s - time.monotonic()) / (len(study.pairs) - i)
                try:
                    measure_pair(bed, study, asked.study, name, pair, asked.smaller, asked.data, own_s)
                except UsageError as why:
                    unmet("coordinate", _figure(asked.study, name, "factors"), str(why))
    except HalcyonError as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def measure_pair(
    bed: Bed, study: Study, study_name: str, name: str, pair: Pair, smaller: float, folder: Path, within_s: float
) -> None:
    a, b = study.applications(pair, smaller)
    setup = setup_of(study, pair, smaller)
    place = QuietBed(bed, 0.0 if smaller > 1 else 300.0)
    data = folder / f"{stem(study_name, name)}.jsonl"
    with DataFile(data, setup, asdict(bed.plan)) as file:
        measure(place, setup, study.wanted(), file, Limits(), say, within_s=within_s, forgive=FORGIVE)
        graph = study.graph(a, b, file.runs)
    draw_graph(graph, data.with_suffix(".png"))
    print_graph(graph, VisibleConsole(stderr=True, highlight=False, width=200))
    count("coordinate", _figure(study_name, name, "measured_minutes"), sum(run.wall_s for run in file.runs) / 60, "min")
    failed = failed_premises(graph, study, pair, file.runs)
    if smaller != 1:
        failed.insert(0, f"a trial with {smaller:g} times less data")
    if failed:
        unmet("coordinate", _figure(study_name, name, "factors"), "; ".join(failed))
        return
    for figure, value, unit in figures(graph, study):
        count("coordinate", _figure(study_name, name, figure), value, unit)
    for point in graph.wide:
        unmet("coordinate", _figure(study_name, name, _where(point, graph)), too_wide(point, graph.half_width))
    count("coordinate", _figure(study_name, name, "not_counted"), sum(graph.left_out.values()), "runs")


def figures(graph: Graph, study: Study) -> list[tuple[str, float, str]]:
    """Of each policy and delay, in units of A's time alone, that is met; and those of the study's own questions."""
    found = [one for policy, other in study.over for one in policy_ratios.figures(graph, policy, other)]
    found += saw.figures(graph, study.saw) if study.saw else []
    for point in graph.points:
        if not point.met:
            continue
        at = _where(point, graph)
        found += [
            (f"{at}_a_factor", point.a_factor.mean, "ratio"),
            (f"{at}_b_factor", point.b_factor.mean, "ratio"),
            (f"{at}_core_s", point.core_seconds.mean, "s"),
        ]
    return found


def _where(point: Measured, graph: Graph) -> str:
    return f"{point.policy}_{'m' if point.dt_ns < 0 else ''}{abs(point.dt_ns) / 1e9 / graph.a_alone.mean:.2f}TA"


def say(told: Progress) -> None:
    print(run_in_words(told), file=sys.stderr, flush=True)


def _figure(study: str, pair: str, what: str) -> str:
    return "_".join(filter(None, ("delta", study, pair, what.replace("-", "_"))))


if __name__ == "__main__":
    sys.exit(main())
