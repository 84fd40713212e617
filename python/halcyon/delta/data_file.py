"""The file that a Δ-graph's runs are kept in: one JSON object a line, written as each run ends.

The first line says what is measured (`setup`), the others are runs. Nothing is ever changed in it: a measurement that
was ended, by whatever, goes on with the runs that are missing.
"""

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from halcyon.delta.commands import Command
from halcyon.delta.io_time import Phase
from halcyon.delta.runs import Key, Run, Setup, Told
from halcyon.errors import ConfigError, HalcyonSystemError, UsageError

VERSION = 1


@dataclass(frozen=True)
class Content:
    """Of a file. `bed`: the plan of the test bed, None without one. `dropped`: a line that a kill left unfinished."""

    setup: Setup
    bed: dict[str, Any] | None
    runs: list[Run]
    dropped: bool = False


def read(path: Path) -> Content:
    """ConfigError: a line is damaged, with its number; HalcyonSystemError: the file cannot be read."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why
    lines = text.split("\n")
    dropped = bool(lines[-1])
    rows = [_row(path, number, line) for number, line in enumerate(lines[:-1], start=1)]
    if not rows or rows[0].get("version") != VERSION:
        raise ConfigError(f"{path}:1: no file of a Δ-graph: expected a setup of version {VERSION}")
    try:
        setup, bed = _setup(rows[0]["setup"]), rows[0]["bed"]
        return Content(setup, bed, [_run(row) for row in rows[1:]], dropped)
    except (KeyError, TypeError) as why:
        raise ConfigError(f"{path}: no file of a Δ-graph: {why}") from why


class DataFile:
    """A file that runs are added to. `dropped`: a line that a kill left unfinished is gone."""

    def __init__(self, path: Path, setup: Setup, bed: Mapping[str, Any] | None) -> None:
        """UsageError: the file is of another measurement, and says of which; or another process adds to it."""
        self.runs: list[Run] = []
        self.dropped = False
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as why:
            raise HalcyonSystemError.of(why, path) from why
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._cut(path)
            if path.stat().st_size:
                found = read(path)
                _require_same(path, found, setup, bed)
                self.runs = found.runs
            else:
                self._add({"version": VERSION, "setup": asdict(setup), "bed": bed})
        except BlockingIOError:
            os.close(self._file)
            raise UsageError(f"{path}: another measurement writes to it; wait for its end") from None
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> "DataFile":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def add(self, run: Run) -> None:
        """HalcyonSystemError: it cannot be written."""
        self._add(asdict(run))
        self.runs.append(run)

    def _add(self, row: Mapping[str, Any]) -> None:
        try:
            line = (json.dumps(row, ensure_ascii=False) + "\n").encode()
            if os.write(self._file, line) != len(line):
                raise HalcyonSystemError("the file of the measurement is incomplete: no space left on device")
            os.fsync(self._file)
        except OSError as why:
            raise HalcyonSystemError.of(why, "the file of the measurement") from why

    def _cut(self, path: Path) -> None:
        """What a kill left: the beginning of a line."""
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(self._file, whole)
            self.dropped = True


def _require_same(path: Path, found: Content, setup: Setup, bed: Mapping[str, Any] | None) -> None:
    was, now = asdict(found.setup) | {"bed": found.bed}, asdict(setup) | {"bed": bed}
    # Through JSON, which knows no tuples.
    was, now = (json.loads(json.dumps(one)) for one in (was, now))
    if differing := [name for name in now if was.get(name) != now[name]]:
        name = differing[0]
        raise UsageError(
            f"{path}: holds runs of another measurement: {name} was {json.dumps(was.get(name), ensure_ascii=False)}, "
            f"and is {json.dumps(now[name], ensure_ascii=False)}; name another file with --data"
        )


def _row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as why:
        raise ConfigError(f"{path}:{number}: damaged: {why.msg}") from why
    if not isinstance(row, dict):
        raise ConfigError(f"{path}:{number}: damaged: expected an object")
    return row


def _setup(row: dict[str, Any]) -> Setup:
    def command(one: dict[str, Any]) -> Command:
        return Command(one["name"], tuple(one["words"]), tuple(one["hosts"]))

    placed = tuple((file, host) for file, host in row["placed"])
    return Setup(**(row | {"a": command(row["a"]), "b": command(row["b"]), "placed": placed}))


def _run(row: dict[str, Any]) -> Run:
    def told(one: dict[str, Any] | None) -> Told | None:
        return Told(**(one | {"phases": [Phase(**phase) for phase in one["phases"]]})) if one else None

    told_of = {name: told(row[name]) for name in ("a", "b")}
    return Run(**(row | told_of | {"key": Key(**row["key"])}))
