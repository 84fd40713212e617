#!/usr/bin/env python3
"""What reading ahead of a program gains on storage that is slow: `prefetch_gain.py [PATTERN…]`.

The storage is a file system in an image of its own, which a control group limits to RATE; that needs root. The program
(prefetch_gain.cpp) reads in steps, a step taking the storage S, and computes C after each, about as long. In each round
it runs with the layers, without any, and without any once more (the control), each time with nothing of its file in
memory. With reads and computation in turn a step takes C + S, with all reads ahead max(C, S).
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rounds import Rounds, unmet

from halcyon.testbed.limited_storage import Storage, limited_storage

BUILD = Path(os.environ["HALCYON_BUILD"])
PROGRAM = BUILD / "bench/predict/prefetch_gain"
LIBRARY = BUILD / "lib/libhalcyon-io.so"
RATE = 8 << 20
STEP_BYTES = 32 * (128 << 10)
STEP_S = STEP_BYTES / RATE
FILE_BYTES = 340 << 20
STEPS = {"strided": 20, "backward": 20, "contiguous": 10, "random": 10, "cached": 21}
"""Of 32 reads of 128 KiB. Those of `cached` are in memory."""
FIGURES = {
    "strided": "prefetch_gain",
    "backward": "prefetch_gain_backward",
    "contiguous": "prefetch_speed_contiguous",
    "random": "prefetch_speed_random",
    "cached": "prefetch_cached_read_us",
}
SHORT = ("strided", "cached")
"""What is measured unless patterns are named: together less than ten minutes."""
CALIBRATIONS = 3
CALIBRATION_STEPS = 5
CACHED_ROUNDS = 25
LAYERS = "predict,prefetch"
READING_OVER_COMPUTE = (0.7, 1.4)
READING_OVER_LIMIT = (0.7, 1.5)
"""Of the time that the limit alone would make of it."""


@dataclass(frozen=True)
class Run:
    """Seconds of a step: all of it, and its reads."""

    step_s: float
    reading_s: float


def take(storage: Storage, pattern: str, compute_s: float, layers: str, steps: int | None = None) -> Run:
    """The mean over the steps of a run, by default as many as the pattern has."""
    steps = steps or STEPS[pattern]
    assert storage.group is not None
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as facts:
        if layers:
            environment |= {"HALCYON_LAYERS": layers, "HALCYON_TRACE_DIR": facts, "LD_PRELOAD": str(LIBRARY)}
        words = [str(PROGRAM), str(storage.directory / "file"), pattern, str(steps), f"{compute_s * 1e9:.0f}"]
        join = ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(storage.group.members)]
        done = subprocess.run([*join, *words], env=environment, capture_output=True, text=True, check=True)
        for path in Path(facts).glob("*.predict"):
            lines = [line for line in path.read_text().splitlines() if line.startswith("prefetch_")]
            told = (line.removeprefix("prefetch_") for line in lines if not line.endswith(" 0"))
            print(f"{pattern}: {', '.join(told)}", file=sys.stderr)
    whole_ns, reading_ns = map(float, done.stdout.split())
    return Run(whole_ns / 1e9 / steps, reading_ns / 1e9 / steps)


def in_turn(storage: Storage, pattern: str, compute_s: float, turn: int) -> dict[str, Run]:
    order = [LAYERS, "", "control"]
    order = order[turn % 3 :] + order[: turn % 3]
    return {what: take(storage, pattern, compute_s, "" if what == "control" else what) for what in order}


def require_limit(current: Rounds, plain: Run) -> None:
    share = plain.reading_s / STEP_S
    low, high = READING_OVER_LIMIT
    detail = f"the reads of a step took {share:.2f} of what the limit makes of them, expected {low} to {high}"
    current.require("the limit bites", low <= share <= high, detail)


def gain(storage: Storage, pattern: str) -> None:
    """How many times as fast with the layers as without, over how many times it could be."""
    takes = [take(storage, pattern, STEP_S, "", CALIBRATION_STEPS).reading_s for _ in range(CALIBRATIONS)]
    compute_s = median(takes)
    low, high = READING_OVER_COMPUTE
    for current in (rounds := Rounds("predict")):
        took = in_turn(storage, pattern, compute_s, rounds.made)
        plain = took[""]
        require_limit(current, plain)
        share = plain.reading_s / compute_s
        detail = f"reading/computing {share:.2f}, expected {low} to {high}"
        current.require("reading takes about as long as computing", low <= share <= high, detail)
        possible = (compute_s + plain.reading_s) / max(compute_s, plain.reading_s)
        current.value(FIGURES[pattern], plain.step_s / took[LAYERS].step_s / possible, "ratio")
        current.control(f"{FIGURES[pattern]}_control", took["control"].step_s / plain.step_s)
        if not low <= share <= high:
            compute_s = plain.reading_s


def speed(storage: Storage, pattern: str) -> None:
    """The same of a program that has nothing to gain: it computes nothing."""
    for current in (rounds := Rounds("predict")):
        took = in_turn(storage, pattern, 0, rounds.made)
        require_limit(current, took[""])
        current.value(FIGURES[pattern], took[""].step_s / took[LAYERS].step_s, "ratio")
        current.control(f"{FIGURES[pattern]}_control", took["control"].step_s / took[""].step_s)


def cached(storage: Storage, pattern: str) -> None:
    """What it costs where there is nothing to gain, a read: beside the layer `predict` alone."""
    storage.limit_reads(1 << 40)
    (storage.directory / "file").read_bytes()
    read_us = 1e6 / 32
    for current in Rounds("predict", CACHED_ROUNDS):
        with_it = take(storage, pattern, 0, LAYERS).step_s
        alone = take(storage, pattern, 0, "predict").step_s
        again = take(storage, pattern, 0, "predict").step_s
        current.value(FIGURES[pattern], (with_it - alone) * read_us, "us")
        current.value(f"{FIGURES[pattern]}_control", (again - alone) * read_us, "us")
        current.require_control(FIGURES[pattern], again / alone)


MEASURED = {"strided": gain, "backward": gain, "contiguous": speed, "random": speed, "cached": cached}


def main(patterns: list[str]) -> int:
    place = Path("storage").absolute()
    place.mkdir(exist_ok=True)
    with limited_storage(place) as storage:
        why = storage.why_plain
        if shutil.disk_usage(place).free < 2 << 30:
            why = "no room for an image of 1 GiB"
        if why is not None:
            for pattern in patterns:
                unmet("predict", FIGURES[pattern], f"the storage cannot be limited: {why}")
            return 0
        with (storage.directory / "file").open("wb") as file:
            for _ in range(FILE_BYTES >> 20):
                file.write(b"x" * (1 << 20))
        for pattern in patterns:
            storage.settle()
            storage.limit_reads(RATE)
            MEASURED[pattern](storage, pattern)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(SHORT)))
