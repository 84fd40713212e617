"""A file system that is soon full."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(where: Path, size: str, options: str = "") -> Iterator[Path]:
    """Mounts one of `size` (tmpfs' option) at `where`, which is made; skips the test where mounting is not allowed, or
    this kernel does not know the `options`."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    where.mkdir()
    command = [
        "mount",
        "-t",
        "tmpfs",
        "-o",
        ",".join([f"size={size}", *options.split(",")]).rstrip(","),
        "none",
        str(where),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"no small file system can be mounted: {done.stderr.strip()}")
    try:
        yield where
    finally:
        subprocess.run(["umount", "-l", str(where)], check=True)
