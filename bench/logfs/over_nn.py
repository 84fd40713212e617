#!/usr/bin/env python3
"""One file of four ranks as log container, over a plain file for each rank, on the shared volume of a test bed
(volume_takes.py).

`over_nn`: the container's bandwidth over that of a file for each rank, by `pwrite` (`…_writes`) and through views with
the data sieving that MPI-IO does by itself (`…_views`); the lower of the two. On mounts that keep what they have read:
over_nn_caching.py. Premise: one plain file reaches half of the bandwidth of a file for each rank at most; its own
bandwidth, which does not depend on how much is written, is that of a quarter of the blocks. Where two logs share a
storage host, it would reach half: then the container is written anew, before anything is compared.
"""

import sys
from collections.abc import Callable

from logged_writers import SharedVolume
from rounds import Rounds
from volume_takes import RANKS, ROOM, WAYS, Take, run_on_volume

from halcyon.errors import HalcyonSystemError

BLOCKS = 4096
N1_AT_MOST = 0.5
"""Of the bandwidth of a file for each rank."""
MOST_TRIES = 50


def measure(volume: SharedVolume, figure: str = "over_nn") -> None:
    for one in Rounds(ROOM):
        ratios = []
        for name, way in WAYS.items():
            take = Take(volume, way)
            logged = on_hosts_apart(take)
            later: list[Callable[[], None]] = [
                lambda take=take: take.own_files(BLOCKS),
                lambda take=take: take.one_file(BLOCKS // 4),
                lambda take=take: take.own_files(BLOCKS),
            ]  # fmt: skip
            for turn in range(3):
                later[(turn + one.made) % 3]()
            nn, again = take.of_own_files
            n1 = take.of_one_file[0]
            one.control(f"{figure}_control_{name}", again / nn)
            one.value(f"{figure}_log_bandwidth_{name}", logged / 1e6, "MB/s")
            one.value(f"{figure}_nn_bandwidth_{name}", nn / 1e6, "MB/s")
            one.value(f"{figure}_n1_bandwidth_{name}", n1 / 1e6, "MB/s")
            one.value(f"{figure}_n1_{name}", n1 / nn, "ratio")
            one.require("one plain file is slow", n1 <= N1_AT_MOST * nn, f"{name}: {n1 / nn:.2f} of a file per rank")
            one.value(f"{figure}_{name}", logged / nn, "ratio")
            ratios.append(logged / nn)
        one.value(figure, min(ratios), "ratio")


def on_hosts_apart(take: Take) -> float:
    for _ in range(MOST_TRIES):
        bandwidth = take.logged(BLOCKS)
        if len(set(take.servers)) == RANKS:
            return bandwidth
    raise HalcyonSystemError(f"in {MOST_TRIES} containers two logs lay on one storage host")


if __name__ == "__main__":
    sys.exit(run_on_volume(("over_nn", "over_nn_writes", "over_nn_views"), measure))
