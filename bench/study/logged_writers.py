"""The writers of apps/ under MPI, on the hosts of a test bed or on this machine, with and without logs; and what they
print of their times."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rounds import unmet

from halcyon.errors import HalcyonError, HalcyonSystemError, UnavailableError
from halcyon.layers.preload import find_library, preloading
from halcyon.testbed.bed import Bed
from halcyon.testbed.place import BRICKS, MOUNTS

LAUNCHER = "mpirun.openmpi"
ROMIO = "romio321"
"""Open MPI's other way of MPI-IO has no data sieving of its own."""
LIMIT_S = 300
_LAST_WORDS = 600
_BLOCK = re.compile(r"^(\w+) (\d+) bytes, (\d+) files, ([\d.]+) s\n((?:  \w+ [\d.]+ [\d.]+\n)*)", re.MULTILINE)
LOGS, PLAIN = "logs", "plain"
"""Folders of the file system: files below the first one are log containers."""


@dataclass(frozen=True)
class Output:
    """An output phase, or the reading of it. `wall_s`: from the moment when all began to the end of the last rank.
    `slowest_s`, `sum_s`: of each step, the time of the slowest rank, and the sum over all ranks."""

    bytes: int
    files: int
    wall_s: float
    slowest_s: dict[str, float]
    sum_s: dict[str, float]

    @property
    def bandwidth(self) -> float:
        """Of all ranks together, in bytes/s."""
        return self.bytes / self.wall_s


def outputs_of(printed: str) -> dict[str, Output]:
    """By what was done: `wrote`, `read`. HalcyonSystemError: nothing was."""
    found: dict[str, Output] = {}
    for block in _BLOCK.finditer(printed):
        steps = [line.split() for line in block[5].splitlines()]
        found[block[1]] = Output(
            int(block[2]), int(block[3]), float(block[4]),
            {name: float(slowest) for name, slowest, _ in steps}, {name: float(total) for name, _, total in steps},
        )  # fmt: skip
    if not found:
        raise HalcyonSystemError(f"a writer printed no times: {' '.join(printed.split())[-_LAST_WORDS:]}")
    return found


def run_in_memory(room: str, figure: str, measure: Callable[[Path], None]) -> int:
    """The bench of one figure, whose files lie in memory: its exit code."""
    try:
        find_library()
    except UnavailableError as why:
        unmet(room, figure, str(why))
        return 0
    try:
        with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
            measure(Path(name))
    except HalcyonError as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    return 0


def program_of(app: str) -> str:
    return f"{os.environ['HALCYON_BUILD']}/apps/{app}/{app}"


def words_of(app: str, settings: Mapping[str, object]) -> str:
    """For a shell."""
    return " ".join([program_of(app), *(f"{key}={value}" for key, value in settings.items())])


@dataclass(frozen=True)
class Ranks:
    """Of one job: on `hosts` of a test bed, in turn; without, on this machine."""

    count: int
    hosts: Sequence[str] = ()

    def launch(self, script: str, variables: Mapping[str, str]) -> list[str]:
        """`script`: of each rank, for a shell."""
        on = ",".join(f"{host}:{self._on(i)}" for i, host in enumerate(self.hosts))
        placed = ["--host", on] if on else []
        passed = [word for name in variables for word in ("-x", name)]
        return [
            LAUNCHER, "--allow-run-as-root", "--oversubscribe", "--mca", "io", ROMIO, *placed, *passed, "-n",
            str(self.count), "sh", "-c", script,
        ]  # fmt: skip

    def _on(self, host: int) -> int:
        return len(range(host, self.count, len(self.hosts)))


class SharedVolume:
    """The file system of a test bed, each host of which has a mount of its own: so its folders have other names on
    other hosts."""

    def __init__(self, bed: Bed) -> None:
        self.bed = bed
        self.root = bed.inside(bed.mounts()[0][1])
        for name in (LOGS, PLAIN):
            (self.root / name).mkdir(exist_ok=True)

    def run(
        self, ranks: Ranks, app: str, folder: str, settings: Mapping[str, object], *,
        logged: bool, variables: Mapping[str, str] | None = None, below: str = f"{MOUNTS}/$(hostname)/0",
    ) -> dict[str, Output]:  # fmt: skip
        """What ranks print that write into `folder`, below LOGS or PLAIN. `below`: where they have the file system; a
        word for a shell. HalcyonSystemError: they failed."""
        own = dict(variables or {}) | (preloading() if logged else {})
        exports = f"export HALCYON_LOG=$m/{LOGS}; " if logged else ""
        # The shell itself is not preloaded, the program is.
        load = "".join(f"export {name}='{value}'; " for name, value in own.items())
        script = f"m={below}; {exports}{load}exec {words_of(app, settings)} directory=$m/{folder}"
        host = ranks.hosts[0]
        return _outputs(self.bed.command(host, ranks.launch(script, {})), self.bed.environment(host))

    def place(self, folder: str, names: Sequence[str], servers: Sequence[str]) -> None:
        """Makes files anew, each empty and on its storage host."""
        for name, server in zip(names, servers, strict=True):
            self.bed.place(f"{folder}/{name}", server)

    def servers_of(self, folder: str, pattern: str) -> list[str]:
        """Where the files that match lie: a storage host for each of them that holds data."""
        found = []
        for host in self.bed.plan.storage_hosts:
            for path in self.bed.inside(BRICKS / host.name).glob(f"{folder}/{pattern}"):
                if path.stat().st_size:  # else a pointer to another storage host
                    found.append(host.name)
        return found

    def remove(self, folder: str) -> None:
        shutil.rmtree(self.root / folder, ignore_errors=True)


def run_here(
    ranks: Ranks, app: str, folder: Path, settings: Mapping[str, object], *, logs: Path | None = None
) -> dict[str, Output]:
    """The same on this machine. `logs`: files below are log containers."""
    own = preloading() | {"HALCYON_LOG": str(logs)} if logs else {}
    load = "".join(f"export {name}='{value}'; " for name, value in own.items())
    script = f"{load}exec {words_of(app, settings)} directory={folder}"
    return _outputs(ranks.launch(script, {}), dict(os.environ))


def _outputs(command: Sequence[str], environment: Mapping[str, str]) -> dict[str, Output]:
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired as why:
        raise HalcyonSystemError(f"a writer did not end within {LIMIT_S} s") from why
    if done.returncode != 0:
        said = " ".join((done.stderr + done.stdout).split())[-_LAST_WORDS:]
        raise HalcyonSystemError(f"a writer failed with exit status {done.returncode}: {said}")
    return outputs_of(done.stdout)
