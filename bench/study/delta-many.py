#!/usr/bin/env python3
"""Three applications over two delays (Dorier 2014, section 6.1.2), and eight of different sizes.

Runs are kept in bench/study/delta/many-three.jsonl and many-eight.jsonl, beside the pictures; the same command goes on
where it was ended. Figures of a case whose premises fail are not met, nor those of a point whose interval stays wide.
To try it with a tenth of the data on a busy machine:
`delta-many.py --smaller 10 --repeat 1 --data FOLDER [--case three] [--most-points 4]`.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median

import several
from many_picture import draw_eight, draw_three
from many_premises import failed_premises
from many_studies import CASES, MINUTES, Case
from quiet_bed import QuietBed
from rounds import count, unmet
from several import Key, Point, Run, SeveralFile, run_several

from halcyon.delta.delays import Delays
from halcyon.delta.forgiving import Forgiving
from halcyon.delta.identity import boot, programs
from halcyon.delta.measuring import FORGIVE, Progress, Wanted, make_missing, of_key
from halcyon.delta.printed import run_in_words
from halcyon.delta.runs import Limits
from halcyon.errors import HalcyonError, UsageError
from halcyon.process_session import ended_in_order
from halcyon.testbed.bed import raised
from halcyon.testbed.requirements import unavailable

PART = {"three": 0.75, "eight": 0.25}
"""Of the limit of both cases together, less what the first one leaves."""


def main() -> int:
    about = f"{__doc__}\nNo run begins after {MINUTES} minutes."
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=sorted(CASES), help="one of them alone")
    parser.add_argument("--smaller", type=float, default=1.0, help="so many times less data; other work may go on")
    parser.add_argument("--most-points", type=int, help="of each case, for trials")
    parser.add_argument("--repeat", type=int, help="runs of each point, and no more")
    root = Path(os.environ.get("HALCYON_ROOT", Path(__file__).resolve().parents[2]))
    parser.add_argument("--data", type=Path, default=root / "bench/study/delta")
    asked = parser.parse_args()
    asked.data.mkdir(parents=True, exist_ok=True)
    until_s = time.monotonic() + 60 * MINUTES
    names = [asked.case] if asked.case else list(CASES)
    try:
        with ended_in_order():
            for i, name in enumerate(names):
                part = PART[name] / sum(PART[one] for one in names[i:])
                try:
                    measure_case(name, CASES[name], asked, part * (until_s - time.monotonic()))
                except UsageError as why:
                    unmet("coordinate", f"delta_many_{name}", str(why))
    except HalcyonError as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def measure_case(name: str, case: Case, asked: argparse.Namespace, within_s: float) -> None:
    if reason := unavailable(case.plan):
        unmet("coordinate", f"delta_many_{name}", reason)
        return
    print(case.question, file=sys.stderr)
    wanted = Wanted(Delays(), (), asked.repeat or case.repeat, asked.repeat or case.most)
    setup, until_s = case.setup(asked.smaller), time.monotonic() + within_s
    with (
        raised(case.plan) as bed,
        SeveralFile(asked.data / f"many-{name}.jsonl", setup, asdict(case.plan)) as file,
    ):
        place = QuietBed(bed, 0.0 if asked.smaller > 1 else 300.0)
        forgiving = Forgiving(file, FORGIVE)

        def make(key: Key) -> None:
            forgiving.add(
                lambda: run_several(place, setup, key, Limits()),
                lambda failed: Run(key, {}, None, failed.why, failed.at_s, failed.wall_s, programs(), boot()),
            )

        alone = [Key(alone=one.name) for one in setup.commands]
        make_missing(dict.fromkeys(alone, replace(wanted, most=wanted.repeat)), file.runs, make, until_s, say)
        keys = case.keys(first_alone_s(alone[0], file.runs, wanted))[: asked.most_points]
        make_missing(dict.fromkeys([*alone, *keys], wanted), file.runs, make, until_s, say)
    count("coordinate", f"delta_many_{name}_measured_minutes", sum(run.wall_s for run in file.runs) / 60, "min")
    found = several.points(setup, file.runs)
    if not found:
        unmet("coordinate", f"delta_many_{name}", "no run of all applications counts; the same command goes on")
        return
    draw = draw_three if name == "three" else draw_eight
    draw(found, asked.data / f"many-{name}.png")
    lacking = [key for key in keys if len(of_key(key, file.runs)) < wanted.repeat]
    failed = failed_premises(found, file.runs, several.alone(setup, file.runs)["A"].mean, len(lacking))
    if asked.smaller != 1:
        failed.insert(0, f"a trial with {asked.smaller:g} times less data")
    if failed:
        unmet("coordinate", f"delta_many_{name}", "; ".join(failed))
    else:
        report(name, found, several.alone(setup, file.runs)["A"].mean)


def first_alone_s(key: Key, runs: Sequence[Run], wanted: Wanted) -> float:
    """Of the first runs, which more runs do not change: delays are in units of it."""
    counted = of_key(key, runs)[: wanted.repeat]
    if not counted:
        raise UsageError(f"no run of {key.alone} alone counts: delays in units of its time are not known")
    return median(run.told[key.alone or ""].seconds for run in counted)


def report(name: str, found: Sequence[Point], largest_s: float) -> None:
    for point in found:
        at = "_".join([point.key.policy.replace("-", "_"), *(f"{ns / 1e9 / largest_s:.2f}TA" for ns in starts(point))])
        if not point.met:
            why = f"too wide an interval after {point.runs} runs"
            unmet("coordinate", f"delta_many_{name}_{at}", why)
            continue
        count("coordinate", f"delta_many_{name}_{at}_factors", point.sum_of_factors.mean, "ratio")
        count("coordinate", f"delta_many_{name}_{at}_core_s", point.core_seconds.mean, "s")
        greatest = max(one.mean for one in point.factors.values())
        count("coordinate", f"delta_many_{name}_{at}_greatest_factor", greatest, "ratio")


def starts(point: Point) -> tuple[int, ...]:
    """Those that tell points apart: of three, all; of eight, none, since they are the same."""
    return point.key.starts_ns if len(point.key.starts_ns) == 3 else ()


def say(told: Progress) -> None:
    print(run_in_words(told), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
