#!/usr/bin/env python3
"""One file of four ranks as log container, over one plain file, both without data sieving, on the shared volume of a
test bed (volume_takes.py): by `pwrite`, through views, and the lower of the two."""

import sys

from logged_writers import SharedVolume
from rounds import Rounds
from volume_takes import ROOM, WAYS, Take, run_on_volume

BLOCKS = 1024


def measure(volume: SharedVolume) -> None:
    for one in Rounds(ROOM):
        ratios = []
        for name, way in WAYS.items():
            take = Take(volume, {**way, "sieve": "disable"})
            logged = 0.0
            for turn in range(3):
                if (turn + one.made) % 3 == 0:
                    logged = take.logged(BLOCKS)
                else:
                    take.one_file(BLOCKS)
            n1, again = take.of_one_file
            one.control(f"n1_gain_control_{name}", again / n1)
            one.value(f"n1_bandwidth_unsieved_{name}", n1 / 1e6, "MB/s")
            one.value(f"n1_gain_{name}", logged / n1, "ratio")
            ratios.append(logged / n1)
        one.value("n1_gain", min(ratios), "ratio")


if __name__ == "__main__":
    sys.exit(run_on_volume(("n1_gain",), measure))
