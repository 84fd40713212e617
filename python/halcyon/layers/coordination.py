"""How the processes of a command find the coordinators of their file systems, and what they told of their turns."""

import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from halcyon.compiled import core
from halcyon.coordinate.address import parse_addresses
from halcyon.coordinate.configuration import Coordinator, default_file, read_coordinators
from halcyon.errors import UnavailableError, UsageError
from halcyon.installed_program import find_installed
from halcyon.layers.agent_facts import Agents, agents_in_words, await_agents, read_agents
from halcyon.layers.job import Job
from halcyon.layers.learnt import read_learnt
from halcyon.quantities import plural, seconds, size


@dataclass(frozen=True)
class Coordination:
    """Which coordinator gives turns for which path. Without `paths`: as coordinators.yaml says."""

    paths: tuple[str, ...] = ()
    """Each `PATH=ADDRESS`."""
    file: Path | None = None
    job: Job | None = None
    """None: a new one."""
    account: str | None = None
    """Who pays, for accounts of coordinators.yaml."""
    way_out: str = "name one: --coordinator PATH=ADDRESS"
    """What to do where the file is not there."""

    def variables(self) -> dict[str, str]:
        """Of the command's processes. UsageError: a path or an address that is none, or too many; ConfigError: the
        file is wrong; UnavailableError: this installation lacks a program, or no coordinator is known."""
        self._check_paths()
        return {
            "HALCYON_COORDINATORS": "\n".join(self.lines),
            "HALCYON_AGENT": str(find_installed("halcyon-agent", "HALCYON_AGENT")),
            **(self.job or Job.new()).variables(),
            **self._account_variable(),
            **self._munge_variable(),
        }

    def _check_paths(self) -> None:
        """Whether an agent has room for them."""
        limits = core().coordinator
        if len(self.lines) > limits.MOST_PATHS:
            raise UsageError(
                f"--coordinate: {len(self.lines)} coordinated paths; expected {limits.MOST_PATHS} or fewer"
            )
        for path in self.coordinated:
            if (length := len(os.fsencode(path))) > limits.LONGEST_PATH:
                raise UsageError(
                    f"--coordinate: {path[:40]}… has {length} bytes; expected {limits.LONGEST_PATH} or fewer. Name a "
                    "folder above it"
                )
            if "\n" in path:
                raise UsageError(f"--coordinate: the path {path!r} has a line break; name a folder above it")

    def _munge_variable(self) -> dict[str, str]:
        """Which sockets of munged coordinators.yaml names. Without the file, what the environment says stays."""
        if self.paths:
            return {}
        wanted = [(path, one.munge_socket) for path, one in self._in_file if one.munge_socket]
        return {"HALCYON_MUNGE_SOCKETS": "\n".join(f"{path}={socket}" for path, socket in wanted)}

    def _account_variable(self) -> dict[str, str]:
        """Without an account of its own, that of Slurm counts."""
        if self.account is None:
            return {}
        longest = core().coordinator.LONGEST_ACCOUNT
        if not 1 <= len(self.account) <= longest or not self.account.isascii() or not self.account.isprintable():
            raise UsageError(f"--account {self.account!r}: expected 1 to {longest} characters of ASCII")
        return {"HALCYON_ACCOUNT": self.account}

    @cached_property
    def lines(self) -> list[str]:
        """Each `PATH=ADDRESS`, with the real path. Errors as of `variables`."""
        return [_line(one) for one in self.paths] or [f"{path}={one.reached_at}" for path, one in self._in_file]

    @cached_property
    def _in_file(self) -> list[tuple[str, Coordinator]]:
        """Real paths with their coordinators."""
        file = self.file or default_file()
        if not file.exists():
            raise UnavailableError(f"{file}: no such file, so that no coordinator is known; {self.way_out}")
        return [(os.path.realpath(path), one) for one in read_coordinators(file) for path in one.paths]

    @property
    def coordinated(self) -> list[str]:
        """The paths. Errors as of `variables`."""
        return [_split(line)[0] for line in self.lines]


@dataclass
class Turns:
    """The sum over processes that used a coordinated file system."""

    processes: int = 0
    died: int = 0
    """Processes of them that died before they told; their agent did."""
    untold: int = 0
    """Processes of which nobody told, or not to the end."""
    counts: Counter[str] = field(default_factory=Counter)
    agents: Agents = field(default_factory=Agents)
    uncoordinated: Counter[str] = field(default_factory=Counter)
    """Processes that could not take turns, by the message that each gave."""
    past: Counter[str] = field(default_factory=Counter)
    """Requests that no layer sees, so that they never wait, by their names in _PAST. Of processes that learnt their
    calls."""


