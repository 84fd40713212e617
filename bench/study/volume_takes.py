"""Four ranks write one file on the shared volume of a test bed: as log container, plainly, and each a file of its own.

Each rank's blocks of 47 KiB lie between those of the others. They are written by `pwrite` (`writes`), and by MPI-IO
through a view (`views`). All is durable: the time goes from before the open until each rank has synced and closed.

A file lies on one storage host, by a hash of its name. The files of the ranks are put onto the storage hosts where the
logs of the container lie, which were written just before: so the links are no part of what is compared.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from logged_writers import LOGS, PLAIN, Ranks, SharedVolume
from rounds import unmet

from halcyon.errors import HalcyonError, HalcyonSystemError
from halcyon.testbed.bed import raised
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable

ROOM = "logfs"
RANKS = 4
PLAN = Plan(compute=RANKS, storage=8, mounts=RANKS, brick_bytes=2 << 30)
"""Eight storage hosts: of four files, two seldom share one."""
WAYS: Mapping[str, Mapping[str, object]] = {"writes": {"way": "posix"}, "views": {"way": "view", "blocks_per_call": 16}}
BLOCK = 47 << 10
NAMES = [f"writers.{rank:04d}" for rank in range(RANKS)]


def run_on_volume(figures: Sequence[str], measure: Callable[[SharedVolume], None], plan: Plan = PLAN) -> int:
    """The bench of these figures: its exit code."""
    if reason := unavailable(plan):
        for name in figures:
            unmet(ROOM, name, reason)
        return 0
    try:
        with raised(plan) as bed:
            measure(SharedVolume(bed))
    except HalcyonError as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    return 0


_numbers = count()


def new_folder(below: str) -> str:
    """Of a name that no other had: mounts that keep names would still know the one before."""
    return f"{below}/take-{next(_numbers)}"


@dataclass
class Take:
    """Runs that are compared with one another. `settings`: of the writers. Bandwidths are in bytes/s, in the order of
    the runs."""

    volume: SharedVolume
    settings: Mapping[str, object]
    servers: Sequence[str] = ()
    of_own_files: list[float] = field(default_factory=list)
    of_one_file: list[float] = field(default_factory=list)

    def logged(self, blocks: int) -> float:
        """`blocks`: of each rank. Also says where the logs lie."""
        folder = new_folder(LOGS)
        bandwidth = self._write(folder, 1, blocks, is_logged=True)
        self.servers = self.volume.servers_of(folder, "*/hostdir.*/data.*")
        self.volume.remove(folder)
        if len(self.servers) != RANKS:
            raise HalcyonSystemError(f"{len(self.servers)} logs of {RANKS} ranks were found on the storage hosts")
        return bandwidth

    def own_files(self, blocks: int) -> None:
        folder = new_folder(PLAIN)
        self.volume.place(folder, NAMES, self.servers)
        self.of_own_files.append(self._write(folder, RANKS, blocks, is_logged=False))
        self.volume.remove(folder)

    def one_file(self, blocks: int) -> None:
        folder = new_folder(PLAIN)
        self.of_one_file.append(self._write(folder, 1, blocks, is_logged=False))
        self.volume.remove(folder)

    def _write(self, folder: str, files: int, blocks: int, *, is_logged: bool) -> float:
        ranks = Ranks(RANKS, [host.name for host in self.volume.bed.plan.compute_hosts])
        settings = {
            "block": BLOCK,
            "blocks": blocks,
            "sync": 1,
            **self.settings,
            "do": "write",
            "files": files,
            "keep": 1,
        }
        return self.volume.run(ranks, "writers", folder, settings, logged=is_logged)["wrote"].bandwidth
