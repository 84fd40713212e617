#!/usr/bin/env python3
"""Four ranks write one file on the shared volume of a test bed: as log container, plainly, and each a file of its own.

Each rank's blocks of 47 KiB lie between those of the others. They are written by `pwrite` (`…_writes`), and by MPI-IO
through a view, with the data sieving that MPI-IO does by itself (`…_views`). All is durable: the time goes from before
the open until each rank has synced and closed. `over_nn`: the container's bandwidth over that of a file for each rank;
premise: one plain file reaches half of the latter at most. `n1_gain`: over one plain file without data sieving.

A file lies on one storage host, by a hash of its name. The files of the ranks are put onto the storage hosts where the
logs of the container lie, which were written just before: so the links are no part of what is compared.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from logged_writers import LOGS, PLAIN, Ranks, SharedVolume
from rounds import Rounds, unmet

from halcyon.errors import HalcyonError, HalcyonSystemError
from halcyon.testbed.bed import raised
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable

ROOM = "logfs"
RANKS = 4
PLAN = Plan(compute=RANKS, storage=8, mounts=RANKS, brick_bytes=1 << 30)
"""Eight storage hosts: of four files, two seldom share one."""
N1_AT_MOST = 0.5
"""Of the bandwidth of a file for each rank."""
SIZE: Mapping[str, object] = {"block": 47 << 10, "blocks": 256, "sync": 1}
WAYS: Mapping[str, Mapping[str, object]] = {"writes": {"way": "posix"}, "views": {"way": "view", "blocks_per_call": 16}}
NAMES = [f"writers.{rank:04d}" for rank in range(RANKS)]


def main() -> int:
    figures = ("over_nn", "over_nn_writes", "over_nn_views", "n1_gain")
    if reason := unavailable(PLAN):
        for name in figures:
            unmet(ROOM, name, reason)
        return 0
    try:
        with raised(PLAN) as bed:
            volume = SharedVolume(bed)
            measure_over_nn(volume)
            measure_gain(volume)
    except HalcyonError as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    return 0


def measure_over_nn(volume: SharedVolume) -> None:
    for one in Rounds(ROOM):
        ratios = []
        for name, way in WAYS.items():
            take = Take(volume, {**SIZE, **way})
            logged = take.logged()
            later: list[Callable[[], None]] = [take.own_files, take.one_file, take.own_files]
            for turn in range(3):
                later[(turn + one.made) % 3]()
            nn, again = take.of_own_files
            n1 = take.of_one_file[0]
            one.control(f"nn_control_{name}", again / nn)
            one.value(f"log_bandwidth_{name}", logged / 1e6, "MB/s")
            one.value(f"nn_bandwidth_{name}", nn / 1e6, "MB/s")
            one.value(f"n1_bandwidth_{name}", n1 / 1e6, "MB/s")
            one.value(f"n1_over_nn_{name}", n1 / nn, "ratio")
            one.require("one plain file is slow", n1 <= N1_AT_MOST * nn, f"{name}: {n1 / nn:.2f} of a file per rank")
            one.value(f"over_nn_{name}", logged / nn, "ratio")
            ratios.append(logged / nn)
        one.value("over_nn", min(ratios), "ratio")


def measure_gain(volume: SharedVolume) -> None:
    for one in Rounds(ROOM):
        ratios = []
        for name, way in WAYS.items():
            take = Take(volume, {**SIZE, **way, "sieve": "disable"})
            logged = 0.0
            for turn in range(3):
                if (turn + one.made) % 3 == 0:
                    logged = take.logged()
                else:
                    take.one_file()
            n1, again = take.of_one_file
            one.control(f"n1_gain_control_{name}", again / n1)
            one.value(f"n1_bandwidth_unsieved_{name}", n1 / 1e6, "MB/s")
            one.value(f"n1_gain_{name}", logged / n1, "ratio")
            ratios.append(logged / n1)
        one.value("n1_gain", min(ratios), "ratio")


@dataclass
class Take:
    """Runs that are compared with one another. Bandwidths are in bytes/s, in the order of the runs."""

    volume: SharedVolume
    settings: Mapping[str, object]
    servers: Sequence[str] = ()
    of_own_files: list[float] = field(default_factory=list)
    of_one_file: list[float] = field(default_factory=list)

    def logged(self) -> float:
        """Also says where the logs lie."""
        folder = f"{LOGS}/take"
        bandwidth = self._write(folder, 1, is_logged=True)
        self.servers = self.volume.servers_of(folder, "*/hostdir.*/data.*")
        self.volume.remove(folder)
        if len(self.servers) != RANKS:
            raise HalcyonSystemError(f"{len(self.servers)} logs of {RANKS} ranks were found on the storage hosts")
        return bandwidth

    def own_files(self) -> None:
        folder = f"{PLAIN}/own"
        self.volume.place(folder, NAMES, self.servers)
        self.of_own_files.append(self._write(folder, RANKS, is_logged=False))
        self.volume.remove(folder)

    def one_file(self) -> None:
        folder = f"{PLAIN}/one"
        self.of_one_file.append(self._write(folder, 1, is_logged=False))
        self.volume.remove(folder)

    def _write(self, folder: str, files: int, *, is_logged: bool) -> float:
        ranks = Ranks(RANKS, [host.name for host in self.volume.bed.plan.compute_hosts])
        settings = {**self.settings, "do": "write", "files": files, "keep": 1}
        return self.volume.run(ranks, "writers", folder, settings, logged=is_logged)["wrote"].bandwidth


if __name__ == "__main__":
    sys.exit(main())
