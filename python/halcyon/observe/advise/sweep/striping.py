"""How the striping of a file that a command makes is set: by MPI-IO's hints, or before it is made: by lfs, or by a
command of the user's."""

import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from halcyon.errors import UnavailableError, UsageError
from halcyon.observe.advise.run_facts import RunFacts
from halcyon.observe.advise.sweep.space import STRIPE_BYTES, STRIPE_COUNT, Point
from halcyon.observe.file_layout import targets_of

MOST_TARGETS = 160
"""Tried at most where nobody says how many there are: what a Lustre file could have up to version 2.4."""


@dataclass(frozen=True)
class StripeCommand:
    """A shell command of the user's that sets striping, with {count}, {size} (bytes), {dir} and {file} in it."""

    template: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """UsageError: it sets neither count nor size, or has other words in braces."""
        found = set(_FIELD.findall(text))
        known = {*_PARAMETERS, "dir", "file"}
        if found - known or not found & set(_PARAMETERS):
            raise UsageError(
                f"--stripe-with: '{text}'; expected a shell command with {{count}} or {{size}} in it, and perhaps "
                "{dir} or {file}: lfs setstripe -c {count} -S {size} {dir}"
            )
        return cls(text)

    @property
    def parameters(self) -> list[str]:
        """That it sets."""
        return [parameter for field, parameter in _PARAMETERS.items() if f"{{{field}}}" in self.template]

    def at(self, point: Point, file: Path) -> str:
        """What the shell is given."""
        values = dict(point)
        words = {field: str(values[parameter]) for field, parameter in _PARAMETERS.items() if parameter in values}
        words |= {"dir": shlex.quote(str(file.parent)), "file": shlex.quote(str(file))}
        return _FIELD.sub(lambda found: words[found[1]], self.template)


_FIELD = re.compile(r"\{(\w+)\}")
_PARAMETERS = {"count": STRIPE_COUNT, "size": STRIPE_BYTES}
LFS = StripeCommand("lfs setstripe -c {count} -S {size} {file}")
"""Lustre's own."""


class StripingError(UsageError):
    """At one point; others may be possible (fewer targets)."""


@dataclass(frozen=True)
class Striping:
    """Of `files`. `command`: makes it before a run; None: MPI-IO's driver does, by hints."""

    files: tuple[Path, ...]
    command: StripeCommand | None

    @property
    def by_hints(self) -> bool:
        return self.command is None

    @property
    def parameters(self) -> list[str]:
        """That have to be known at each point."""
        return [STRIPE_COUNT, STRIPE_BYTES] if self.command is None else self.command.parameters

    def lines(self, point: Point) -> list[str]:
        """Of the shell: what a user runs before the command makes the files."""
        if self.command is None:
            return []
        return list(dict.fromkeys(self.command.at(point, file) for file in self.files))

    def prepare(self, point: Point) -> None:
        """Before a run. UsageError: a file is there already: its striping is fixed. StripingError: the command did.
        UnavailableError: no lfs."""
        for file in self.files:
            if file.exists():
                raise UsageError(
                    f"{file}: exists already, and its striping is fixed; have it removed: --before 'rm -f {file}'"
                )
        for line in self.lines(point):
            if self.command is LFS:
                _lfs(*shlex.split(line)[1:])
            else:
                _shell(line)


def striping_of(facts: RunFacts, command: StripeCommand | None = None) -> Striping | None:
    """None: the user names no command, and no file that went through MPI-IO lies on Lustre. UsageError: no file did."""
    every = tuple(Path(path) for path in facts.file_systems)
    if command is not None:
        if not every:
            raise UsageError("--stripe-with: the command's first run wrote no file through MPI-IO")
        return Striping(every, command)
    files = tuple(Path(path) for path, kind in facts.file_systems.items() if kind == "lustre")
    if not files:
        return None
    driver = " ".join(facts.hints.get("romio_filesystem_type", ()))
    return Striping(files, None if "lustre" in driver.lower() else LFS)


def _shell(line: str) -> None:
    done = subprocess.run(line, shell=True, check=False, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise StripingError(f"--stripe-with: `{line}` ended with {done.returncode}: {said or 'it said nothing'}")


def targets_near(file: Path) -> int:
    """How many Lustre targets are active where `file` lies; MOST_TARGETS where lfs does not say."""
    active = targets_of(file.parent, "lustre")
    return len(active) if active else MOST_TARGETS


def _lfs(*words: str) -> str:
    try:
        done = subprocess.run(["lfs", *words], capture_output=True, text=True, check=False)
    except FileNotFoundError as why:
        raise UnavailableError(
            "lfs, which sets striping on Lustre, is not installed here, and MPI-IO's driver does not set it: run this "
            "where the file system is mounted, or leave striping out with --values of the other parameters"
        ) from why
    if done.returncode != 0:
        raise StripingError(f"`lfs {' '.join(words)}` ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout
