"""A control group that limits how fast its processes write to one device, or read from it; both versions of the
interface."""

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

PATIENCE_S = 20.0


@dataclass(frozen=True)
class ControlGroup:
    """A group made for one run. Processes join by writing their id to `members`, and so do their children.

    `line` is what the kernel wants to read in `limit_file`, with the device and the bytes per second in it. Both have a
    place for what is limited.
    """

    path: Path
    limit_file: str
    line: str

    @property
    def members(self) -> Path:
        return self.path / "cgroup.procs"

    def limit(self, device: str, bytes_per_s: int, what: Literal["write", "read"] = "write") -> None:
        """Limits writes to `device` (major:minor), or reads from it. OSError where the kernel refuses."""
        words = {"device": device, "rate": bytes_per_s, "what": what, "letter": what[0]}
        (self.path / self.limit_file.format(**words)).write_text(self.line.format(**words))

    def empty(self) -> None:
        """Waits until no process is left in the group, and ends those that outstay: they hold the storage."""
        end = time.monotonic() + PATIENCE_S
        while left := self._processes():
            late = time.monotonic() > end
            for process in left if late else []:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.05)

    def remove(self) -> None:
        """Empties the group and removes it."""
        self.empty()
        self.path.rmdir()

    def _processes(self) -> list[int]:
        return [int(word) for word in self.members.read_text().split()]


def make_control_group(
    name: str, mounts: Path = Path("/proc/mounts"), own: Path = Path("/proc/self/cgroup")
) -> ControlGroup:
    """A new group called `name`; OSError with the reason where there can be none."""
    version_1 = _mount_point(mounts.read_text(), "cgroup", "blkio")
    if version_1 is not None:
        path = _beside(version_1, _own_path(own.read_text(), "blkio")) / name
        path.mkdir()
        return ControlGroup(path, "blkio.throttle.{what}_bps_device", "{device} {rate}")
    version_2 = _mount_point(mounts.read_text(), "cgroup2", "")
    if version_2 is None:
        raise OSError("no control groups are mounted")
    here = _beside(version_2, _own_path(own.read_text(), ""))
    # Beside the own group, not in it: a group with processes cannot have limited children.
    parent = here if here == version_2 else here.parent
    if "io" not in (parent / "cgroup.subtree_control").read_text().split():
        (parent / "cgroup.subtree_control").write_text("+io")
    path = parent / name
    path.mkdir()
    return ControlGroup(path, "io.max", "{device} {letter}bps={rate}")


def _mount_point(mounts: str, kind: str, option: str) -> Path | None:
    for line in mounts.splitlines():
        _, point, system, options, *_ = line.split()
        if system == kind and (not option or option in options.split(",")):
            return Path(point)
    return None


def _own_path(memberships: str, controller: str) -> str:
    for line in memberships.splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path
    return "/"


def _beside(mount_point: Path, own: str) -> Path:
    """Where this process' group is; the mount point where a container shows another tree than it lives in."""
    path = mount_point / own.strip("/")
    return path if path.is_dir() else mount_point
