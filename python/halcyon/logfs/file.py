"""Containers as Python's file objects."""

import io
import os
from typing import IO, TYPE_CHECKING, Any, Literal, overload

from halcyon.errors import UsageError
from halcyon.logfs.open_mode import OpenMode
from halcyon.logfs.raw_file import LogFile, LogPath

if TYPE_CHECKING:
    from _typeshed import (
        OpenBinaryMode,
        OpenBinaryModeReading,
        OpenBinaryModeUpdating,
        OpenBinaryModeWriting,
        OpenTextMode,
    )

BUFFER_BYTES = 1 << 17
"""Of a file for which nobody says how many: each read of a container resolves its index anew."""


@overload
def open(  # noqa: A001
    path: LogPath,
    mode: "OpenTextMode" = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    *,
    checks: bool = False,
    verify: bool = False,
    permissions: int = 0o666,
) -> io.TextIOWrapper: ...
@overload
def open(  # noqa: A001
    path: LogPath,
    mode: "OpenBinaryMode",
    buffering: Literal[0],
    encoding: None = None,
    errors: None = None,
    newline: None = None,
    *,
    checks: bool = False,
    verify: bool = False,
    permissions: int = 0o666,
) -> LogFile: ...
@overload
def open(  # noqa: A001
    path: LogPath,
    mode: "OpenBinaryModeUpdating",
    buffering: Literal[-1, 1] = -1,
    encoding: None = None,
    errors: None = None,
    newline: None = None,
    *,
    checks: bool = False,
    verify: bool = False,
    permissions: int = 0o666,
) -> io.BufferedRandom: ...
@overload
def open(  # noqa: A001
    path: LogPath,
    mode: "OpenBinaryModeWriting",
    buffering: Literal[-1, 1] = -1,
    encoding: None = None,
    errors: None = None,
    newline: None = None,
    *,
    checks: bool = False,
    verify: bool = False,
    permissions: int = 0o666,
) -> io.BufferedWriter: ...
@overload
def open(  # noqa: A001
    path: LogPath,
    mode: "OpenBinaryModeReading",
    buffering: Literal[-1, 1] = -1,
    encoding: None = None,
    errors: None = None,
    newline: None = None,
    *,
    checks: bool = False,
    verify: bool = False,
    permissions: int = 0o666,
) -> io.BufferedReader: ...
@overload
def open(  # noqa: A001
    path: LogPath,
    mode: str,
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    *,
    checks: bool = False,
    verify: bool = False,
    permissions: int = 0o666,
) -> Any: ...
def open(  # noqa: A001
    path: LogPath,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    *,
    checks: bool = False,
    verify: bool = False,
    permissions: int = 0o666,
) -> Any:
    """Opens a container as Python's `open` opens a file; where it writes a file that is not there, a container.

    All arguments of `open` mean the same, but there are no descriptors. `checks`: keeps sums over what is written, so
    that damage to it is found. `verify`: compares what is read with such sums. `permissions` are those of a new file,
    less the umask. The object that is returned has a LogFile below its buffer, which can do more: `raw` of a binary
    file, `buffer.raw` of one for text.

    Raises:
        UsageError: as of `LogFile`; arguments do not go together.
        ConfigError: as of `LogFile`.
        HalcyonSystemError: as of `LogFile`.
    """
    how = OpenMode.of(mode)
    if how.is_binary and not (encoding is errors is newline is None):
        raise UsageError(f"mode {mode!r} takes no encoding, errors or newline: it reads and writes bytes")
    if buffering == 0 and not how.is_binary:
        raise UsageError(f"mode {mode!r} needs a buffer; b makes it one for bytes")
    raw = LogFile(path, how.raw, checks=checks, verify=verify, permissions=permissions)
    if buffering == 0:
        return raw
    try:
        by_line = buffering == 1 and not how.is_binary
        room = buffering if buffering > 1 else BUFFER_BYTES
        if how.updates:
            binary: io.BufferedRandom | io.BufferedWriter | io.BufferedReader = io.BufferedRandom(raw, room)
        else:
            binary = io.BufferedWriter(raw, room) if how.writes else io.BufferedReader(raw, room)
        if how.is_binary:
            return binary
        text = io.TextIOWrapper(binary, encoding, errors, newline, by_line)
        text.mode = mode  # type: ignore[misc]
        return text
    except BaseException:
        raw.close()
        raise


def fsync(file: IO[Any] | io.IOBase) -> None:
    """What processes of this node wrote to a file of `open` is on the device on return: os.fsync() for containers.

    Raises:
        UsageError: it is no container's.
        HalcyonSystemError: the device refused something; all later calls fail, too.
    """
    file.flush()
    _below(file).sync()


def refresh(file: IO[Any] | io.IOBase) -> None:
    """Takes what other processes have published meanwhile; the position stays.

    Raises:
        UsageError: it is no container's.
        ConfigError: what they wrote is damaged.
        HalcyonSystemError: the system refused.
    """
    raw = _below(file)
    if file is not raw:
        # What a buffer has read ahead goes when the position moves to the end, and only then.
        place = file.tell()
        file.flush()
        file.seek(0, os.SEEK_END)
        file.seek(place)
    raw.refresh()


def _below(file: object) -> LogFile:
    """The raw file below buffers."""
    at = file
    while not isinstance(at, LogFile):
        below = getattr(at, "buffer", None) or getattr(at, "raw", None)
        if below is None:
            raise UsageError(f"{file!r} is no file of halcyon.logfs.open")
        at = below
    return at
