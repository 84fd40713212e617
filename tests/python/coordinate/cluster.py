"""A Slurm of two nodes that knows Halcyon: plugin, prolog and epilog as an administrator installs them."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import slurm
from coordinator_process import LIMIT_S, CoordinatorProcess

from halcyon.errors import UnavailableError
from halcyon.slurm.installation import find_halcyon, find_plugin, install, lines_for
from halcyon.testbed.bed import Bed, raised

TASK_PROLOG = """\
#!/bin/sh
ls / > /dev/null
echo print said by the prolog of task "$SLURM_PROCID"
echo export FROM_TASK_PROLOG=seen
echo "unset TO_BE_UNSET"
"""


def unavailable() -> str:
    """Why there can be no such Slurm here; "" when there can."""
    try:
        find_plugin()
        find_halcyon()
    except UnavailableError as why:
        return str(why)
    return slurm.unavailable()


@dataclass(frozen=True)
class Cluster:
    """Of one session of tests. Jobs write below `scratch`, which has a coordinator where a test starts one."""

    bed: Bed
    folder: Path
    daemon: CoordinatorProcess
    """Not started."""

    @property
    def scratch(self) -> Path:
        return self.folder / "scratch"

    def start(self, *command: object, **variables: str) -> "subprocess.Popen[str]":
        """On the first node, in the current folder. Says everything to its output."""
        environment = os.environ | {"HALCYON_COORDINATORS_FILE": str(self.daemon.config)} | variables
        words = [str(word) for word in command]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return self.bed.popen("c1", words, env=environment, **streams)

    def run(self, *command: object, **variables: str) -> tuple[int, str]:
        """Its exit status, and what it said."""
        started = self.start(*command, **variables)
        said, _ = started.communicate(timeout=LIMIT_S)
        return started.returncode, said

    def said(self, *command: object, **variables: str) -> str:
        """By a command that has to succeed."""
        status, said = self.run(*command, **variables)
        assert status == 0, said
        return said


@contextmanager
def raised_cluster(folder: Path) -> Iterator[Cluster]:
    """It ends with the block. `folder` is seen by all users."""
    folder.chmod(0o755)
    (folder / "scratch").mkdir()
    task_prolog = folder / "task-prolog"
    task_prolog.write_text(TASK_PROLOG)
    task_prolog.chmod(0o755)
    daemon = CoordinatorProcess(folder)
    made = install(folder / "slurm", daemon.config)
    lines = (*lines_for(made), f"TaskProlog={task_prolog}")
    with raised(replace(slurm.PLAN, slurm_lines=lines)) as bed:
        yield Cluster(bed, folder, daemon)
