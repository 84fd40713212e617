"""Containers for tests."""

import time
from collections.abc import Callable
from pathlib import Path

from halcyon import logfs

PIECES, PIECE, STRIDE = 100, 100, 200


def bytes_of(piece: int) -> bytes:
    return bytes([piece + 1]) * PIECE


def strided(path: Path, *, checks: bool = False) -> bytes:
    """A container of many pieces with holes between them, all of them synced; what it reads as."""
    with logfs.open(path, "wb", 0, checks=checks) as file:
        for piece in range(PIECES):
            file.write_at(piece * STRIDE, bytes_of(piece))
        file.sync()
    return (b"".join(bytes_of(piece) + bytes(STRIDE - PIECE) for piece in range(PIECES)))[: PIECE - STRIDE]


def contents(path: Path) -> bytes:
    with logfs.open(path, "rb") as file:
        return file.read()


def dropping(path: Path, kind: str) -> Path:
    """The only one of its kind, `data` or `index`."""
    (found,) = path.glob(f"hostdir.*/{kind}.*")
    return found


def flip(path: Path, at: int) -> None:
    """One bit of a file."""
    with path.open("r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 0x10]))


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def waits_for(file: Path) -> bool:
    """Whether a process waits for a lock of an open file on this one."""
    mark = f":{file.stat().st_ino} "
    return any("-> OFDLCK" in line and mark in line for line in Path("/proc/locks").read_text().splitlines())


def wait_until(condition: Callable[[], bool], limit_s: float = 60) -> None:
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, "it does not come true"
        time.sleep(0.01)
