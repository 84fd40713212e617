"""A file system on an image, in which a test sees the bytes that have left the node's caches."""

import mmap
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

IMAGE_BYTES = 64 << 20


@dataclass(frozen=True)
class Disk:
    """`folder` is its root."""

    folder: Path
    image: Path

    def count(self, some: bytes) -> int:
        """How often they lie in the image."""
        with self.image.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as all_of_it:
            at, found = -1, 0
            while (at := all_of_it.find(some, at + 1)) >= 0:
                found += 1
        return found


@contextmanager
def image_disk(where: Path) -> Iterator[Disk]:
    """Mounted at `where`, which is made; skips the test where that is not possible."""
    if os.geteuid() != 0:
        pytest.skip("mounting an image needs root")
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("needs mkfs.ext4, of Debian's package e2fsprogs")
    image = where.with_name("image")
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-O", "^has_journal", image], check=True)
    where.mkdir()
    done = subprocess.run(["mount", "-o", "loop,noatime", image, where], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no image can be mounted: {done.stderr.strip()}")
    try:
        yield Disk(where, image)
    finally:
        subprocess.run(["umount", "-l", where], check=True)
