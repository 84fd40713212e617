"""How the processes of a command find the coordinators of their file systems, and what they told of their turns."""

import os
import secrets
import socket
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from halcyon.coordinate.address import parse_addresses
from halcyon.coordinate.configuration import default_file, read_coordinators
from halcyon.errors import UnavailableError, UsageError
from halcyon.installed_program import find_installed
from halcyon.quantities import plural, seconds, size

MOST_PATHS = 8
"""File systems of one job; page.hpp has room for no more."""


@dataclass(frozen=True)
class Coordination:
    """Which coordinator gives turns for which path. Without `paths`: as coordinators.yaml says."""

    paths: tuple[str, ...] = ()
    """Each `PATH=ADDRESS`."""
    file: Path | None = None

    def variables(self) -> dict[str, str]:
        """Of the command's processes. UsageError: a path or an address that is none, or too many; ConfigError: the
        file is wrong; UnavailableError: this installation lacks a program, or no coordinator is known."""
        lines = [_line(one) for one in self.paths] or _lines_of(self.file or default_file())
        if len(lines) > MOST_PATHS:
            raise UsageError(f"--coordinate: {len(lines)} coordinated paths; expected {MOST_PATHS} or fewer")
        return {
            "HALCYON_COORDINATORS": "\n".join(lines),
            "HALCYON_AGENT": str(find_installed("halcyon-agent", "HALCYON_AGENT")),
            "HALCYON_JOB": f"{socket.gethostname()}.{os.getpid()}.{secrets.token_hex(4)}",
            "HALCYON_JOB_SECRET": secrets.token_hex(16),
        }


@dataclass
class Turns:
    """The sum over processes that used a coordinated file system."""

    processes: int = 0
    untold: int = 0
    """Processes that did not tell how they ended."""
    counts: Counter[str] = field(default_factory=Counter)


_WHY = {
    "calls_let_silent": "since no coordinator answered",
    "calls_let_starving": "since they had waited for as long as any call may",
    "calls_let_locks": "since a file lock was held",
    "calls_let_others": "since they must not wait (non-blocking calls, MPI-IO in the background)",
}
"""Why calls went on out of turn, in the words of coordinate_layer.cpp."""


def read_turns(folder: Path) -> Turns:
    """From the files of facts in `folder`, one for each process."""
    total = Turns()
    for path in sorted(folder.glob("*.coordinate")):
        total.processes += 1
        ended = False
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(" ")
            ended |= key == "end"
            if value.isdigit():
                total.counts[key] += int(value)
        total.untold += not ended
    return total


def say_how_turns_were_taken(folder: Path) -> None:
    """Lines on standard error; what went on out of turn comes first."""
    for line in turns_in_words(read_turns(folder)):
        print(f"halcyon: {line}", file=sys.stderr)


def turns_in_words(turns: Turns) -> list[str]:
    """One line of all, and one for each reason why calls went on out of turn."""
    if not turns.processes:
        return ["no process did I/O on a coordinated path"]
    counts = turns.counts
    said = []
    if unasked := counts["bytes_unasked"]:
        said.append(f"{size(unasked)} moved out of turn: no coordinator answered, or a call could not wait")
    said += [f"{plural(counts[key], 'call')} went on out of turn {why}" for key, why in _WHY.items() if counts[key]]
    if left_out := counts["forecasts_left_out"]:
        made = plural(counts["forecasts"], "forecast")
        said.append(f"{made} of what is to come; {left_out} more were left out: they would have taken too much time")
    if turns.untold:
        said.append(f"{plural(turns.untold, 'process', 'processes')} ended without telling of turns")
    who = plural(turns.processes, "process", "processes")
    waited = seconds(counts["waited_ns"] / 1e9)
    return [*said, f"{who} took turns: {size(counts['bytes'])} in turn; waited for {waited}, all threads together"]


def _line(text: str) -> str:
    path, equals, address = text.partition("=")
    if not equals or not path.startswith("/") or "\n" in text:
        raise UsageError(
            f"--coordinator {text}: expected PATH=ADDRESS, such as /scratch=unix:/run/halcyon/scratch.socket"
        )
    return f"{os.path.realpath(path)}={','.join(map(str, parse_addresses(address)))}"


def _lines_of(file: Path) -> list[str]:
    if not file.exists():
        raise UnavailableError(
            f"{file}: no such file, so that no coordinator is known; name one: --coordinator PATH=ADDRESS"
        )
    return [
        f"{os.path.realpath(path)}={','.join(map(str, one.addresses))}"
        for one in read_coordinators(file)
        for path in one.paths
    ]
