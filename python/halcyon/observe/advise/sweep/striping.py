"""How the striping of a file that a command makes is set: by MPI-IO's hints, or by lfs before the command makes it."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from halcyon.errors import UnavailableError, UsageError
from halcyon.observe.advise.run_facts import RunFacts
from halcyon.observe.advise.sweep.space import STRIPE_BYTES, STRIPE_COUNT, Point

MOST_TARGETS = 160
"""Tried at most where nobody says how many there are: what a Lustre file could have up to version 2.4."""


@dataclass(frozen=True)
class Striping:
    """Of `files` on Lustre. `by_hints`: MPI-IO's driver sets it; else `lfs setstripe` makes the files."""

    files: tuple[Path, ...]
    by_hints: bool

    def prepare(self, point: Point) -> None:
        """Before a run. UsageError: a file is there already: its striping is fixed. UnavailableError: no lfs."""
        values = dict(point)
        for file in self.files:
            if file.exists():
                raise UsageError(
                    f"{file}: exists already, and its striping is fixed; have it removed: --before 'rm -f {file}'"
                )
            if not self.by_hints:
                _lfs("setstripe", "-c", str(values[STRIPE_COUNT]), "-S", str(values[STRIPE_BYTES]), str(file))


def striping_of(facts: RunFacts) -> Striping | None:
    """None: no file that went through MPI-IO lies on Lustre."""
    files = tuple(Path(path) for path, kind in facts.file_systems.items() if kind == "lustre")
    if not files:
        return None
    driver = " ".join(facts.hints.get("romio_filesystem_type", ()))
    return Striping(files, "lustre" in driver.lower())


def targets_near(file: Path) -> int:
    """How many storage targets are active where `file` lies; MOST_TARGETS where lfs does not say."""
    if shutil.which("lfs") is None:
        return MOST_TARGETS
    active = len(re.findall(r"^\d+: \S+ ACTIVE", _lfs("osts", str(file.parent)), re.MULTILINE))
    return active or MOST_TARGETS


def _lfs(*words: str) -> str:
    try:
        done = subprocess.run(["lfs", *words], capture_output=True, text=True, check=False)
    except FileNotFoundError as why:
        raise UnavailableError(
            "lfs, which sets striping on Lustre, is not installed here, and MPI-IO's driver does not set it: run this "
            "where the file system is mounted, or leave striping out with --values of the other parameters"
        ) from why
    if done.returncode != 0:
        raise UsageError(f"`lfs {' '.join(words)}` ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout
