"""A gate at which the processes of a command are held at their first I/O, until the time at which it opens."""

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_MAGIC = 0x3165_7461_6768_6368
_HEAD = "=QQq128s"
_WORDS = 5
"""Of 8 bytes: when it opens; first and last arrival; first and last that went on. Then four counts of 4 bytes."""
_BYTES = 208
_OPENS_AT = struct.calcsize(_HEAD)
"""Offsets and sizes are those of gate_page.hpp."""


@dataclass(frozen=True)
class Gathered:
    """What processes have told so far; times in nanoseconds of CLOCK_MONOTONIC, 0 where there is none."""

    opens_ns: int
    first_arrived_ns: int
    last_arrived_ns: int
    first_passed_ns: int
    last_passed_ns: int
    arrived: int
    passed: int
    let: int
    """Of those that arrived, they went on since they had been held for as long as the gate holds anybody."""
    late: int
    """Processes whose first I/O came when the gate was open."""


class Gate:
    """The file that the processes share with us."""

    def __init__(self, path: Path, limit_s: float) -> None:
        self.path = path
        head = struct.pack(_HEAD, _MAGIC, _BYTES, round(limit_s * 1e9), clock_name().encode())
        path.write_bytes(head.ljust(_BYTES, b"\0"))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _BYTES)
        self._view = memoryview(self._map)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._view.release()
        self._map.close()

    def variables(self, below: str) -> dict[str, str]:
        """Of processes that shall be held at their first I/O below this path; "": anywhere."""
        return {"HALCYON_GATE": str(self.path), "HALCYON_GATE_PATH": below}

    def open_at(self, time_ns: int) -> None:
        """Of CLOCK_MONOTONIC. Said once, some milliseconds before: processes look for it in steps of two."""
        # One store of 8 bytes, which processes read at once.
        with self._view.cast("q") as words:
            words[_OPENS_AT // 8] = time_ns

    def gathered(self) -> Gathered:
        values = struct.unpack_from(f"={_WORDS}q4I", self._map, _OPENS_AT)
        return Gathered(*values)


def clock_name() -> str:
    """Of this process' CLOCK_MONOTONIC, as node_clock.cpp names it: processes with the same name read the same one."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    try:
        return f"{boot}/{Path('/proc/self/ns/time').readlink()}"
    except OSError:  # a kernel without time namespaces
        return boot
