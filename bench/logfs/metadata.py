#!/usr/bin/env python3
"""What a log container asks of the file system's metadata, for each of 16 writers and for one reader: calls that create
files or directories, calls that open files, and all calls that name a file. Counted by `strace`; `…_plain` is the same
program on a plain file. Programs are `dd`, each in a process of its own, one after the other; `cat` reads."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rounds import count, unmet

from halcyon.errors import UnavailableError
from halcyon.layers.preload import preloading

ROOM = "logfs"
WRITERS = 16
BLOCK, BLOCKS = 4096, 8
FIGURES = ("creates_per_writer", "opens_per_writer", "metadata_calls_per_writer", "opens_per_reader")
CREATES = ("mkdir", "mkdirat", "creat", "mknod", "mknodat", "symlink", "symlinkat", "link", "linkat")
OPENS = ("open", "openat", "openat2", "creat")


def main() -> int:
    try:
        variables = preloading()
    except UnavailableError as why:
        return not_met(str(why))
    if shutil.which("strace") is None:
        return not_met("`strace` is not installed")
    with tempfile.TemporaryDirectory() as name:
        for kind, suffix in (("logs", ""), ("plain", "_plain")):
            folder = Path(name) / kind
            folder.mkdir()
            own = variables | {"HALCYON_LOG": str(folder)} if kind == "logs" else {}
            measure(folder, own, suffix)
    return 0


def not_met(reason: str) -> int:
    for name in FIGURES:
        unmet(ROOM, name, reason)
    return 0


def measure(folder: Path, variables: dict[str, str], suffix: str) -> None:
    file = folder / "file"
    total: Counter[str] = Counter()
    for writer in range(WRITERS):
        place = [f"bs={BLOCK}", f"seek={writer * BLOCKS}", f"count={BLOCKS}", "conv=notrunc"]
        total += calls(["dd", "if=/dev/zero", f"of={file}", "status=none", *place], folder, variables)
    if (file / "halcyon-container").is_file() != bool(variables):
        raise SystemExit(f"error: {file} is {'no' if variables else 'a'} log container")
    count(ROOM, f"creates_per_writer{suffix}", total["creates"] / WRITERS, "calls")
    count(ROOM, f"opens_per_writer{suffix}", total["opens"] / WRITERS, "calls")
    count(ROOM, f"metadata_calls_per_writer{suffix}", total["all"] / WRITERS, "calls")
    count(ROOM, f"opens_per_reader{suffix}", calls(["cat", str(file)], folder, variables)["opens"], "calls")


def calls(command: Sequence[str], folder: Path, variables: dict[str, str]) -> Counter[str]:
    """Those that succeeded and name something below the folder."""
    trace = folder.parent / "trace"
    environment = [word for name, value in variables.items() for word in ("-E", f"{name}={value}")]
    traced = ["strace", "-f", "-y", "-s", "4096", "-e", "trace=%file", "-o", str(trace), *environment, *command]
    done = subprocess.run(
        traced, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"error: {' '.join(command)} failed: {done.stderr.strip()}")
    return counted(trace.read_text(errors="replace").splitlines(), folder)


_CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)")


def counted(lines: Sequence[str], folder: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for line in lines:
        call = _CALL.match(line)
        if call is None or int(call[3]) < 0 or str(folder) not in call[2]:
            continue
        if call[1] == "execve":  # names it as an argument of the program
            continue
        found["all"] += 1
        found["opens"] += call[1] in OPENS
        found["creates"] += call[1] in CREATES or (call[1] in OPENS and "O_CREAT" in call[2])
    return found


if __name__ == "__main__":
    sys.exit(main())
