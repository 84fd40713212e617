"""What a command such as `mpirun -n 64 --hostfile nodes ./simulation` says about where a job runs."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from halcyon.errors import HalcyonSystemError, UsageError

OPEN_MPI = "Open MPI"
MPICH = "MPICH"

# Options that say where processes run and how to get there: a second job on the same nodes needs them, too.
# With the number of words that follow each.
_PLACE = {
    OPEN_MPI: {
        "hostfile": 1, "machinefile": 1, "default-hostfile": 1, "host": 1, "H": 1, "mca": 2, "omca": 2, "gmca": 2,
        "prtemca": 2, "pmixmca": 2, "prefix": 1, "path": 1, "x": 1, "am": 1, "tune": 1, "allow-run-as-root": 0,
        "oversubscribe": 0,
    },
    MPICH: {
        "f": 1, "hostfile": 1, "hosts": 1, "host": 1, "machinefile": 1, "launcher": 1, "launcher-exec": 1,
        "bootstrap": 1, "bootstrap-exec": 1, "iface": 1, "rmk": 1, "genv": 2, "genvlist": 1, "genvall": 0,
        "genvnone": 0, "disable-hostname-propagation": 0, "enable-x": 0, "disable-x": 0,
    },
}  # fmt: skip
# Options that a job of one process per node has its own of, or that concern the simulation alone.
_OTHER = {
    OPEN_MPI: {
        "n": 1, "np": 1, "c": 1, "N": 1, "npernode": 1, "npersocket": 1, "map-by": 1, "rank-by": 1, "bind-to": 1,
        "cpu-set": 1, "cpu-list": 1, "rankfile": 1, "rf": 1, "cpus-per-proc": 1, "cpus-per-rank": 1, "wdir": 1,
        "wd": 1, "stdin": 1, "timeout": 1, "output": 1, "output-filename": 1, "report-pid": 1, "report-uri": 1,
        "app": 1, "personality": 1, "preload-files": 1, "max-restarts": 1,
    },
    MPICH: {
        "n": 1, "np": 1, "ppn": 1, "perhost": 1, "wdir": 1, "wd": 1, "path": 1, "configfile": 1, "env": 2, "envlist": 1,
        "bind-to": 1, "map-by": 1, "membind": 1, "outfile-pattern": 1, "errfile-pattern": 1, "order-nodes": 1,
        "pmi-port": 0, "usize": 1, "ranks-per-proc": 1, "prepend-pattern": 1, "s": 1, "print-rank-map": 0,
    },
}  # fmt: skip


@dataclass(frozen=True)
class Launcher:
    """An mpirun and what its command line says about the place of the job."""

    program: str
    family: str
    place: tuple[str, ...]

    def one_process_per_node(self, program: Path, passed_on: Sequence[str]) -> list[str]:
        """The command that starts `program` once on each node of the job, with these variables of the environment."""
        if self.family == OPEN_MPI:
            exported = [word for name in passed_on for word in ("-x", name)]
            mapping = ["--map-by", "ppr:1:node", "--bind-to", "none"]
            return [self.program, *self.place, *exported, *mapping, str(program)]
        return [self.program, *self.place, "-ppn", "1", "-n", str(self._hosts()), str(program)]

    def passing_on(self, command: Sequence[str], variables: Sequence[str]) -> list[str]:
        """`command`, so that its processes on other nodes get these variables of the environment."""
        if self.family == OPEN_MPI:
            return [command[0], *(word for name in variables for word in ("-x", name)), *command[1:]]
        return list(command)  # MPICH passes on all

    def setting(self, command: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """`command`, so that its processes on all nodes have these variables, and the launcher itself has not."""
        if self.family == OPEN_MPI:
            options = [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
        else:
            options = [word for name, value in variables.items() for word in ("-genv", name, value)]
        return [command[0], *options, *command[1:]]

    def _hosts(self) -> int:
        """MPICH starts one process unless told: as many as there are hosts in its options or the batch system's job."""
        for option, value in pairwise(self.place):
            if option.lstrip("-") in ("hosts", "host"):
                return len({host.split(":")[0] for host in value.split(",") if host})
            if option.lstrip("-") in ("f", "hostfile", "machinefile"):
                return _hosts_in(value)
        if file := os.environ.get("PBS_NODEFILE"):
            return _hosts_in(file)
        return int(os.environ.get("SLURM_JOB_NUM_NODES", "1"))


def _hosts_in(file: str) -> int:
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except OSError as why:
        raise HalcyonSystemError.of(why, file) from why
    words = [line.partition("#")[0].split() for line in lines]
    return max(1, len({line[0].split(":")[0] for line in words if line}))


def is_launcher(program: str) -> bool:
    """Whether a command begins with an mpirun, by its name."""
    return Path(program).name.startswith(("mpirun", "mpiexec", "orterun", "prterun"))


@dataclass(frozen=True)
class OwnOptions:
    """What stands between an mpirun and the program that it starts."""

    options: tuple[tuple[str, ...], ...]
    """Each without its dashes, with the words that belong to it: `mca`, `io`, `romio321`."""
    program_at: int
    """Where in the command the program stands, or should."""


def own_options(command: Sequence[str]) -> OwnOptions:
    """Of a command that begins with an mpirun. An option that is not known here is taken for one without words."""
    following = {
        option: count for family in (_PLACE, _OTHER) for own in family.values() for option, count in own.items()
    }
    options: list[tuple[str, ...]] = []
    at = 1
    while at < len(command) and command[at].startswith("-") and command[at] != "--":
        option, equals, value = command[at].lstrip("-").partition("=")
        words = 0 if equals else following.get(option, 0)
        options.append((option, value) if equals else (option, *command[at + 1 : at + 1 + words]))
        at += 1 + words
    return OwnOptions(tuple(options), at + (list(command[at : at + 1]) == ["--"]))


def program_of(command: Sequence[str]) -> str:
    """The program that a command is about: behind an mpirun the simulation, where all its options are known."""
    if not is_launcher(command[0]):
        return command[0]
    at = own_options(command).program_at
    return command[at] if at < len(command) and shutil.which(command[at]) else command[0]


def launcher_of(command: Sequence[str]) -> Launcher:
    """Reads the launcher's own options, up to the simulation's name. UsageError: it is no launcher known here."""
    if not is_launcher(command[0]):
        raise UsageError(
            f"the command begins with '{command[0]}': a server world is started by the same launcher as the "
            "simulation, so the command has to begin with mpirun or mpiexec"
        )
    family = _family_of(command[0])
    return Launcher(command[0], family, tuple(_place_of(command[1:], family)))


def _family_of(program: str) -> str:
    try:
        told = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except OSError as why:
        raise HalcyonSystemError.of(why, program) from why
    text = told.stdout + told.stderr
    if any(word in text for word in ("Open MPI", "OpenRTE", "PRRTE", "prte")):
        return OPEN_MPI
    if any(word in text for word in ("HYDRA", "MPICH", "Intel(R) MPI", "MVAPICH")):
        return MPICH
    raise UsageError(f"`{program} --version` says neither Open MPI nor MPICH: which launcher is it?")


def _place_of(words: Sequence[str], family: str) -> list[str]:
    place: list[str] = []
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        option, equals, _ = words[at].lstrip("-").partition("=")
        following = 0 if equals else _PLACE[family].get(option, _OTHER[family].get(option, 0))
        if option in _PLACE[family]:
            place += words[at : at + 1 + following]
        at += 1 + following
    return place
