"""Functions and lines for the frames of call stacks, where the binaries are at hand, by addr2line of binutils."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from halcyon.errors import HalcyonSystemError, UnavailableError, UsageError
from halcyon.predict.grammar_names import frames
from halcyon.predict.learnt import Learnt

LIMIT_S = 120


def with_places(learnt: Learnt, folders: Sequence[Path]) -> Learnt:
    """Frames `module+0x12` become `function@file.c:34@module`, with what is known of it; others stay as they are.

    `folders` hold the binaries that were recorded, under the same names. UsageError: none of them is there.
    UnavailableError: there is no addr2line.
    """
    asked: dict[str, dict[str, None]] = {}
    for symbol in learnt.symbols:
        for frame in frames(symbol.stack):
            module, plus, offset = frame.rpartition("+0x")
            if plus:
                asked.setdefault(module, {})[offset] = None
    found = {module: path for module in asked if (path := _binary(module, folders)) is not None}
    if asked and not found:
        where = ", ".join(map(str, folders))
        raise UsageError(f"--binaries: no file in {where} has the name of one in the call stacks: {', '.join(asked)}")
    places: dict[str, str] = {}
    for module, path in found.items():
        offsets = list(asked[module])
        for offset, (function, line) in zip(offsets, _looked_up(path, offsets), strict=True):
            known = [part for part in (function, line) if part]
            if known:
                places[f"{module}+0x{offset}"] = "@".join([*known, module])
    symbols = [
        replace(one, stack=" ".join(places.get(frame, frame) for frame in frames(one.stack))) for one in learnt.symbols
    ]
    return replace(learnt, symbols=symbols)


def _binary(module: str, folders: Sequence[Path]) -> Path | None:
    return next((path for folder in folders if (path := folder / module).is_file()), None)


def _looked_up(binary: Path, offsets: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Function and line of each; "": not known. A frame is where the call returns to, one byte behind it."""
    tool = shutil.which("addr2line")
    if tool is None:
        raise UnavailableError("--binaries needs addr2line, which is not installed (Debian: binutils)")
    calls = "".join(f"{max(int(offset, 16) - 1, 0):x}\n" for offset in offsets)
    try:
        done = subprocess.run(
            [tool, "--functions", "--demangle", f"--exe={binary}"],
            input=calls, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as why:
        raise HalcyonSystemError(f"{tool} {binary}: {why}") from why
    lines = done.stdout.splitlines()
    if done.returncode != 0 or len(lines) != 2 * len(offsets):
        return iter([("", "")] * len(offsets))  # no ELF file, such as a script of that name
    return zip(map(_function, lines[::2]), map(_line, lines[1::2]), strict=True)


def _function(said: str) -> str:
    # Templates have spaces in their names, which part frames.
    return "" if said == "??" else said.replace(" ", "")


def _line(said: str) -> str:
    """`/build/out.c:34 (discriminator 2)`: out.c:34."""
    place = Path(said.split(" (")[0]).name.replace(" ", "")
    return "" if place.startswith("?") or place.endswith(":?") else place
