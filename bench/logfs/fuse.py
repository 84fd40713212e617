#!/usr/bin/env python3
"""A container through `halcyon mount`, and a plain file through libfuse's own passthrough example (passthrough_ll with
its default options): written and read back by 1 MiB, in memory, in turn. Programs of 4 KiB beside them.

The example is compiled from libfuse's sources: those that the development package brings, or the folder
$HALCYON_LIBFUSE_EXAMPLES."""

import gzip
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from rounds import Rounds, count, unmet

ROOM = "logfs"
MIB = 1 << 20
BYTES = 256 * MIB
SMALL_BYTES = 16 * MIB
TAKES = 3
EXAMPLES = Path("/usr/share/doc/libfuse3-dev/examples")
FIGURES = ("fuse_over_passthrough", "fuse_write_over_passthrough", "fuse_read_over_passthrough")


def main() -> int:
    program = Path(os.environ["HALCYON_BUILD"]) / "bin/halcyon-mount"
    reason = missing(program)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        example = None if reason else build_example(Path(folder))
        if example is None:
            for name in FIGURES:
                unmet(ROOM, name, reason or "libfuse's passthrough example is not there")
            return 0
        measure(program, example, Path(folder))
    return 0


def missing(program: Path) -> str:
    if not program.exists():
        return "halcyon-mount is not built"
    if not os.access("/dev/fuse", os.R_OK | os.W_OK) or os.geteuid() != 0:
        return "mounting needs root and /dev/fuse"
    return ""


def build_example(folder: Path) -> Path | None:
    """None: its source is not there, or does not compile."""
    place = Path(os.environ.get("HALCYON_LIBFUSE_EXAMPLES", EXAMPLES))
    sources = folder / "sources"
    sources.mkdir()
    for name in ("passthrough_ll.c", "passthrough_helpers.h"):
        if (place / name).exists():
            (sources / name).write_bytes((place / name).read_bytes())
        elif (place / f"{name}.gz").exists():
            (sources / name).write_bytes(gzip.decompress((place / f"{name}.gz").read_bytes()))
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "fuse3"], capture_output=True, text=True).stdout
    command = ["gcc", "-O2", "-o", folder / "example", sources / "passthrough_ll.c", *flags.split()]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        return None
    return folder / "example"


def measure(program: Path, example: Path, folder: Path) -> None:
    backend, plain, ours, theirs = (folder / name for name in ("backend", "plain", "ours", "theirs"))
    for path in (backend, plain, ours, theirs):
        path.mkdir()
    with (
        served([program, "--foreground", backend, ours], ours),
        served([example, "-f", "-o", f"source={plain}", theirs], theirs),
    ):
        count(ROOM, "fuse_transfer", 1, "MiB")
        for rounds in Rounds(ROOM):
            large = [take(theirs, ours, BYTES, MIB) for _ in range(TAKES)]
            small = [take(theirs, ours, SMALL_BYTES, 4096) for _ in range(TAKES)]
            say(rounds, "fuse{}_over_passthrough", large)
            say(rounds, "fuse_4KiB{}_over_passthrough", small)
            for number, kind in enumerate(("write", "read")):
                seconds = median(one[1][number] for one in large)
                rounds.value(f"fuse_{kind}_bandwidth", BYTES / MIB / seconds, "MiB/s")


Times = tuple[float, float]
"""Of writing and of reading, in seconds."""


def take(theirs: Path, ours: Path, size: int, transfer: int) -> tuple[Times, Times, Times]:
    """The example, a container, the example again."""
    first, measured, again = (times(mount / "file", size, transfer) for mount in (theirs, ours, theirs))
    return first, measured, again


def say(rounds: Rounds, name: str, takes: list[tuple[Times, Times, Times]]) -> None:
    for suffix, part in (("", sum), ("_write", lambda both: both[0]), ("_read", lambda both: both[1])):
        first, measured, again = (median(part(one[i]) for one in takes) for i in range(3))
        rounds.value(name.format(suffix), first / measured, "ratio")
        rounds.require_control(name.format(suffix) + "_control", first / again)


def times(path: Path, size: int, transfer: int) -> Times:
    data = bytearray(os.urandom(MIB)) * (transfer // MIB or 1)
    part = memoryview(data)[:transfer]
    file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
    begin = time.perf_counter()
    for _ in range(size // transfer):
        os.write(file, part)
    os.close(file)
    written = time.perf_counter() - begin
    file = os.open(path, os.O_RDONLY)
    # What the kernel has of it would be read without a word to anybody.
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    begin = time.perf_counter()
    for _ in range(size // transfer):
        if os.readv(file, [part]) != transfer:
            raise SystemExit(f"{path} ends early")
    read = time.perf_counter() - begin
    os.close(file)
    path.unlink()
    return written, read


@contextmanager
def served(command: list[object], point: Path) -> Iterator[None]:
    process = subprocess.Popen([str(word) for word in command])
    end = time.monotonic() + 10
    while not point.is_mount():
        if time.monotonic() > end or process.poll() is not None:
            raise SystemExit(f"{command[0]} does not mount")
        time.sleep(0.01)
    try:
        yield
    finally:
        process.terminate()
        process.wait()
        subprocess.run(["umount", "-q", "-l", point], check=False)


if __name__ == "__main__":
    sys.exit(main())
