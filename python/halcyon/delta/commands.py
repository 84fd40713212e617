"""The two commands of a Δ-graph, started so that their I/O waits at gates."""

import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from halcyon.errors import HalcyonSystemError
from halcyon.mpi_launcher import is_launcher, launcher_of
from halcyon.offload.server_world import simulation_environment
from halcyon.process_session import end_session
from halcyon.testbed.bed import Bed
from halcyon.testbed.links import Counted, count, shares_of_storage_links

_LAST_WORDS = 500
"""Characters of a failed command's output that an error quotes."""


@dataclass(frozen=True)
class Command:
    """A command. `hosts`: of a test bed, on each of which it is started once; empty: this machine."""

    name: str
    words: tuple[str, ...]
    hosts: tuple[str, ...] = ()


class Place(Protocol):
    """Where commands run."""

    def start(
        self, command: Command, variables: Mapping[str, str], output: IO[bytes]
    ) -> list["subprocess.Popen[bytes]"]:
        """HalcyonSystemError: it cannot be started."""
        ...

    def prepare(self, shell: str) -> "subprocess.CompletedProcess[str]":
        """Runs a shell command before the others."""
        ...

    def renew(self, placed: Sequence[tuple[str, str]]) -> None:
        """Makes files anew, each empty and on its storage host."""
        ...

    def look(self) -> Counted | None:
        """Bytes on the links so far; None: nobody counts them."""
        ...

    def link_shares(self, begin: Counted, end: Counted) -> dict[str, float]:
        """Of the rates of the storage links."""
        ...


class Here:
    """This machine."""

    def start(
        self, command: Command, variables: Mapping[str, str], output: IO[bytes]
    ) -> list["subprocess.Popen[bytes]"]:
        words, environment = list(command.words), simulation_environment()
        if is_launcher(words[0]):
            words = launcher_of(words).setting(words, variables)
        else:
            environment |= variables
        return [_popen(words, environment, output)]

    def prepare(self, shell: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(["sh", "-c", shell], capture_output=True, text=True, errors="replace", check=False)

    def renew(self, placed: Sequence[tuple[str, str]]) -> None:
        """Only a test bed has storage hosts to choose."""

    def look(self) -> Counted | None:
        return None

    def link_shares(self, begin: Counted, end: Counted) -> dict[str, float]:
        return {}


class OnBed:
    """A test bed that stands. Shell commands before the others run on its first compute host."""

    def __init__(self, bed: Bed) -> None:
        self.bed = bed

    def start(
        self, command: Command, variables: Mapping[str, str], output: IO[bytes]
    ) -> list["subprocess.Popen[bytes]"]:
        words = list(command.words)
        if is_launcher(words[0]):
            words = launcher_of(words).setting(words, variables)
        else:
            # Not in the environment of what enters the host: it is no part of the command.
            words = ["env", *(f"{name}={value}" for name, value in variables.items()), *words]
        return [_popen(self.bed.command(host, words), self.bed.environment(host), output) for host in command.hosts]

    def prepare(self, shell: str) -> "subprocess.CompletedProcess[str]":
        host = self.bed.plan.compute_hosts[0].name
        return self.bed.run(host, ["sh", "-c", shell], capture_output=True, errors="replace", check=False)

    def renew(self, placed: Sequence[tuple[str, str]]) -> None:
        root = self.bed.inside(self.bed.mounts()[0][1])
        for file, server in placed:
            try:
                (root / file).unlink(missing_ok=True)
            except OSError as why:
                raise HalcyonSystemError.of(why, file) from why
            self.bed.place(file, server)

    def look(self) -> Counted | None:
        return count(self.bed)

    def link_shares(self, begin: Counted, end: Counted) -> dict[str, float]:
        return shares_of_storage_links(self.bed, begin, end)


class Running:
    """A command that has been started. `with`: nothing of it is left afterwards."""

    def __init__(self, place: Place, command: Command, variables: Mapping[str, str], output: Path) -> None:
        self.command = command
        self._output = output
        with output.open("wb") as file:
            self._processes = place.start(command, variables, file)

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            end_session(process)

    @property
    def has_ended(self) -> bool:
        return all(process.poll() is not None for process in self._processes)

    @property
    def failure(self) -> str | None:
        """How the first of its processes failed; None: none did so far."""
        hosts: Sequence[str] = self.command.hosts or ("",)
        for host, process in zip(hosts, self._processes, strict=True):
            if process.poll():
                return f"{self.command.name} {_ended(process.returncode)}{host and f' on {host}'}: {self.last_words}"
        return None

    @property
    def last_words(self) -> str:
        said = " ".join(self._output.read_text(encoding="utf-8", errors="replace").split())
        return said[-_LAST_WORDS:] or "it said nothing"


def _ended(status: int) -> str:
    if status >= 0:
        return f"failed with exit status {status}"
    with suppress(ValueError):
        return f"was ended by {signal.Signals(-status).name}"
    return f"was ended by signal {-status}"


def _popen(words: Sequence[str], environment: Mapping[str, str], output: IO[bytes]) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            words, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
    except OSError as why:
        raise HalcyonSystemError.of(why, words[0]) from why
