#!/usr/bin/env python3
"""Room that a log container of 64 MiB takes which a program rewrites 100 times, syncing each time, over 64 MiB: the
most of all rewrites, and after `halcyon log punch`. Counted, in memory."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rounds import count, unmet

from halcyon import logfs
from halcyon.errors import UnavailableError
from halcyon.layers.preload import preloading

ROOM = "logfs"
BYTES = 64 << 20
REWRITES = 100
FREE = 2 * REWRITES * BYTES
"""In case that nothing of what was replaced is given back, as where the file system cannot do that."""

REWRITE = f"""
import os, sys
data = bytes(1 << 20)
file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
for _ in range(1 + {REWRITES}):
    for at in range(0, {BYTES}, len(data)):
        os.pwrite(file, data, at)
    os.fsync(file)
    print(flush=True)
    sys.stdin.readline()
os.close(file)
"""


def main() -> int:
    try:
        variables = preloading()
    except UnavailableError as why:
        return not_met(str(why))
    room = os.statvfs("/dev/shm")
    if room.f_bavail * room.f_frsize < FREE:
        return not_met(f"/dev/shm has no room for {FREE >> 30} GiB")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        file = Path(name) / "file"
        most = rewritten(file, variables | {"HALCYON_LOG": name})
        count(ROOM, "space_amplification", most / BYTES, "ratio")
        logfs.punch(file)
        count(ROOM, "space_amplification_punched", room_of(file) / BYTES, "ratio")
    return 0


def not_met(reason: str) -> int:
    for name in ("space_amplification", "space_amplification_punched"):
        unmet(ROOM, name, reason)
    return 0


def rewritten(file: Path, variables: dict[str, str]) -> int:
    """Most bytes of the container after a rewrite."""
    most = 0
    with subprocess.Popen(
        [sys.executable, "-c", REWRITE, file], env=os.environ | variables, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(1 + REWRITES):
            if not process.stdout.readline():
                raise SystemExit("error: the program that rewrites the file ended early")
            if not (file / "halcyon-container").is_file():
                raise SystemExit(f"error: {file} is no log container")
            most = max(most, room_of(file))
            process.stdin.write("\n")
            process.stdin.flush()
    if process.returncode:
        raise SystemExit(f"error: the program that rewrites the file ended with {process.returncode}")
    return most


def room_of(container: Path) -> int:
    """On the device."""
    return sum(path.stat().st_blocks * 512 for path in container.rglob("*") if path.is_file())


if __name__ == "__main__":
    sys.exit(main())
