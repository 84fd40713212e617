#!/usr/bin/env python3
"""Three applications over two delays (Dorier 2014, section 6.1.2), and eight of different sizes: at most 90 minutes.

Runs are kept in bench/study/delta/many-three.jsonl and many-eight.jsonl, beside the pictures; the same command goes on
where it was ended. Figures of a case whose premises fail are not met. To try it with a tenth of the data on a busy
machine: `delta-many.py --smaller 10 --repeat 1 --data FOLDER [--case three] [--most-points 4]`.
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
from many_studies import CASES, Case
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
from halcyon.testbed.check import LEAST_LINK_SHARE
from halcyon.testbed.requirements import unavailable

LIMIT_S = 85 * 60.0
"""After this, no run begins: of both cases together."""
PART = {"three": 0.7, "eight": 0.3}
"""Of the limit."""
LEAST_LARGEST_S, MOST_LARGEST_S = 5.0, 10.0
"""Time in I/O alone of the largest application."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=sorted(CASES), help="one of them alone")
    parser.add_argument("--smaller", type=float, default=1.0, help="so many times less data; other work may go on")
    parser.add_argument("--most-points", type=int, help="of each case, for trials")
    parser.add_argument("--repeat", type=int, help="runs of each point, and no more")
    root = Path(os.environ.get("HALCYON_ROOT", Path(__file__).resolve().parents[2]))
    parser.add_argument("--data", type=Path, default=root / "bench/study/delta")
    asked = parser.parse_args()
    asked.data.mkdir(parents=True, exist_ok=True)
    try:
        with ended_in_order():
            for name in [asked.case] if asked.case else CASES:
                measure_case(name, CASES[name], asked)
    except HalcyonError as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def measure_case(name: str, case: Case, asked: argparse.Namespace) -> None:
    if reason := unavailable(case.plan):
        unmet("coordinate", f"delta_many_{name}", reason)
        return
    print(case.question, file=sys.stderr)
    wanted = Wanted(Delays(), (), asked.repeat or 3, asked.repeat or 15)
    setup, until_s = case.setup(asked.smaller), time.monotonic() + PART[name] * LIMIT_S
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
    found = several.points(setup, file.runs)
    draw = draw_three if name == "three" else draw_eight
    draw(found, asked.data / f"many-{name}.png")
    lacking = [key for key in keys if len(of_key(key, file.runs)) < wanted.repeat]
    report(name, found, several.alone(setup, file.runs)["A"].mean, len(lacking))


def first_alone_s(key: Key, runs: Sequence[Run], wanted: Wanted) -> float:
    """Of the first runs, which more runs do not change: delays are in units of it."""
    counted = of_key(key, runs)[: wanted.repeat]
    if not counted:
        raise UsageError(f"no run of {key.alone} alone counts: delays in units of its time are not known")
    return median(run.told[key.alone or ""].seconds for run in counted)


def report(name: str, found: Sequence[Point], largest_s: float, lacking: int) -> None:
    failed = failed_premises(found, largest_s, lacking)
    if failed:
        unmet("coordinate", f"delta_many_{name}", "; ".join(failed))
        return
    for point in found:
        at = "_".join([point.key.policy.replace("-", "_"), *(f"{ns / 1e9 / largest_s:.2f}TA" for ns in starts(point))])
        count("coordinate", f"delta_many_{name}_{at}_factors", point.sum_of_factors.mean, "ratio")
        count("coordinate", f"delta_many_{name}_{at}_core_s", point.core_seconds.mean, "s")
        greatest = max(one.mean for one in point.factors.values())
        count("coordinate", f"delta_many_{name}_{at}_greatest_factor", greatest, "ratio")


def starts(point: Point) -> tuple[int, ...]:
    """Those that tell points apart: of three, all; of eight, none, since they are the same."""
    return point.key.starts_ns if len(point.key.starts_ns) == 3 else ()


def failed_premises(found: Sequence[Point], largest_s: float, lacking: int) -> list[str]:
    """Why the figures say nothing; empty: nothing speaks against them."""
    said = []
    if not LEAST_LARGEST_S <= largest_s <= MOST_LARGEST_S:
        said.append(
            f"the largest application is in I/O for {largest_s:.2f} s, not {LEAST_LARGEST_S:g} to {MOST_LARGEST_S:g}"
        )
    shares = [one.link_share for one in found if one.key.policy == "none" and one.link_share is not None]
    if max(shares, default=0.0) < LEAST_LINK_SHARE:
        said.append(f"storage links carry {max(shares, default=0.0):.2f} of their rate, not {LEAST_LINK_SHARE:g}")
    if lacking:
        said.append(f"{lacking} points lack runs; the same command goes on")
    wide = sum(not one.met for one in found)
    if wide:
        said.append(f"{wide} of {len(found)} points have too wide an interval")
    return said


def say(told: Progress) -> None:
    print(run_in_words(told), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
