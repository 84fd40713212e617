"""Which programs of Halcyon made a run, and since which boot of the machine: times of others may differ."""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

from halcyon.coordinate.configuration import find_program
from halcyon.errors import UnavailableError
from halcyon.installed_program import find_installed
from halcyon.layers.preload import find_library

_PROGRAMS: tuple[Callable[[], Path], ...] = (
    find_program, lambda: find_installed("halcyon-agent", "HALCYON_AGENT"), find_library,
)  # fmt: skip
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def programs() -> str:
    """The first 12 hexadecimal digits of SHA-256 over the coordinator, the agent and libhalcyon-io, as they are now;
    one that is not there has no bytes."""
    sums = hashlib.sha256()
    for find in _PROGRAMS:
        sums.update(_sum(find))
    return sums.hexdigest()[:12]


def boot() -> str:
    """The first 8 hexadecimal digits of the boot's number."""
    return _BOOT.read_text(encoding="ascii")[:8]


def _sum(find: Callable[[], Path]) -> bytes:
    try:
        path = find()
        status = path.stat()
        return _sum_of(path, status.st_ino, status.st_size, status.st_mtime_ns)
    except (UnavailableError, OSError):
        return b""


@cache
def _sum_of(path: Path, _inode: int, _bytes: int, _changed_ns: int) -> bytes:
    """Once for each build: a run must not be disturbed by the next one's preparations."""
    return hashlib.sha256(path.read_bytes()).digest()
