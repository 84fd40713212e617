"""Copies of files that may be containers: their holes stay holes."""

import os
from collections.abc import Iterable
from typing import IO, Any

from halcyon.logfs.raw_file import LogFile

_PIECE = 4 << 20


def copy_data(source: IO[bytes], target: IO[bytes]) -> int:
    """All of a binary file into an empty one; how many bytes that has then."""
    size = source.seek(0, os.SEEK_END)
    for begin, end in _ranges(source, size):
        source.seek(begin)
        target.seek(begin)
        left = end - begin
        while left > 0:
            piece = source.read(min(_PIECE, left))
            if not piece:
                break  # it was cut meanwhile
            target.write(piece)
            left -= len(piece)
    target.truncate(size)
    return size


def _ranges(source: Any, size: int) -> Iterable[tuple[int, int]]:
    """Where it holds data, as far as one can ask; else all of it."""
    raw = getattr(source, "raw", source)
    return raw.data_ranges() if isinstance(raw, LogFile) else ((0, size),)
