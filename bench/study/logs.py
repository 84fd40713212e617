#!/usr/bin/env python3
"""Why logs win (Wright 2014, chapter 5): N-N, N-M, N-1, and the writers of BT-IO's and FLASH-IO's kind, four ranks on a
test bed, plainly and with `--log`; each durable (synced within the time) and cached; and the files read back on as many
and on fewer hosts, through the library and through `halcyon mount`: 20 minutes.

Runs are kept in bench/study/logs/patterns.jsonl, beside the pictures; the same command goes on where it was ended. Each
run is traced, with and without logs alike. To try it on a busy machine with a fifth of the data:
`logs.py --smaller 5 --repeat 1 --data FOLDER [--only n1]`. `--page` measures nothing and prints tables for the docs.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from statistics import median

from logged_page import page
from logged_patterns import HALF_WIDTH, PLAN, REPEAT, Counted, Key, Run, Setup, counted, keys, run_of
from logged_picture import draw_bandwidths, draw_in_progress
from logged_run import RATES, Measuring
from logged_writers import SharedVolume
from quiet_bed import QuietBed
from rounds import count, unmet

from halcyon.delta.data_file import RunFile
from halcyon.delta.estimate import estimate
from halcyon.delta.forgiving import Failed, Forgiving
from halcyon.delta.identity import boot, programs
from halcyon.delta.measuring import FORGIVE, MOST_NOT_COUNTED
from halcyon.errors import HalcyonError
from halcyon.process_session import ended_in_order
from halcyon.testbed.bed import raised
from halcyon.testbed.requirements import unavailable

ROOM = "logfs"
PATIENCE_S = 300.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smaller", type=float, default=1.0, help="so many times less data; other work may go on")
    parser.add_argument("--repeat", type=int, default=REPEAT, help="runs of each kind")
    parser.add_argument("--minutes", type=float, default=60.0, help="after them, no run begins")
    parser.add_argument("--only", help="patterns whose names begin so, for trials")
    parser.add_argument("--page", action="store_true", help="print what is there as tables, and measure nothing")
    root = Path(os.environ.get("HALCYON_ROOT", Path(__file__).resolve().parents[2]))
    parser.add_argument("--data", type=Path, default=root / "bench/study/logs")
    asked = parser.parse_args()
    data = asked.data / "patterns.jsonl"
    try:
        if asked.page:
            print(page(data))
            return 0
        if reason := unavailable(PLAN):
            unmet(ROOM, "logs", reason)
            return 0
        asked.data.mkdir(parents=True, exist_ok=True)
        with ended_in_order():
            runs = measured(data, asked)
        if any(run.problem is None for run in runs):
            draw_bandwidths(runs, asked.data / "bandwidths.png")
            draw_in_progress(runs, asked.data / "in-progress.png")
        report(runs, asked)
    except HalcyonError as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def measured(data: Path, asked: argparse.Namespace) -> list[Run]:
    until_s = time.monotonic() + 60 * asked.minutes
    setup = Setup.of(asked.smaller)
    with (
        raised(PLAN) as bed,
        RunFile(data, setup, asdict(bed.plan), run_of) as file,
        ExitStack() as stack,
    ):
        quiet = QuietBed(bed, 0.0 if asked.smaller > 1 else PATIENCE_S)
        measuring = Measuring(SharedVolume(bed), asked.smaller, stack)
        forgiving = Forgiving(file, FORGIVE)
        while time.monotonic() < until_s and (key := next_key(file.runs, asked.repeat, asked.only)):
            quiet.renew([])
            begin_s = time.monotonic()
            forgiving.add(lambda key=key: measuring.run(key), lambda why, key=key: failed_run(key, why))
            say(file.runs[-1], time.monotonic() - begin_s)
        return list(file.runs)


def next_key(runs: Sequence[Run], repeat: int, only: str | None) -> Key | None:
    """One of those with the fewest runs, each time in another order; None: all have `repeat`, or fail too often."""
    wanted = [key for key in keys() if only is None or key.text.startswith(only)]
    count_of = {key: sum(run.key == key and run.problem is None for run in runs) for key in wanted}
    tries_of = {key: sum(run.key == key for run in runs) for key in wanted}
    left = [key for key in wanted if count_of[key] < repeat and tries_of[key] < 2 * repeat]
    if not left:
        return None
    fewest = min(tries_of[key] for key in left)
    # Neighbours of one repetition are others than those of the next one.
    step = (5 * fewest) % len(wanted)
    rotated = wanted[step:] + wanted[:step]
    return next(key for key in rotated if key in left and tries_of[key] == fewest)


def failed_run(key: Key, failed: Failed) -> Run:
    return Run(key, 0, 0, 0.0, {}, {}, {}, [], 0.0, failed.at_s, programs(), boot(), failed.why)


def report(runs: Sequence[Run], asked: argparse.Namespace) -> None:
    found = counted(runs)
    for key, one in found.items():
        if asked.only is not None and not key.text.startswith(asked.only):
            continue
        if why := why_unmet(one, runs, asked):
            unmet(ROOM, f"logs_{key.text}_bandwidth", why)
        else:
            tell(one)
    for key, one in found.items():
        plain = found.get(Key(key.pattern, "plain", key.durable, key.hosts, key.reads))
        if key.way == "plain" or plain is None:
            continue
        if not why_unmet(one, runs, asked) and not why_unmet(plain, runs, asked):
            ratio = median(run.bandwidth for run in one.runs) / median(run.bandwidth for run in plain.runs)
            count(ROOM, f"logs_{key.text}_over_plain", ratio, "ratio")


def why_unmet(one: Counted, runs: Sequence[Run], asked: argparse.Namespace) -> str:
    if asked.smaller != 1:
        return f"a trial with {asked.smaller:g} times less data"
    if len(one.runs) < REPEAT:
        return f"{len(one.runs)} of {REPEAT} runs; the same command goes on"
    tries = sum(run.key == one.key for run in runs)
    if tries - len(one.runs) > MOST_NOT_COUNTED * tries:
        return f"{tries - len(one.runs)} of {tries} runs do not count"
    if len({run.programs for run in one.runs}) > 1:
        return "its runs are of several builds of Halcyon; measure one build, with --data elsewhere"
    width = estimate([run.bandwidth for run in one.runs]).relative
    return f"an interval of ± {width:.0%}, above ± {HALF_WIDTH:.0%}" if width > HALF_WIDTH else ""


def tell(one: Counted) -> None:
    name = f"logs_{one.key.text}"
    count(ROOM, f"{name}_bandwidth", median(run.bandwidth for run in one.runs) / 1e6, "MB/s")
    count(ROOM, f"{name}_per_process", median(run.per_process for run in one.runs) / 1e6, "MB/s")
    for rate in RATES:
        if rates := [found for run in one.runs if (found := run.rates.get(rate)) is not None]:
            count(ROOM, f"{name}_{rate}", median(rates) / 1e6, "MB/s")


def say(run: Run, seconds: float) -> None:
    how = run.problem or f"{run.bandwidth / 1e6:.1f} MB/s"
    print(f"{run.key.text}: {how} ({seconds:.0f} s)", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
