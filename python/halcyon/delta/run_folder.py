"""The folder of a run: its sockets, gates and traces."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "halcyon-delta-"
_HELD = "held"
"""A file in it, which the process of the run keeps locked as long as it lives."""


@contextmanager
def run_folder() -> Iterator[Path]:
    """Short, since names of sockets are; gone afterwards. If the process is killed, the next run removes it."""
    _remove_left()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    held = _hold(folder)
    try:
        yield folder
    finally:
        _remove(folder)
        os.close(held)


def _hold(folder: Path) -> int:
    """The file is locked before it has its name: where it is free, the process is gone."""
    unnamed = folder / f"{_HELD}.new"
    held = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(held, fcntl.LOCK_EX)
    unnamed.rename(folder / _HELD)
    return held


def _remove_left() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # it is another user's, a run goes on in it, or another process removes it
            if not folder.is_symlink() and folder.stat().st_uid == os.geteuid():
                _remove_unless_held(folder)


def _remove_unless_held(folder: Path) -> None:
    held = os.open(folder / _HELD, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(folder)
    finally:
        os.close(held)


def _remove(folder: Path) -> None:
    """Agents outlive their programs, and may write there: no more, once the folder has another name."""
    with suppress(OSError):
        folder = folder.rename(folder.with_name(f"{folder.name}.gone"))
    shutil.rmtree(folder, ignore_errors=True)
