"""Random operations on log containers by processes at a time, writers killed, bits of droppings changed: for as many
as one likes, or for as long.

    fault_campaign.py [--operations N] [--kills N] [--minutes M] [--seed S]

Most of it goes by the container's own interface (tests/logfs/campaign), a small share by a program's calls under the
library, without sums over the data and with them. What fails says how it is played again.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from halcyon.layers.logs import Logs
from halcyon.layers.preload import preloading

PROGRAM = Path(__file__).resolve().parents[3] / "build/release/tests/logfs/campaign/log_fault_campaign"
MEMORY = "/dev/shm"
SHARE = 20
"""One of so many operations and kills is made by a program's calls; of the minutes, one of four."""


@dataclass(frozen=True)
class Way:
    """How the processes come to the file."""

    name: str
    is_logged: bool = False
    checks: bool = False

    def variables(self, folder: Path) -> dict[str, str]:
        return preloading() | Logs((str(folder),), checks=self.checks).variables() if self.is_logged else {}

    def words(self, folder: Path) -> list[str]:
        checks = ["--checks", "yes"] if self.checks else []
        return ["--log", str(folder), *checks] if self.is_logged else []


CONTAINER = Way("by the container's interface")
LOGGED = Way("by calls of a program", is_logged=True)
SUMMED = Way("by calls of a program, with sums over the data", is_logged=True, checks=True)


def play(way: Way, words: Sequence[object], say: Callable[[str], object]) -> int:
    """The exit code; `say` gets each line."""
    with tempfile.TemporaryDirectory(prefix="log-faults-", dir=MEMORY) as folder:
        logs = Path(folder, "logs")
        logs.mkdir()
        with subprocess.Popen(
            [str(PROGRAM), *way.words(logs), *map(str, words)],
            env={**os.environ, "TMPDIR": folder, **way.variables(logs)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # reads of what was changed complain
            text=True,
        ) as played:
            assert played.stdout is not None
            for line in played.stdout:
                say(line.rstrip())
        return played.returncode


def shares(operations: int, kills: int, minutes: float | None) -> Iterator[tuple[Way, list[object]]]:
    for way in (CONTAINER, LOGGED, SUMMED):
        if minutes is not None:
            yield way, ["--minutes", minutes / 8 if way.is_logged else minutes * 3 / 4]
        else:
            part = 2 * SHARE if way.is_logged else 1
            yield way, ["--operations", operations // part, "--kills", kills // part]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--operations", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, help="all for so long, instead of so many")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for way, words in shares(given.operations, given.kills, given.minutes):
        print(f"{way.name}:", flush=True)
        if play(way, [*words, "--seed", given.seed], lambda line: print(f"  {line}", flush=True)) != 0:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
