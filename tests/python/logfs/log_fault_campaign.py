"""Random operations on log containers by processes at a time, writers killed, bits of droppings changed: for as many
as one likes, or for as long.

    log_fault_campaign.py [--operations N] [--kills N] [--minutes M] [--seed S]
    log_fault_campaign.py --way container|logged|summed --seed S --from ROUND --rounds N

Most of it goes by the container's own interface (tests/logfs/campaign), a small share by a program's calls under the
library, without sums over the data and with them. What fails says how it is played again.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
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


LOGGED = Way("by calls of a program", is_logged=True)
SUMMED = Way("by calls of a program, with sums over the data", is_logged=True, checks=True)
WAYS = {"container": Way("by the container's interface"), "logged": LOGGED, "summed": SUMMED}


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


def share(way: Way, given: argparse.Namespace) -> list[object]:
    """What of all that is wanted goes this way."""
    if given.rounds is not None:
        return ["--rounds", given.rounds, "--from", given.first]
    if given.minutes is not None:
        return ["--minutes", given.minutes / 8 if way.is_logged else given.minutes * 3 / 4]
    part = 2 * SHARE if way.is_logged else 1
    return ["--operations", given.operations // part, "--kills", given.kills // part]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--operations", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, help="all for so long, instead of so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--way", choices=WAYS, action="append", help="only this one; default: all")
    parser.add_argument("--rounds", type=int, help="so many of each way, from --from on")
    parser.add_argument("--from", dest="first", type=int, default=0)
    given = parser.parse_args()
    for word in given.way or WAYS:
        print(f"{WAYS[word].name} (--way {word}):", flush=True)
        words = [*share(WAYS[word], given), "--seed", given.seed]
        if play(WAYS[word], words, lambda line: print(f"  {line}", flush=True)) != 0:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
