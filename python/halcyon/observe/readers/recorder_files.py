"""The files of Recorder: its own (version 2.5), and the text that its recorder2text writes.

A folder holds VERSION, recorder.mt (settings, names of functions) and, for each rank, the different calls (N.cst), the
grammar of their sequence (N.cfg) and their times (N.ts). Expanding the grammar gives the calls in the order of their
starts.
"""

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from halcyon.errors import ConfigError, HalcyonSystemError

VERSIONS = ("2.5",)
SETTINGS = struct.Struct("<i4xddiii4x")  # ranks, start, resolution, buffer, compression of times, grammars shared
MOST_RANKS = 1 << 24
TOP_RULE = -1
USER_FUNCTION = 255
TEXT_LINE = re.compile(rb"(\d+\.\d+) (\d+\.\d+) (\S+) (\d+) (\d+) \((.*) \)")

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Signature:
    """One different call of a rank."""

    thread: int
    function: str
    depth: int
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class RankCalls:
    """One rank's calls in the order of their starts: which signature, when (seconds)."""

    signatures: list[Signature]
    which: Array
    start: Array
    end: Array


@dataclass(frozen=True)
class RecorderTrace:
    """An opened trace; `calls_of` reads one rank's calls. `start`: seconds of the epoch."""

    version: str
    ranks: int
    start: float | None
    calls_of: Callable[[int], RankCalls]


