"""Two nodes on one machine: each has a name, and at the same path a disk of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from halcyon.layers.logs import Logs
from halcyon.layers.preload import preloading

_ENTER = 'hostname "$1" && mount --bind "$2" "$3" && shift 3 && exec "$@"'

_TALKER = """import errno, os, sys
for line in sys.stdin:
    try:
        print(repr(eval(line)), flush=True)
    except OSError as why:
        print(errno.errorcode[why.errno], flush=True)
"""


class Talker:
    """A program on a node, which evaluates what it is asked; its standard error is in a file."""

    def __init__(self, command: list[str], complaints: Path) -> None:
        self._complaints = complaints
        with complaints.open("w") as errors:
            self._process = subprocess.Popen(
                [*command, sys.executable, "-c", _TALKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def ask(self, expression: str) -> str:
        """The result as Python spells it, or the name of the error."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(expression, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, self.complaints()
        return answer.rstrip("\n")

    def open(self, path: Path, flags: str) -> int:
        return int(self.ask(f"os.open({str(path)!r}, {flags}, 0o644)"))

    def read(self, fd: int, length: int, offset: int) -> bytes | str:
        answer = self.ask(f"os.pread({fd}, {length}, {offset})")
        return answer if answer.startswith("E") else bytes(eval(answer))

    def write(self, fd: int, data: bytes, offset: int) -> None:
        assert self.ask(f"os.pwrite({fd}, {data!r}, {offset})") == str(len(data))

    def size(self, fd: int) -> int:
        return int(self.ask(f"os.fstat({fd}).st_size"))

    def complaints(self) -> str:
        return self._complaints.read_text()

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(60) == 0, self.complaints()
        assert self._process.stdout is not None
        self._process.stdout.close()


@dataclass(frozen=True)
class Node:
    """`logs` is on the disk that all nodes see, `local` what each has for itself: there it has `disk`."""

    name: str
    disk: Path
    local: Path
    logs: Path

    @property
    def _enter(self) -> list[str]:
        words = ["unshare", "--uts", "--mount", "--propagation", "private", "sh", "-c", _ENTER, "sh"]
        return [*words, self.name, str(self.disk), str(self.local)]

    def run(self, *words: object) -> subprocess.CompletedProcess[str]:
        """A command that takes no part in the logs itself."""
        return subprocess.run(
            [*self._enter, *map(str, words)], capture_output=True, text=True, check=False, timeout=120
        )

    @contextmanager
    def talkers(self, count: int = 1) -> Iterator[list[Talker]]:
        """Programs under `halcyon run --log LOGS --stage LOCAL`, of which no agent brings the data."""
        variables = preloading() | Logs((str(self.logs),)).variables() | {"HALCYON_LOG_STAGE": str(self.local)}
        command = [*self._enter, "env", *(f"{name}={value}" for name, value in variables.items())]
        with ExitStack() as all_end:
            talkers = []
            for number in range(count):
                talkers.append(Talker(command, self.disk.with_name(f"{self.name}.{number}.errors")))
                all_end.callback(talkers[-1].end)
            yield talkers


def two_nodes(folder: Path) -> tuple[Node, Node]:
    """`one` and `two`. Skips the test where namespaces cannot be made."""
    probe = subprocess.run(["unshare", "--uts", "--mount", "true"], capture_output=True, check=False)
    if os.geteuid() != 0 or probe.returncode != 0:
        pytest.skip("two nodes on one machine need root, and namespaces")
    for name in ("logs", "local", "one", "two"):
        (folder / name).mkdir()
    one, two = (Node(name, folder / name, folder / "local", folder / "logs") for name in ("one", "two"))
    return one, two
