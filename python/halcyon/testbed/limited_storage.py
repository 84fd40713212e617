"""Storage of a limited rate: a file system of its own with a limited device where root allows, else a folder."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from halcyon.errors import HalcyonSystemError
from halcyon.testbed.control_group import ControlGroup, make_control_group
from halcyon.testbed.requirements import find

IMAGE_BYTES = 1 << 30
PROBE_BYTES = 8 << 20
UNLIMITED = 1 << 40


@dataclass
class Storage:
    """A directory for runs. `why_plain` says why its device is not limited; None: it is, for members of `group`."""

    directory: Path
    device: str = ""
    group: ControlGroup | None = None
    why_plain: str | None = None

    def limit(self, bytes_per_s: float) -> None:
        """Sets how fast the members of the group write; nothing on a plain directory."""
        if self.group is not None:
            self.group.limit(self.device, max(int(bytes_per_s), 1 << 16))

    def limit_reads(self, bytes_per_s: float) -> None:
        """Likewise, how fast they read."""
        if self.group is not None:
            self.group.limit(self.device, max(int(bytes_per_s), 1 << 16), "read")

    def settle(self) -> None:
        """What earlier runs left in memory goes to the device now and does not disturb the next run."""
        if self.group is not None:
            self.group.empty()
        os.sync()


@contextmanager
def limited_storage(output: Path) -> Iterator[Storage]:
    """Storage below `output`. Whatever it takes (image, mount, control group) is gone afterwards."""
    directory = output / "storage"
    directory.mkdir(exist_ok=True)
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, directory, ignore_errors=True)
        yield _limited(output, directory, undo)


def remove_leftovers(output: Path) -> None:
    """Unmounts what a run that was killed left mounted."""
    directory = output / "storage"
    if directory.is_mount():
        _command("umount", str(directory))


def _limited(output: Path, directory: Path, undo: ExitStack) -> Storage:
    if os.geteuid() != 0:
        return Storage(directory, why_plain="only root can limit a device; this is not root")
    missing = [tool for tool in ("mkfs.ext4", "mount", "umount") if find(tool) is None]
    if missing:
        return Storage(directory, why_plain=f"no {' and no '.join(missing)} on this machine")
    with ExitStack() as attempt:
        try:
            storage = _mounted(output / "storage.img", directory, attempt)
            _check(storage)
        except (OSError, HalcyonSystemError) as why:
            return Storage(directory, why_plain=str(why))
        undo.push(attempt.pop_all())
        return storage


def _mounted(image: Path, directory: Path, undo: ExitStack) -> Storage:
    group = make_control_group(f"halcyon-storage-{os.getpid()}")
    undo.callback(group.remove)
    undo.callback(image.unlink, missing_ok=True)
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    # Without a journal every write is made by the process that waits for it, and is counted as its own.
    _command("mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-E", "lazy_itable_init=0", str(image))
    _command("mount", "-o", "loop,noatime", str(image), str(directory))
    undo.callback(_unmount, directory)
    undo.callback(group.empty)
    number = directory.stat().st_dev
    return Storage(directory, device=f"{os.major(number)}:{os.minor(number)}", group=group)


def _check(storage: Storage) -> None:
    """A limit that is accepted may still do nothing (a container's kernel, a foreign control group)."""
    assert storage.group is not None
    storage.limit(PROBE_BYTES / 0.5)
    probe = storage.directory / "probe"
    begin = time.monotonic()
    write = f'echo $$ > "$0" && exec dd if=/dev/zero of="$1" bs=1M count={PROBE_BYTES >> 20} conv=fsync'
    _command("sh", "-c", write, str(storage.group.members), str(probe))
    took = time.monotonic() - begin
    probe.unlink()
    storage.limit(UNLIMITED)
    if took < 0.3:
        raise HalcyonSystemError(
            f"the kernel does not hold to a limit: {PROBE_BYTES >> 20} MiB took {took:.2f} s, not 0.5 s"
        )


def _unmount(directory: Path) -> None:
    """The last writes may still hold it for a moment."""
    for attempt in range(50):
        with suppress(HalcyonSystemError):
            _command("umount", str(directory))
            return
        time.sleep(0.1 if attempt < 40 else 0.5)
    _command("umount", "--lazy", str(directory))


def _command(tool: str, *arguments: str) -> None:
    done = subprocess.run([find(tool) or tool, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HalcyonSystemError(f"{tool}: {done.stderr.strip() or f'exit status {done.returncode}'}")
