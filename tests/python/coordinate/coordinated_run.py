"""Real programs under `halcyon run --coordinate`."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from coordinator_process import LIMIT_S, CoordinatorProcess
from scripted_agents import Agent, run_until
from started_programs import start_program

from halcyon.installed_program import find_installed

PATIENCE_MS = "20000"
"""Of processes where nobody is silent: this machine may be slow."""
PAUSE_MS = "1000"
"""Of processes that do not pause: they may lose their core for some time."""
BEHIND_MS = "20000"
"""Of ranks between two rounds of a collective call: likewise."""


def write(
    of: CoordinatorProcess,
    folder: Path,
    patience_ms: str = PATIENCE_MS,
    command: list[str] | None = None,
    *,
    name: str = "file",
    pause_ms: str = PAUSE_MS,
    options: Sequence[str] = (),
    variables: Mapping[str, str] = os.environ,
) -> "subprocess.Popen[str]":
    """`command`, or dd, which writes 8 MiB as `name`, in a coordinated folder. In a session of its own."""
    environment = dict(variables) | {
        "HALCYON_COORDINATE_PATIENCE_MS": patience_ms,
        "HALCYON_COORDINATE_PAUSE_MS": pause_ms,
        "HALCYON_COORDINATE_BEHIND_MS": BEHIND_MS,
    }
    halcyon = [sys.executable, "-m", "halcyon", "run", "--coordinate", "--coordinators", str(of.config), *options]
    command = command or ["dd", "if=/dev/zero", f"of={folder}/{name}", "bs=1M", "count=8"]
    return start_program([*halcyon, "--", *command], cwd=folder.parent, env=environment)


def impatient_agent(folder: Path, patience_ms: int) -> dict[str, str]:
    """Variables of programs, whose agent waits for a silent coordinator for this time only. Their own patience also
    limits how long they wait until the agent has come up."""
    script = folder / f"agent-of-{patience_ms}-ms"
    agent = shlex.quote(str(find_installed("halcyon-agent", "HALCYON_AGENT")))
    script.write_text(f"#!/bin/sh\nexport HALCYON_COORDINATE_PATIENCE_MS={patience_ms}\nexec {agent}\n")
    script.chmod(0o755)
    return {"HALCYON_AGENT": str(script)}


def run_until_it_waits(program: "subprocess.Popen[str]", of: CoordinatorProcess, other: Agent) -> None:
    """`other` lives meanwhile."""
    waits = lambda: any(one.state == "waiting" for one in of.top().applications)  # noqa: E731
    run_until([other], lambda: waits() or program.poll() is not None, "the program waits")
    assert program.poll() is None, program.communicate()[0]


def said_by(program: "subprocess.Popen[str]") -> str:
    """All of it, when the program has ended well."""
    said, _ = program.communicate(timeout=LIMIT_S)
    assert program.returncode == 0, said
    return said
