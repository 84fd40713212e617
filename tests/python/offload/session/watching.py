"""Acts at the very moment a file appears, is renamed or written, through inotify."""

import ctypes
import os
import select
import struct
from collections.abc import Callable
from pathlib import Path

IN_MODIFY, IN_CREATE, IN_MOVED_TO = 0x2, 0x100, 0x80
HEADER = struct.Struct("iIII")


class Watch:
    """Watches one directory. Use before the run starts."""

    def __init__(self, directory: Path, mask: int = IN_CREATE | IN_MOVED_TO) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.inotify_init1(os.O_CLOEXEC)
        if self._fd < 0 or self._libc.inotify_add_watch(self._fd, os.fsencode(directory), mask) < 0:
            raise OSError(ctypes.get_errno(), "inotify")

    def wait(self, wanted: Callable[[int, str], bool], limit_s: float = 30) -> None:
        """Returns at the first event for which `wanted(mask, name)` holds."""
        while events := self.events(limit_s):
            if any(wanted(mask, name) for mask, name in events):
                return
        raise AssertionError(f"no such event within {limit_s} s")

    def events(self, limit_s: float) -> list[tuple[int, str]]:
        """(mask, name) of the next ones; none when none comes within the limit."""
        if not select.select([self._fd], [], [], limit_s)[0]:
            return []
        data = os.read(self._fd, 65536)
        found = []
        while data:
            _, mask, _, length = HEADER.unpack_from(data)
            found.append((mask, data[HEADER.size : HEADER.size + length].rstrip(b"\0").decode()))
            data = data[HEADER.size + length :]
        return found

    def close(self) -> None:
        os.close(self._fd)
