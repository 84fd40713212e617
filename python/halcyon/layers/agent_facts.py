"""What the agents of a command's processes told of its turns, one agent for each node and job."""

import os
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from halcyon.compiled import core
from halcyon.quantities import plural

LIMIT_S = 2.0
"""An agent looks for dead processes twice a second."""


@dataclass
class Agents:
    """The sum over agents."""

    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    """Agents that were refused or not understood, by the reason that they heard last."""
    connect_failures: Counter[str] = field(default_factory=Counter)
    """Agents that could not connect to a coordinator at last, by the reason."""
    lost: int = 0
    """Agents that are gone and did not say that they ended."""


def read_agents(folder: Path) -> Agents:
    """From the files of agents in `folder` (agent_facts.hpp)."""
    total = Agents()
    for path in sorted(folder.glob("*.agent")):
        lines = [line.partition(" ") for line in _lines(path)]
        for key, _, value in lines:
            if key == "last_reason":
                total.reasons[value] += 1
            elif key == "connect_failure":
                total.connect_failures[value] += 1
            elif value.isdigit() and key != "pid_namespace":
                total.counts[key] += int(value)
        total.lost += not any(key == "end" for key, _, _ in lines) and _is_gone(path)
    return total


def await_agents(folder: Path, limit_s: float = LIMIT_S) -> bool:
    """Until the agents have told of every process of a command that has ended. False: the limit has passed; some
    processes may go on in the background."""
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        if all(_has_told(path) or _is_gone(path) for path in folder.glob("*.agent")):
            return True
        time.sleep(0.01)
    return False


def agents_in_words(agents: Agents) -> list[str]:
    """A line for each thing that went wrong."""
    counts = agents.counts
    said = []
    if without := counts["without_place"]:
        said.append(
            f"{plural(without, 'process', 'processes')} did I/O uncoordinated and uncounted: the job has more than "
            f"{core().coordinator.MOST_PROCESSES:,} of them on a node"
        )
    said += [words.format(plural(counts[key], noun)) for key, (noun, words) in _WORDS.items() if counts[key]]
    for reason, count in sorted(agents.reasons.items()):
        said.append(f"{plural(count, 'agent')} heard last from a coordinator: {reason}")
    for reason, count in sorted(agents.connect_failures.items()):
        said.append(f"{plural(count, 'agent')} could not connect to a coordinator: {reason}")
    if agents.lost:
        said.append(f"{plural(agents.lost, 'agent')} died: later counts of that node are missing here")
    return said


_WORDS = {
    "silences": ("time", "a coordinator was silent for too long: {}"),
    "lost_connections": ("time", "the connection to a coordinator broke: {}"),
    "refusals": ("time", "a coordinator refused the job: {}"),
    "errors": ("message", "{} not understood by a coordinator"),
    "unsent": ("message", "{} to a coordinator could not be written"),
    "voided": ("lease", "{} lost: the coordinator took back the turn"),
    "refused_fences": ("lease", "{} refused: older than one that the agent had seen"),
    "stops_behind": ("stop", "{} went on without a process that stayed inside a collective call"),
    "misunderstood": ("message", "{} of a coordinator not understood"),
    "stops_uncleaned": ("stop", "{} did not clean the node's caches: the agent found nothing there that it could open"),
    "facts_dropped": (
        "process",
        "the turns of {} that were killed are not known: an agent could not write to the run's folder for long",
    ),
    "patience_raised": (
        "agent",
        "HALCYON_COORDINATE_PATIENCE_MS is shorter than two heartbeats of a coordinator (500 ms): {} took 500 ms",
    ),
    "threads_missing": (
        "time",
        "an agent was refused a thread (ulimit -u), and answered later than usual: {}",
    ),
}
"""In the words of agent_counts.hpp."""


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def _has_told(path: Path) -> bool:
    lines = _lines(path)
    return "untold 0" in lines or "end done" in lines


def _is_gone(path: Path) -> bool:
    """An agent of this node whose process does not exist any more. Whether it does is not known here of one of another
    node or container: it counts as alive."""
    node, _, process = path.stem.rpartition(".")
    is_seen_here = node == core().coordinator.node_name() and _numbers_processes_as_here(_lines(path))
    return is_seen_here and not Path("/proc", process).exists()


def _numbers_processes_as_here(lines: list[str]) -> bool:
    """Whether /proc shows processes by the numbers that the agent with these facts knows them by."""
    own = Path("/proc/self")
    try:
        shows_us = str(own.readlink()) == str(os.getpid())
        here = f"pid_namespace {(own / 'ns/pid').stat().st_ino}"
    except OSError:
        return False
    return shows_us and all(line == here for line in lines if line.startswith("pid_namespace "))
