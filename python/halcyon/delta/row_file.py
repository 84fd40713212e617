"""A file that a measurement's runs are kept in: one JSON object a line, written as each run ends.

The first line says what is measured (`version`, `setup`, `bed`: the plan of the test bed, null without one), the others
are runs. Nothing is ever changed in it: a measurement that was ended, by whatever, goes on with the runs that it lacks.
"""

import fcntl
import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from halcyon.errors import ConfigError, HalcyonSystemError, UsageError

VERSION = 1

Row = dict[str, Any]


@dataclass(frozen=True)
class Rows:
    """Of a file. `dropped`: a line that a kill left unfinished."""

    setup: Row
    bed: Row | None
    runs: list[Row]
    dropped: bool = False


def read_rows(path: Path) -> Rows:
    """ConfigError: a line is damaged, with its number; HalcyonSystemError: the file cannot be read."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why
    lines = text.split("\n")
    rows = [_row(path, number, line) for number, line in enumerate(lines[:-1], start=1)]
    if not rows or rows[0].get("version") != VERSION:
        raise ConfigError(f"{path}:1: no file of a Δ-graph: expected a setup of version {VERSION}")
    try:
        return Rows(rows[0]["setup"], rows[0]["bed"], rows[1:], bool(lines[-1]))
    except KeyError as why:
        raise ConfigError(f"{path}: no file of a Δ-graph: {why}") from why


class RowFile:
    """A file that runs are added to. `found`: what is there already; `dropped`: a line that a kill left unfinished is
    gone."""

    def __init__(self, path: Path, setup: Mapping[str, Any], bed: Mapping[str, Any] | None) -> None:
        """UsageError: the file is of another measurement, and says of which; or another process adds to it."""
        self.found: list[Row] = []
        self.dropped = False
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as why:
            raise HalcyonSystemError.of(why, path) from why
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._cut(path)
            if path.stat().st_size:
                rows = read_rows(path)
                _require_same(path, rows, setup, bed)
                self.found = rows.runs
            else:
                self.add({"version": VERSION, "setup": setup, "bed": bed})
        except BlockingIOError:
            self.close()
            raise UsageError(f"{path}: another measurement writes to it; wait for its end") from None
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, row: Mapping[str, Any]) -> None:
        """HalcyonSystemError: it cannot be written."""
        try:
            line = (json.dumps(row, ensure_ascii=False) + "\n").encode()
            if os.write(self._file, line) != len(line):
                raise HalcyonSystemError("the file of the measurement is incomplete: no space left on device")
            os.fsync(self._file)
        except OSError as why:
            raise HalcyonSystemError.of(why, "the file of the measurement") from why

    def close(self) -> None:
        os.close(self._file)

    def _cut(self, path: Path) -> None:
        """What a kill left: the beginning of a line."""
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(self._file, whole)
            self.dropped = True


def _require_same(path: Path, found: Rows, setup: Mapping[str, Any], bed: Mapping[str, Any] | None) -> None:
    # Through JSON, which knows no tuples.
    was, now = (json.loads(json.dumps(one)) for one in ({**found.setup, "bed": found.bed}, {**setup, "bed": bed}))
    if differing := _differing(was, now):
        raise UsageError(
            f"{path}: holds runs of another measurement: {'; '.join(differing)}. Name another file with --data"
        )


def _differing(was: Any, now: Any, where: str = "") -> list[str]:
    """`a.hosts was "c1", is "c2"`: fields whose values differ, at any depth."""
    if isinstance(was, dict) and isinstance(now, dict):
        return [
            said for name in now for said in _differing(was.get(name), now[name], f"{where}.{name}" if where else name)
        ]
    if was == now:
        return []
    texts = _in_words(was), _in_words(now)
    alike = next(
        (at for at, (one, other) in enumerate(zip(*texts, strict=False)) if one != other), min(map(len, texts))
    )
    before, after = (_around(text, alike) for text in texts)
    return [f"{where} was {before}, is {after}"]


_LONGEST_VALUE = 60
_LONGEST_ALIKE = 20


def _in_words(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return shlex.join(value)
    return "not given" if value is None else json.dumps(value, ensure_ascii=False)


def _around(text: str, at: int) -> str:
    """Of a long text, the part in which it differs from another one."""
    begin = max(0, at - _LONGEST_ALIKE) if at > _LONGEST_VALUE - _LONGEST_ALIKE else 0
    end = begin + _LONGEST_VALUE
    return f"{'…' if begin else ''}{text[begin:end]}{'…' if end < len(text) else ''}"


def _row(path: Path, number: int, line: str) -> Row:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as why:
        raise ConfigError(f"{path}:{number}: damaged: {why.msg}") from why
    if not isinstance(row, dict):
        raise ConfigError(f"{path}:{number}: damaged: expected an object")
    return row
