#!/usr/bin/env python3
"""What reading ahead of a program gains on storage that is slow.

The storage is a file system in an image of its own, which a control group limits to RATE; without root it is left out.
The program (prefetch_gain.cpp) reads in steps, a step taking the storage S, and computes C = S after each. In each
round it runs with the layers, without any, and without any once more (the control), each time with nothing of its file
in memory. With reads and computation in turn a step takes C + S, with all reads ahead max(C, S): the speed-up that is
possible is 2.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from halcyon.demo.storage import Storage, limited_storage

BUILD = Path(os.environ.get("HALCYON_BUILD", Path(__file__).resolve().parents[2] / "build/release"))
PROGRAM = BUILD / "bench/predict/prefetch_gain"
LIBRARY = BUILD / "lib/libhalcyon-io.so"
RATE = 8 << 20
STEP_BYTES = 32 * (128 << 10)
FILE_BYTES = 340 << 20
STEPS = {"strided": 20, "backward": 20, "contiguous": 10, "random": 10, "cached": 21}
"""Of 32 reads of 128 KiB. Those of `cached` are in memory."""
ROUNDS = {"strided": 5, "backward": 3, "contiguous": 3, "random": 3, "cached": 25}


def show(name: str, values: list[float], unit: str) -> None:
    deciles = statistics.quantiles(values, n=10, method="inclusive")
    for suffix, value in (("", statistics.median(values)), ("_p10", deciles[0]), ("_p90", deciles[-1])):
        print(f"predict.{name}{suffix} {value:.6g} {unit}", flush=True)


def take(storage: Storage, pattern: str, compute_ns: float, layers: str) -> float:
    """Seconds of all steps."""
    assert storage.group is not None
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as facts:
        if layers:
            environment |= {"HALCYON_LAYERS": layers, "HALCYON_TRACE_DIR": facts, "LD_PRELOAD": str(LIBRARY)}
        words = [str(PROGRAM), str(storage.directory / "file"), pattern, str(STEPS[pattern]), f"{compute_ns:.0f}"]
        join = ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(storage.group.members)]
        done = subprocess.run([*join, *words], env=environment, capture_output=True, text=True, check=True)
        for path in Path(facts).glob("*.predict"):
            lines = [line for line in path.read_text().splitlines() if line.startswith("prefetch_")]
            told = (line.removeprefix("prefetch_") for line in lines if not line.endswith(" 0"))
            print(f"{pattern}: {', '.join(told)}", file=sys.stderr)
    return float(done.stdout.split()[0]) / 1e9


def compare(storage: Storage, pattern: str, compute_ns: float) -> tuple[list[float], list[float]]:
    """How many times as fast with the layers as without, and without as without."""
    gains, controls = [], []
    for turn in range(ROUNDS[pattern]):
        took = {}
        order = ["predict,prefetch", "", "control"]
        for what in order[turn % 3 :] + order[: turn % 3]:
            took[what] = take(storage, pattern, compute_ns, "" if what == "control" else what)
        gains.append(took[""] / took["predict,prefetch"])
        controls.append(took["control"] / took[""])
    return gains, controls


def main() -> int:
    place = Path("storage").absolute()
    place.mkdir(exist_ok=True)
    if shutil.disk_usage(place).free < 2 << 30:
        print("left out: no room for an image of 1 GiB", file=sys.stderr)
        return 77
    with limited_storage(place) as storage:
        if storage.group is None:
            print(f"left out: {storage.why_plain}", file=sys.stderr)
            return 77
        with (storage.directory / "file").open("wb") as file:
            for _ in range(FILE_BYTES >> 20):
                file.write(b"x" * (1 << 20))
        storage.settle()
        storage.limit_reads(RATE)
        compute_ns = STEP_BYTES / RATE * 1e9
        for pattern in ("strided", "backward"):
            gains, controls = compare(storage, pattern, compute_ns)
            if max(controls) > 2 or statistics.median(gains) > 2.2:
                print("left out: the kernel does not hold to the limit", file=sys.stderr)
                return 77
            name = "prefetch_gain" if pattern == "strided" else f"prefetch_gain_{pattern}"
            show(name, [gain / 2 for gain in gains], "ratio")
            show(f"{name}_control", controls, "ratio")
        for pattern in ("contiguous", "random"):
            gains, controls = compare(storage, pattern, 0)
            show(f"prefetch_speed_{pattern}", gains, "ratio")
            show(f"prefetch_speed_{pattern}_control", controls, "ratio")
        cached(storage)
    return 0


def cached(storage: Storage) -> None:
    """What it costs where there is nothing to gain, a read: beside the layer `predict` alone."""
    storage.limit_reads(1 << 40)
    (storage.directory / "file").read_bytes()
    reads = STEPS["cached"] * 32
    costs, controls = [], []
    for _ in range(ROUNDS["cached"]):
        with_it = take(storage, "cached", 0, "predict,prefetch")
        alone = take(storage, "cached", 0, "predict")
        again = take(storage, "cached", 0, "predict")
        costs.append((with_it - alone) / reads * 1e6)
        controls.append((again - alone) / reads * 1e6)
    show("prefetch_cached_read_us", costs, "us")
    show("prefetch_cached_read_us_control", controls, "us")


if __name__ == "__main__":
    sys.exit(main())
