#!/usr/bin/env python3
"""How fast four ranks read a log container that four ranks wrote, over a plain file with the same bytes.

Blocks of 47 KiB lie between those of other ranks; each rank reads the blocks of the next one, by `pread`. Both files
lie in memory and have 1 GiB. The time goes from before the open to the end of the last rank: the sum of TAKES runs of
each kind, in turn.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from logged_writers import LOGS, PLAIN, Ranks, run_here, run_in_memory
from rounds import Rounds

from halcyon.errors import HalcyonError

ROOM = "logfs"
RANKS = Ranks(4)
TAKES = 6
SIZE: Mapping[str, object] = {"block": 47 << 10, "blocks": 5584, "files": 1, "sync": 0}
READ = SIZE | {"do": "read", "shift": 1}


def measure(folder: Path) -> None:
    logs, plain = folder / LOGS, folder / PLAIN
    for place, is_logged in ((logs, True), (plain, False)):
        place.mkdir()
        run_here(RANKS, "writers", place, SIZE | {"do": "write"}, logs=logs if is_logged else None)
    if not (logs / "writers.0000/halcyon-container").is_file():
        raise HalcyonError(f"{logs}: its file is no log container")
    for one in Rounds(ROOM):
        seconds = [0.0, 0.0, 0.0]
        moved = 0
        for turn in range(3 * TAKES):
            kind = (turn + turn // 3 + one.made) % 3
            place = logs if kind == 0 else plain
            # What is read is compared with what was written: other bytes are an error.
            read = run_here(RANKS, "writers", place, READ, logs=logs if kind == 0 else None)["read"]
            seconds[kind] += read.wall_s
            moved = TAKES * read.bytes
        logged, reference, again = (moved / each for each in seconds)
        one.value("read_back_ranks_bandwidth", logged / 1e6, "MB/s")
        one.value("read_back_ranks", logged / reference, "ratio")
        one.control("read_back_ranks_control", again / reference)


if __name__ == "__main__":
    sys.exit(run_in_memory(ROOM, "read_back_ranks", measure))
