"""DXT's records of a Darshan log, of all versions of their format that are known.

They are read from the log's own bytes: Darshan's library refuses versions that are newer than itself, though a record
of them differs by one field alone.
"""

import bz2
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from halcyon.errors import ConfigError

NEWEST = {"DXT_POSIX": 2, "DXT_MPIIO": 3}
"""The newest version of each module that is known; its segments tell threads, those of older ones do not."""

_Array = np.ndarray[Any, Any]
_HEAD = np.dtype(
    [("id", "<u8"), ("rank", "<i8"), ("shared", "<i8"), ("host", "S64"), ("writes", "<i8"), ("reads", "<i8")]
)
_SEGMENT = [("offset", "<i8"), ("length", "<i8"), ("start", "<f8"), ("end", "<f8")]
_THREAD = [("thread", "<u8")]
_MAGIC = 6567223
_HEADER_BYTES = 17
_CHUNK = 1 << 16
"""Compressed bytes that are taken at a time: a damaged log cannot make more than a thousand times as many of them."""


@dataclass(frozen=True)
class DxtRecord:
    """Transfers of one rank on one file; the first `writes` of `segments` are writes."""

    file_id: int
    rank: int
    host: str
    segments: _Array
    """Fields offset, length, start and end; thread where the version tells it."""
    writes: int


def dxt_records(path: Path, place: range, module: str, version: int) -> Iterator[DxtRecord]:
    """Of the module that lies at these bytes. ConfigError: the log is damaged."""
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    swapped = int.from_bytes(header[8:16], "little") != _MAGIC
    head, segment = _HEAD, np.dtype(_SEGMENT + (_THREAD if version >= NEWEST[module] else []))
    if swapped:
        head, segment = head.newbyteorder(), segment.newbyteorder()
    stream = _Stream(_unpacked(path, place, header[16]))
    try:
        while raw := stream.take(head.itemsize):
            own = np.frombuffer(raw, head)[0]
            writes, reads = int(own["writes"]), int(own["reads"])
            if writes < 0 or reads < 0:
                raise ValueError("a negative number of segments")
            segments = np.frombuffer(stream.take((writes + reads) * segment.itemsize), segment)
            if len(segments) < writes + reads:
                raise ValueError("cut off")
            host = own["host"].decode("utf-8", "replace")
            yield DxtRecord(int(own["id"]), int(own["rank"]), host, segments.astype(segment.newbyteorder("=")), writes)
    except (ValueError, zlib.error, OSError) as why:
        raise ConfigError(f"{path}: a record of module {module} cannot be read: the log is damaged or cut off") from why


class _Stream:
    """Takes as many bytes as are asked for, in order."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._left = bytearray()

    def take(self, count: int) -> bytes:
        """Fewer at the end."""
        while len(self._left) < count and (part := next(self._parts, None)) is not None:
            self._left += part
        taken = bytes(self._left[:count])
        del self._left[:count]
        return taken


def _unpacked(path: Path, place: range, compression: int) -> Iterator[bytes]:
    """A module's content: each process of the run packed its part by itself, one behind the other."""
    opened = None
    with path.open("rb") as file:
        file.seek(place.start)
        for begin in range(place.start, place.stop, _CHUNK):
            wanted = min(_CHUNK, place.stop - begin)
            raw = file.read(wanted)
            if len(raw) < wanted:
                raise ValueError("cut off")
            if compression == _NOT_PACKED:
                yield raw
                continue
            while raw:
                opened = opened or _UNPACK[compression]()
                yield opened.decompress(raw)
                raw = opened.unused_data if opened.eof else b""
                opened = None if opened.eof else opened
    if opened is not None:
        raise ValueError("cut off within a packed part")


_UNPACK: dict[int, Any] = {0: zlib.decompressobj, 1: bz2.BZ2Decompressor}
_NOT_PACKED = 2
