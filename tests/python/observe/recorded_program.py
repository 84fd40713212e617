"""Compiles programs of tests/calls, runs them recorded, and reads what was recorded."""

import os
import signal
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from halcyon.layers.preload import variables
from halcyon.observe.dataset import Dataset
from halcyon.observe.pack import pack
from halcyon.observe.recording.folder import DATA, Recording, new_folder

PROGRAMS = (
    "a static program",
    "a program that changes its user",
    "a program of another architecture",
    "a program that cannot write to the run's folder",
)
SOURCES = Path(__file__).resolve().parents[2] / "calls"


_known_programs: dict[tuple[str, ...], bytes] = {}
"""By how they were compiled: many tests run the same one."""


def compiled(source: str, folder: Path, *options: str, compiler: str = "gcc") -> Path:
    """The program of tests/calls/<source>, in `folder`."""
    program = folder / (Path(source).stem + "".join(options).replace("/", "_").replace("-", "_"))
    words = (compiler, "-O1", "-g", "-w", "-pthread", str(SOURCES / source))
    how = (*words, *options)
    if how in _known_programs:
        program.write_bytes(_known_programs[how])
        program.chmod(0o755)
    else:
        subprocess.run([*words, "-o", str(program), *options], check=True)
        _known_programs[how] = program.read_bytes()
    return program


@dataclass
class Run:
    """A recorded run."""

    folder: Path
    code: int
    output: bytes
    complaints: str

    @cached_property
    def data(self) -> Dataset:
        pack(self.folder, self.folder / DATA)
        return Dataset.open(self.folder / DATA)

    def rows(self, table: str) -> list[dict[str, Any]]:
        return [row for batch in self.data.batches(table) for row in batch.to_pylist()]

    @cached_property
    def paths(self) -> dict[int, str]:
        return {row["file"]: row["path"] for row in self.rows("files")}

    @cached_property
    def calls(self) -> list[dict[str, Any]]:
        """With the path of each call's file as `path`."""
        calls = self.rows("calls")
        for call in calls:
            call["path"] = self.paths.get(call["file"], "")
        return calls

    @cached_property
    def _calls_by_path(self) -> dict[str, list[dict[str, Any]]]:
        found = defaultdict(list)
        for call in self.calls:
            found[call["path"]].append(call)
        return found

    def calls_on(self, path: Path | str) -> list[dict[str, Any]]:
        return list(self._calls_by_path.get(str(path), []))

    def moved(self, path: Path | str, kind: str) -> int:
        """Between file and process, by calls at the lowest level."""
        return sum(c["moved"] or 0 for c in self.calls_on(path) if c["kind"] == kind and c["level"] == "posix")

    def absences(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for row in self.rows("absences"):
            counts[row["subject"]] += row["count"] or 0
            if row["subject"] in PROGRAMS:
                path = row["detail"].removesuffix("; nor is what it starts recorded")
                counts[f"{row['subject']}: {path}"] += row["count"]
        return counts


def recorded(
    command: list[Any],
    folder: Path,
    *,
    buffer: str | None = None,
    extra: dict[str, str] | None = None,
    kill: bool = False,
    **options: Any,
) -> Run:
    """Runs `command` with its calls recorded in `folder`; `extra` are further variables. With `kill`, it is killed
    as soon as it has written a line."""
    words = [str(word) for word in command]
    place = new_folder(folder, words)
    Recording.of(words, ["trace"], 0.0).write(place)
    environment = {**os.environ, **variables(["trace"], place / "trace", buffer), **(extra or {})}
    with subprocess.Popen(
        words,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    ) as process:
        first = b""
        if kill and process.stdout:
            first = process.stdout.readline()
            process.send_signal(signal.SIGKILL)
        output, complaints = process.communicate(timeout=120)
    return Run(place, process.returncode, first + output, complaints.decode(errors="replace"))
