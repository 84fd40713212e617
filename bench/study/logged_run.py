"""One run of logs.py on a test bed, and what its trace says."""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
from logged_patterns import PATTERNS, POINTS, RANKS, Key, Pattern, Run
from logged_writers import LOGS, PLAIN, Output, Ranks, SharedVolume

from halcyon.delta.identity import boot, programs
from halcyon.errors import HalcyonSystemError, UnavailableError
from halcyon.installed_program import find_installed
from halcyon.layers.record import prepare
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.dataset import Dataset
from halcyon.observe.pack import pack
from halcyon.testbed.place import HOME, mount_point

MOUNTED_S = 10.0
RATES = ("perceived_mpi", "effective_mpi", "perceived_posix", "effective_posix")
_FUSE = HOME / "fuse"
_DROP_CACHES = Path("/proc/sys/vm/drop_caches")


class Measuring:
    """Runs on a bed. Files that are read back are written once, by the way by which they are read."""

    def __init__(self, volume: SharedVolume, smaller: float, stack: ExitStack) -> None:
        self._volume = volume
        self._smaller = smaller
        self._stack = stack
        self._to_read: set[str] = set()
        self._is_mounted = False
        self._number = 0

    def run(self, key: Key) -> Run:
        """HalcyonSystemError: it failed."""
        at_s, made_by = time.time(), (programs(), boot())
        if key.way == "fuse":
            self._mount()
        folder = self._folder_to_read(key) if key.reads else self._new_folder(key)
        wanted = {"do": "read", "shift": 1} if key.reads else {"sync": int(key.durable)}
        if key.reads:
            _DROP_CACHES.write_text("3")  # mounts keep pages of the runs before
        try:
            with tempfile.TemporaryDirectory() as recorded:
                place = prepare([PATTERNS[key.pattern].app], ["trace"], Path(recorded) / "run")
                outputs = self._start(key, folder, wanted, place.variables)
                output = outputs["read" if key.reads else "wrote"]
                pack(place.place, place.place / "data")
                with Dataset.open(place.place / "data") as dataset:
                    rates, in_progress, transfers_s = of_trace(dataset, "read" if key.reads else "write")
        finally:
            if not key.reads:
                self._volume.remove(folder)
        return Run(
            key, output.bytes, output.files, output.wall_s, output.slowest_s, output.sum_s, rates, in_progress,
            transfers_s, at_s, *made_by,
        )  # fmt: skip

    def _start(
        self, key: Key, folder: str, wanted: Mapping[str, object], variables: Mapping[str, str]
    ) -> dict[str, Output]:
        pattern = PATTERNS[key.pattern]
        hosts = [host.name for host in self._volume.bed.plan.compute_hosts][: key.hosts]
        below = {"below": f"{_FUSE}/$(hostname)"} if key.way == "fuse" else {}
        return self._volume.run(
            Ranks(RANKS, hosts), pattern.app, folder, pattern.sized(self._smaller) | wanted,
            logged=key.way == "log", variables=variables, **below,
        )  # fmt: skip

    def _new_folder(self, key: Key) -> str:
        self._number += 1
        if key.way != "plain":
            return f"{LOGS}/{self._number}"
        folder = f"{PLAIN}/{self._number}"
        self._place(PATTERNS[key.pattern], folder)
        return folder

    def _folder_to_read(self, key: Key) -> str:
        """Containers are the same for both ways."""
        way = "plain" if key.way == "plain" else "log"
        folder = f"{PLAIN if way == 'plain' else LOGS}/read"
        if way not in self._to_read:
            self._volume.remove(folder)
            if way == "plain":
                self._place(PATTERNS[key.pattern], folder)
            self._start(Key(key.pattern, way), folder, {"sync": 1}, {})
            self._to_read.add(way)
        return folder

    def _place(self, pattern: Pattern, folder: str) -> None:
        """A rank's or a group's file on a storage host of its own: as good as it gets for plain files."""
        servers = [host.name for host in self._volume.bed.plan.storage_hosts]
        names = list(pattern.files)
        self._volume.place(folder, names, [servers[i % len(servers)] for i in range(len(names))])

    def _mount(self) -> None:
        """`halcyon mount` on each host, over its mount of the file system; they end with the study."""
        if self._is_mounted:
            return
        try:
            program = find_installed("halcyon-mount", "HALCYON_MOUNT")
        except UnavailableError as why:
            raise HalcyonSystemError(str(why)) from why
        for host in self._volume.bed.plan.compute_hosts:
            self._stack.enter_context(mounted(self._volume, host.name, program))
        self._is_mounted = True


@contextmanager
def mounted(volume: SharedVolume, host: str, program: Path) -> Iterator[None]:
    """HalcyonSystemError: it does not mount."""
    bed, point = volume.bed, _FUSE / host
    bed.inside(point).mkdir(parents=True, exist_ok=True)
    process = bed.popen(host, [str(program), "--foreground", str(mount_point(host, 0)), str(point)])
    try:
        until_s = time.monotonic() + MOUNTED_S
        while not bed.inside(point).is_mount():
            if time.monotonic() > until_s or process.poll() is not None:
                raise HalcyonSystemError(f"halcyon-mount does not mount {point} on {host}")
            time.sleep(0.01)
        yield
    finally:
        # A signal to `process` would reach what enters the host, not the program.
        bed.run(host, [str(program), "--unmount", "--lazy", str(point)], capture_output=True, check=False)
        process.wait(MOUNTED_S)


def of_trace(dataset: Dataset, kind: str) -> tuple[dict[str, float | None], list[float], float]:
    """Rates, and how many transfers were in progress between the first and the last of them."""
    answers = Answers(dataset)
    whole = next((one for one in answers.bandwidths if one.file is None and one.kind == kind), None)
    if whole is None:
        raise HalcyonSystemError(f"the trace has no transfers of kind {kind}")
    rates: dict[str, float | None] = {name: getattr(whole, name) for name in RATES}
    found = answers.concurrency
    means = next((one.mean for one in found.series if (one.level, one.kind) == ("posix", kind)), [])
    curve = within(means)
    return rates, resampled(curve), len(curve) * found.bin_s


def within(means: Sequence[float]) -> Sequence[float]:
    """From the first bin in which there was a transfer to the last one."""
    there = np.flatnonzero(np.asarray(means))
    return means[there[0] : there[-1] + 1] if there.size else []


def resampled(means: Sequence[float]) -> list[float]:
    """In POINTS parts, or in as many as there are."""
    parts = np.array_split(np.asarray(means, dtype=float), min(POINTS, len(means)) or 1)
    return [round(float(part.mean()), 4) for part in parts if part.size]