class _Bytes:
    """A file's bytes, taken from the front; whoever takes more than there is names the file and the byte."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.position = 0
        try:
            self.data = path.read_bytes()
        except FileNotFoundError as why:
            raise ConfigError(f"{path}: missing from the trace of Recorder") from why
        except OSError as why:
            raise HalcyonSystemError.of(why, path) from why

    def take(self, size: int) -> bytes:
        if size < 0 or self.position + size > len(self.data):
            raise self.damaged(f"{size} bytes expected here, the file ends at byte {len(self.data)}")
        self.position += size
        return self.data[self.position - size : self.position]

    def integers(self, count: int) -> list[int]:
        if count < 0:
            raise self.damaged(f"a length of {count}")
        return [int(value) for value in np.frombuffer(self.take(4 * count), "<i4")]

    def damaged(self, what: str) -> ConfigError:
        return ConfigError(f"{self.path}: byte {self.position}: {what}: damaged or cut off")


def open_trace(path: Path) -> RecorderTrace:
    """Opens the trace in folder `path`. ConfigError: it is damaged or of another version, with file and byte."""
    return _text(path) if is_text(path) else _folder(path)


def is_text(path: Path) -> bool:
    """Whether the folder is what recorder2text wrote: N.txt for each rank."""
    return not (path / "recorder.mt").exists() and any(re.fullmatch(r"\d+\.txt", each.name) for each in path.iterdir())


def _version(path: Path) -> str:
    file = path / "VERSION"
    version = _Bytes(file).data.decode("ascii", "replace").strip()
    if not version.startswith(tuple(f"{known}." for known in VERSIONS)):
        raise ConfigError(
            f"{file}: version {version!r}; expected one of {', '.join(VERSIONS)}: "
            "turn the trace into text with its own recorder2text, and read the folder _text"
        )
    return version


def _folder(path: Path) -> RecorderTrace:
    version = _version(path)
    settings = _Bytes(path / "recorder.mt")
    ranks, start, resolution, _, compression, shared = SETTINGS.unpack(settings.take(SETTINGS.size))
    if (
        not 0 < ranks <= MOST_RANKS
        or not 0 < resolution < 1
        or not 0 <= start < 1e11
        or compression
        or shared not in (0, 1)
    ):
        raise ConfigError(
            f"{settings.path}: {ranks} ranks, start {start}, resolution {resolution}, compression {compression}: "
            "damaged"
        )
    functions = settings.data[settings.position :].decode("ascii", "replace").split("\n")
    grammar_of = list(range(ranks))
    if shared:
        grammar_of = _Bytes(path / "ug.mt").integers(ranks)

    def calls_of(rank: int) -> RankCalls:
        signatures = _signatures(path / f"{0 if shared else rank}.cst", functions)
        times = _Bytes(path / f"{rank}.ts")
        if len(times.data) % 8:
            raise ConfigError(f"{times.path}: ends at byte {len(times.data)}, within a pair of times: cut off")
        ticks = np.frombuffer(times.data, "<u4").reshape(-1, 2).astype(np.float64)
        which = _expand(path / f"{grammar_of[rank]}.cfg", len(signatures), len(ticks))
        starts = np.cumsum(ticks[:, 0]) * resolution
        before = np.concatenate([[0.0], starts[:-1]])
        return RankCalls(signatures, which, starts, before + ticks[:, 1] * resolution)

    return RecorderTrace(version, ranks, start, calls_of)


def _signatures(path: Path, functions: list[str]) -> list[Signature]:
    file = _Bytes(path)
    (count,) = file.integers(1)
    found: dict[int, Signature] = {}
    for _ in range(count):
        number, _, size, _ = file.integers(4)
        end = file.position + size
        thread, function, depth, argument_count, length = struct.unpack("<QBBBi", file.take(15))
        text = file.take(length).decode("utf-8", "replace")
        arguments = tuple(text.split(" ")[:-1])
        if file.position != end or not 0 <= number < count or number in found or len(arguments) != argument_count:
            raise file.damaged(f"call {number} of {count} with {len(arguments)} of {argument_count} arguments")
        if function < len(functions) - 1:
            name = functions[function]
        elif function == USER_FUNCTION:  # of the user's own program; its name is an argument
            name = f"user:{arguments[1] if len(arguments) > 1 else ''}"
        else:
            raise file.damaged(f"function {function}, of {len(functions) - 1} known ones")
        found[number] = Signature(thread, name, depth, arguments)
    if len(found) != count:
        raise file.damaged(f"{len(found)} calls; expected {count}")
    return [found[number] for number in range(count)]


def _expand(path: Path, signatures: int, expected: int) -> Array:
    """The sequence of signatures that a grammar stands for; must be as long as there are times."""
    file = _Bytes(path)
    (count,) = file.integers(1)
    rules: dict[int, list[tuple[int, int]]] = {}
    for _ in range(count):
        rule, symbols = file.integers(2)
        body = file.integers(2 * symbols)
        rules[rule] = list(zip(body[::2], body[1::2], strict=True))
    for rule, pairs in rules.items():
        for symbol, times in pairs:
            if times < 1 or symbol >= signatures or (symbol < 0 and symbol not in rules):
                raise ConfigError(f"{path}: rule {rule}: symbol {symbol} {times} times: damaged")
    expanded: dict[int, Array] = {}
    for rule in _leaves_first(path, rules):
        length = sum(times * (1 if symbol >= 0 else len(expanded[symbol])) for symbol, times in rules[rule])
        if length > expected:
            break
        parts = [
            np.tile(np.array([symbol], np.int64) if symbol >= 0 else expanded[symbol], times)
            for symbol, times in rules[rule]
        ]
        expanded[rule] = np.concatenate(parts) if parts else np.array([], np.int64)
    found = expanded.get(TOP_RULE)
    if found is None or len(found) != expected:
        many = "too many" if found is None else str(len(found))
        raise ConfigError(f"{path}: {many} calls; the file of times has {expected}: one of them is damaged or cut off")
    return found


def _leaves_first(path: Path, rules: dict[int, list[tuple[int, int]]]) -> Iterator[int]:
    """The rules that the top one needs, each after those it is made of."""
    done: set[int] = set()
    entered: set[int] = set()
    stack = [TOP_RULE] if TOP_RULE in rules else []
    while stack:
        rule = stack[-1]
        waiting = [symbol for symbol, _ in rules[rule] if symbol < 0 and symbol not in done]
        if rule in done or not waiting:
            stack.pop()
            if rule not in done:
                done.add(rule)
                yield rule
        elif rule in entered:
            raise ConfigError(f"{path}: rule {rule} is made of itself: damaged")
        else:
            entered.add(rule)
            stack += dict.fromkeys(waiting)


def _text(path: Path) -> RecorderTrace:
    files = sorted(
        (each for each in path.iterdir() if re.fullmatch(r"\d+\.txt", each.name)), key=lambda each: int(each.stem)
    )

    def calls_of(rank: int) -> RankCalls:
        return _text_calls(files[rank])

    if [int(each.stem) for each in files] != list(range(len(files))):
        raise ConfigError(f"{path}: texts of ranks {', '.join(each.stem for each in files)}: some are missing")
    if not any(each.stat().st_size for each in files):
        raise ConfigError(f"{path}: no call in the text of any rank: cut off")
    return RecorderTrace("(recorder2text)", len(files), None, calls_of)


def _text_calls(path: Path) -> RankCalls:
    known: dict[Signature, int] = {}
    which, times = [], []
    offset = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            matched = TEXT_LINE.fullmatch(line.rstrip(b"\n"))
            if not matched or not line.endswith(b"\n"):
                raise ConfigError(
                    f"{path}:{number}: byte {offset}: no call as recorder2text writes them: damaged or cut off"
                )
            start, end, function, depth, _, arguments = (part.decode("utf-8", "replace") for part in matched.groups())
            signature = Signature(0, function, int(depth), tuple(arguments.split()))
            which.append(known.setdefault(signature, len(known)))
            times.append((float(start), float(end)))
            offset += len(line)
    pairs = np.array(times).reshape(-1, 2)
    return RankCalls(list(known), np.array(which, np.int64), pairs[:, 0], pairs[:, 1])
