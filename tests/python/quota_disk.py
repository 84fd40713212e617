"""A file system with a quota that is soon used up."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NOBODY = 65534
FILE_SYSTEMS = ("ext4", "btrfs")
_IMAGE_BYTES = 256 << 20


class _Limits(ctypes.Structure):
    """struct if_dqblk: what quotactl(2) is given."""

    _fields_ = (
        ("blocks_hard", ctypes.c_uint64),
        ("blocks_soft", ctypes.c_uint64),
        ("used_bytes", ctypes.c_uint64),
        ("others", ctypes.c_uint64 * 5),
        ("valid", ctypes.c_uint32),
    )


def _run(*words: object) -> str:
    """Skips the test where the command fails."""
    if shutil.which(str(words[0])) is None:
        pytest.skip(f"there is no {words[0]}")
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout.strip()


def _limit_user(where: Path, limit_bytes: int) -> None:
    set_quota, block_limits = 0x800008, 1
    device = _run("findmnt", "--noheadings", "--output", "SOURCE", "--mountpoint", where)
    limits = _Limits(blocks_hard=limit_bytes >> 10, blocks_soft=limit_bytes >> 10, valid=block_limits)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.quotactl(set_quota << 8, device.encode(), NOBODY, ctypes.byref(limits)) != 0:
        pytest.skip(f"quotactl: {os.strerror(ctypes.get_errno())}")


@contextmanager
def quota_disk(where: Path, file_system: str, limit_bytes: int) -> Iterator[Path]:
    """Yields a folder of user NOBODY's, who may have so many bytes there; it is on an image that is mounted at `where`,
    which is made. Skips the test where that is not possible: with ext4 it needs a kernel that has quotas of its format,
    with btrfs the tools of that.
    """
    if os.geteuid() != 0:
        pytest.skip("mounting a file system with a quota needs root")
    image = where.with_name(f"{where.name}.image")
    with image.open("wb") as file:
        file.truncate(_IMAGE_BYTES)
    where.mkdir()
    if file_system == "ext4":
        _run("mkfs.ext4", "-q", "-F", "-O", "quota", image)
    else:
        _run("mkfs.btrfs", "-q", image)
    _run("mount", "-o", "loop,usrquota" if file_system == "ext4" else "loop", image, where)
    try:
        limited = where / "limited"
        if file_system == "ext4":
            limited.mkdir()
            _limit_user(where, limit_bytes)
        else:
            _run("btrfs", "quota", "enable", where)
            _run("btrfs", "subvolume", "create", limited)
            _run("btrfs", "qgroup", "limit", limit_bytes, limited)
        os.chown(limited, NOBODY, NOBODY)
        yield limited
    finally:
        subprocess.run(["umount", "-l", where], check=True)
        image.unlink()
