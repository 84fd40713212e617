#!/usr/bin/env python3
"""What logs cost where they gain nothing: four ranks that write a file each, below `--log` over plainly.

Blocks of 47 KiB by `pwrite`, one behind the other, 1 GiB in memory. The time goes from before the open to the end of
the last rank: the sum of TAKES runs of each kind, in turn.
"""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from logged_writers import LOGS, PLAIN, Ranks, run_here, run_in_memory
from rounds import Rounds

ROOM = "logfs"
RANKS = Ranks(4)
TAKES = 6
WRITE: Mapping[str, object] = {"block": 47 << 10, "blocks": 5584, "files": 0, "sync": 0, "do": "write"}


def measure(folder: Path) -> None:
    for one in Rounds(ROOM):
        seconds = [0.0, 0.0, 0.0]
        for turn in range(3 * TAKES):
            kind = (turn + turn // 3 + one.made) % 3
            seconds[kind] += write(folder / (LOGS if kind == 0 else PLAIN), is_logged=kind == 0)
        logged, plain, again = seconds
        one.value("nn_overhead", logged / plain, "ratio")
        one.control("nn_overhead_control", again / plain)


def write(place: Path, *, is_logged: bool) -> float:
    place.mkdir()
    took = run_here(RANKS, "writers", place, WRITE, logs=place if is_logged else None)["wrote"].wall_s
    containers = len(list(place.glob("*/halcyon-container")))
    if containers != (RANKS.count if is_logged else 0):
        raise SystemExit(f"error: {place} has {containers} log containers")
    shutil.rmtree(place)
    return took


if __name__ == "__main__":
    sys.exit(run_in_memory(ROOM, "nn_overhead", measure))
