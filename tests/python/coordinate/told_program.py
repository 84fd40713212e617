"""A program under `halcyon run --coordinate` that writes when a test tells it to."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from coordinator_process import LIMIT_S, CoordinatorProcess

BLOCK = 1 << 20
PATIENCE = {"HALCYON_COORDINATE_PATIENCE_MS": "3000", "HALCYON_COORDINATE_STARVATION_MS": "600000"}

WRITER = f"""
import os, sys
fd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND)
for line in sys.stdin:
    assert os.write(fd, bytes({BLOCK})) == {BLOCK}
    print("written", flush=True)
"""


class ToldProgram:
    """Writes a block each time it is told to, under `halcyon run --coordinate` behind the words `where`. It may wait
    for its turn for far longer than tests wait for it: only its patience lets it go on where nobody answers."""

    def __init__(self, of: CoordinatorProcess, folder: Path, where: Sequence[str] = ()) -> None:
        halcyon = [sys.executable, "-m", "halcyon", "run", "--coordinate", "--no-predict"]
        command = [*where, *halcyon, "--coordinators", str(of.config), "--", sys.executable, "-c", WRITER]
        self.file = folder / "file"
        self.said = folder.parent / "said"
        self.asked = 0
        self._answers = folder.parent / "answers"
        with self.said.open("wb") as said, self._answers.open("wb") as answers:
            self.process = subprocess.Popen(
                [*command, str(self.file)], cwd=folder.parent,
                env=os.environ | PATIENCE,
                stdin=subprocess.PIPE, stdout=answers, stderr=said,
            )  # fmt: skip

    @property
    def written(self) -> int:
        return self._answers.read_text().count("written")

    def ask(self) -> None:
        assert self.process.stdin is not None
        self.asked += 1
        self.process.stdin.write(b"go\n")
        self.process.stdin.flush()

    def has_written(self) -> bool:
        assert self.process.poll() is None, self.said.read_text()
        return self.written == self.asked

    def end(self) -> tuple[int, int]:
        """Bytes that moved in turn, and out of turn, as the summary says."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(LIMIT_S) == 0, self.said.read_text()
        said = self.said.read_text()
        bytes_of = lambda text: round(float(text[1]) * 1e6) if text else 0  # noqa: E731
        assert self.file.stat().st_size == self.asked * BLOCK
        return (
            bytes_of(re.search(r"took turns: ([0-9.]+) MB in turn", said)),
            bytes_of(re.search(r"([0-9.]+) MB moved out of turn: no coordinator answered", said)),
        )


def states(of: CoordinatorProcess) -> list[str]:
    """Of the program's job."""
    return [one.state for one in of.top().applications if one.job != "other"]


def waits(program: ToldProgram, of: CoordinatorProcess) -> bool:
    """For longer than a write takes that goes on unasked because the program does not know of the daemon yet. One that
    has moved something in this phase counts as interrupted."""
    mine = [one for one in of.top().applications if one.job != "other"]
    held_back = [one for one in mine if one.state in ("waiting", "interrupted") and one.in_state_s > 0.3]
    return bool(held_back) and not program.has_written()


def asks_and_waits(program: ToldProgram, of: CoordinatorProcess) -> bool:
    """Until it has heard of the daemon, it writes unasked what it is told to."""
    if program.has_written():
        program.ask()
    return waits(program, of)