_WHY = {
    "calls_let_silent": "{silent}",
    "calls_let_starving": "{} had waited for as long as any call may",
    "calls_let_locks": "{} came while a process of the job held a file lock",
    "calls_let_others": "{} must not wait (non-blocking calls, MPI-IO in the background)",
}
"""Why calls went on out of turn, by the counts of coordinate_layer.cpp; `{}` is their number."""
_NO_ANSWER = "no coordinator answered; `halcyon coordinator top` tells whether it runs"
_NO_AGENT = "an agent died, without which processes that run go on unasked to their end; or no coordinator answered"
_PAST = {
    "requests of io_submit": "requests of io_submit (libaio) that did not wait, on files anywhere: {}",
    "io_uring": "rings of io_uring, whose reads and writes did not wait, on files anywhere: {}",
}
"""By the subjects of src/calls/state/unseen.cpp."""
_NO_CALL_WAITED = "no coordinator answered, unless calls in the background (aio) moved them"
"""The agent knew before any call asked, or nobody asks for such calls."""


def read_turns(folder: Path) -> Turns:
    """From the files of facts in `folder`, one for each process and one for each agent."""
    total = Turns(agents=read_agents(folder))
    total.untold = total.agents.counts["untold"]
    total.past = Counter({what: count for what, count in read_learnt(folder).absences.items() if what in _PAST})
    for path in folder.glob("*.uncoordinated"):
        total.uncoordinated[path.read_text(encoding="utf-8", errors="replace").strip()] += 1
    for path in sorted(folder.glob("*.coordinate")):
        total.processes += 1
        ended = False
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(" ")
            ended |= key == "end"
            total.died += line == "end died"
            if value.isdigit():
                total.counts[key] += int(value)
        total.untold += not ended
    return total


def say_how_turns_were_taken(folder: Path, coordinated: Sequence[str] = ()) -> None:
    """Lines on standard error; what went on out of turn, or wrong, comes first. Waits a little for the agents.
    `coordinated`: the paths, as far as known."""
    await_agents(folder)
    for line in turns_in_words(read_turns(folder), coordinated):
        print(f"halcyon: {line}", file=sys.stderr)


def turns_in_words(turns: Turns, coordinated: Sequence[str] = ()) -> list[str]:
    """One line of all; before it, one of all that went on out of turn with its reasons, and what else went wrong."""
    counts = turns.counts
    said = []
    silent = _NO_AGENT if turns.agents.lost else _NO_ANSWER
    reasons = [words.format(plural(counts[key], "call"), silent=silent) for key, words in _WHY.items() if counts[key]]
    if unasked := counts["bytes_unasked"]:
        said.append(f"{size(unasked)} moved out of turn: {'; '.join(reasons) or _NO_CALL_WAITED}")
    elif reasons:
        said.append(f"calls that moved nothing went on out of turn: {'; '.join(reasons)}")
    if left_out := counts["forecasts_left_out"]:
        made = plural(counts["forecasts"], "forecast")
        said.append(f"{made} of what is to come; {left_out} more were left out: they would have taken too much time")
    said += [f"{plural(n, 'process', 'processes')}: {why}" for why, n in sorted(turns.uncoordinated.items())]
    said += agents_in_words(turns.agents)
    if turns.died:
        whose = "its agent told of its turns" if turns.died == 1 else "their agents told of their turns"
        said.append(f"{plural(turns.died, 'process', 'processes')} died; {whose}")
    if turns.untold:
        said.append(f"{plural(turns.untold, 'process', 'processes')} did not tell of turns: still running, or lost")
    said += [words.format(turns.past[what]) for what, words in _PAST.items() if turns.past[what]]
    if not turns.processes:
        where = f"below {', '.join(coordinated)}" if coordinated else "on a coordinated path"
        unseen = "static programs, children that drop LD_PRELOAD, and those that become another user are not seen"
        return [*said, f"no process did I/O {where}; {unseen}"]
    who = plural(turns.processes, "process", "processes")
    waited = seconds(counts["waited_ns"] / 1e9)
    return [*said, f"{who} took turns: {size(counts['bytes'])} in turn; waited for {waited}, all threads together"]


_WHERE_ADDRESS_BEGINS = re.compile("=(?=unix:|tcp:)")
"""Paths and names of sockets may hold `=`, too: the first such place counts, as for the agent (agent_loop.hpp)."""


def _split(text: str) -> tuple[str, str]:
    """The path and the address of PATH=ADDRESS; the address is "" where there is none."""
    path, *address = _WHERE_ADDRESS_BEGINS.split(text, maxsplit=1)
    return path, "".join(address)


def _line(text: str) -> str:
    path, address = _split(text)
    if not address:
        path, _, address = path.partition("=")  # parse_addresses says what is wrong with it
    if not address or not path.startswith("/") or "\n" in text:
        raise UsageError(
            f"--coordinator {text}: expected PATH=ADDRESS, such as /scratch=unix:/run/halcyon/scratch.socket"
        )
    return f"{os.path.realpath(path)}={','.join(map(str, parse_addresses(address)))}"
