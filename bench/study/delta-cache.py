#!/usr/bin/env python3
"""Two periodic writers that fall into step and lose the storage's cache (Dorier 2014, figure 6.3): 32 minutes.

The token bucket of the storage link plays the cache: a phase of A that finds it full passes at the speed of the compute
link. A writes every ten units of time, B every seven, as in the thesis: A alone, B alone, and both from one moment on,
each seven times for 84 s. Runs are kept in bench/study/delta/cache.jsonl, beside the picture.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from cache_lost import LINK_BYTES_PER_S, PLAN, RUNS, cache_lost, of_a, runs_of_all
from cache_writers import PHASES, cache_setup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from quiet_bed import QuietBed
from rounds import count, unmet

from halcyon.delta.data_file import DataFile
from halcyon.delta.delays import Delay, Delays
from halcyon.delta.io_time import Phase
from halcyon.delta.measuring import ALONE, FORGIVE, Progress, Wanted, measure, of_key
from halcyon.delta.printed import run_in_words
from halcyon.delta.runs import Key, Limits, Run, Told
from halcyon.errors import HalcyonError, UsageError
from halcyon.figures.axes import label_rate, label_time, legend_above
from halcyon.figures.picture import MUTED, SERIES, WIDTH_IN
from halcyon.figures.picture_file import save_picture
from halcyon.process_session import ended_in_order
from halcyon.testbed.bed import Bed, raised
from halcyon.testbed.requirements import unavailable


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(os.environ.get("HALCYON_ROOT", Path(__file__).resolve().parents[2]))
    parser.add_argument("--data", type=Path, default=root / "bench/study/delta")
    parser.add_argument(
        "--phases", type=int, default=PHASES, help="of A; fewer are a trial, beside which other work may go on"
    )
    parser.add_argument("--repeat", type=int, default=RUNS)
    asked = parser.parse_args()
    if reason := unavailable(PLAN):
        unmet("coordinate", "delta_cache_lost", reason)
        return 0
    asked.data.mkdir(parents=True, exist_ok=True)
    try:
        with ended_in_order(), raised(PLAN) as bed:
            runs = measured(bed, asked.data / "cache.jsonl", asked.phases, asked.repeat)
        if runs_of_all(runs) > 0:
            draw(runs, asked.data / "cache.png")
        report(runs, asked.phases)
    except HalcyonError as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def measured(bed: Bed, file: Path, phases: int, repeat: int) -> list[Run]:
    setup = cache_setup(phases)
    wanted = Wanted(Delays((Delay(0.0),)), ("none",), repeat, repeat)
    place = QuietBed(bed, 300.0 if phases >= PHASES else 0.0)
    with DataFile(file, setup, asdict(bed.plan)) as data:
        measure(place, setup, [wanted], data, Limits(), say, forgive=FORGIVE)
        return list(data.runs)


def report(runs: Sequence[Run], phases: int = PHASES) -> None:
    count("coordinate", "delta_cache_measured_minutes", sum(run.wall_s for run in runs) / 60, "min")
    try:
        if phases < PHASES:
            raise UsageError(f"a trial of {phases} phases")
        found = cache_lost(runs)
    except UsageError as why:
        unmet("coordinate", "delta_cache_lost", str(why))
        return
    count("coordinate", "delta_cache_alone_over_link", found.alone_over_link, "ratio")
    count("coordinate", "delta_cache_lost_alone", found.lost_alone, "share")
    count("coordinate", "delta_cache_lost", found.lost, "share")
    if found.lost_over_alone is not None:
        count("coordinate", "delta_cache_lost_over_alone", found.lost_over_alone, "ratio")


def draw(runs: Sequence[Run], path: Path) -> None:
    """The last runs of A: alone, and beside B."""
    alone, beside = of_a(ALONE[0], runs)[-1], of_key(Key(), runs)[-1]
    save_picture(lambda: _figure(alone, beside), path)


def _figure(alone: Told, beside: Run) -> Figure:
    assert beside.a is not None
    assert beside.b is not None
    figure = Figure(figsize=(WIDTH_IN, 4.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, sharey=True)
    _bars(above, alone.phases, alone.begin_ns, SERIES[1], "A")
    above.set_title("A alone")
    for i, phase in enumerate(beside.b.phases):
        begin_s = (phase.begin_ns - beside.a.begin_ns) / 1e9
        below.axvspan(begin_s, begin_s + phase.seconds, color=SERIES[0], alpha=0.35, linewidth=0,
                      label="" if i else "B writes")  # fmt: skip
    _bars(below, beside.a.phases, beside.a.begin_ns, SERIES[1], "A")
    below.set_title("A beside B")
    for axes in (above, below):
        axes.axhline(LINK_BYTES_PER_S, color=MUTED, linewidth=0.9, linestyle="--", label="rate of the storage link")
        label_rate(axes.yaxis, [phase.bytes / phase.seconds for phase in alone.phases], "A's phases")
    label_time(below.xaxis, [10.0], "since A's first phase")
    legend_above(figure, below)
    return figure


def _bars(axes: Axes, phases: Sequence[Phase], zero_ns: int, colour: str, label: str) -> None:
    """As high as a phase's rate, as wide as its time."""
    axes.bar(
        [(phase.begin_ns - zero_ns) / 1e9 for phase in phases], [phase.bytes / phase.seconds for phase in phases],
        [max(phase.seconds, 0.15) for phase in phases], align="edge", color=colour, label=label,
    )  # fmt: skip


def say(told: Progress) -> None:
    print(run_in_words(told), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
