"""Mounts of a backend, each served by a process of its own: one node, or several, of a cluster."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

import pytest

from halcyon.errors import UnavailableError
from halcyon.installed_program import find_installed

LIMIT_S = 30


def program() -> Path:
    """Skips the test where mounting is not possible."""
    try:
        found = find_installed("halcyon-mount", "HALCYON_MOUNT")
    except UnavailableError as why:
        pytest.skip(f"halcyon-mount is not built: {why}")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("/dev/fuse is not there, or not for this user")
    if os.geteuid() != 0:
        pytest.skip("mounting without fusermount3 needs root")
    return found


def wait_until(holds: Callable[[], object], what: str) -> None:
    end = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < end, f"not within {LIMIT_S} s: {what}"
        time.sleep(0.01)


def is_mounted(point: Path) -> bool:
    points = (line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines())
    return any(name.replace("\\040", " ") == str(point) for name in points)


def has_ended(process: int) -> bool:
    """Whoever started it may not have asked for its status yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def halcyon(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command, as a user gives it."""
    return subprocess.run(
        [sys.executable, "-m", "halcyon", *map(str, words)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


class Mounted:
    """A mount. `limit`: how many descriptors its process may have. `under`: words in front of its command."""

    def __init__(
        self, backend: Path, point: Path, *options: str, limit: int | None = None, under: Sequence[str] = ()
    ) -> None:
        self.point = point
        self.log = point.with_name(point.name + ".log")
        point.mkdir(exist_ok=True)
        command = [*under, str(program()), "--foreground", *options, str(backend), str(point)]
        if limit is not None:
            command = ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", *command]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stderr=log, stdin=subprocess.DEVNULL)
        wait_until(lambda: is_mounted(point) or self.process.poll() is not None, "a mount")
        assert self.process.poll() is None, self.log.read_text()

    def __enter__(self) -> "Mounted":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if kind is not None:  # files may be open
            self.kill()
        self.end()

    def end(self, *, checks: bool = True) -> None:
        """Unmounts; what was written is closed on return."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                status = self.process.wait(LIMIT_S)
                assert not checks or status == 0, f"status {status}: {self.log.read_text()}"
            except subprocess.TimeoutExpired:
                where = self.where_it_waits()
                self.kill()
                pytest.fail(f"the mount did not end: {where}")
        self.take_away()

    def kill(self) -> None:
        """As the system does without memory; the mount stays, abandoned."""
        self.process.kill()
        self.process.wait()

    def where_it_waits(self) -> str:
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return "\n\n".join((task / "stack").read_text() for task in tasks)

    def take_away(self) -> None:
        with contextlib.suppress(OSError):
            while is_mounted(self.point):
                subprocess.run(["umount", "-l", str(self.point)], check=True)


@contextlib.contextmanager
def mounted(folder: Path, *options: str, limit: int | None = None) -> Iterator[tuple[Path, Path]]:
    """A backend and where it is mounted."""
    backend = folder / "backend"
    backend.mkdir(exist_ok=True)
    with Mounted(backend, folder / "mount", *options, limit=limit) as mount:
        yield backend, mount.point


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@contextlib.contextmanager
def fails_with(*numbers: int) -> Iterator[None]:
    with pytest.raises(OSError, match="Errno") as failed:
        yield
    assert failed.value.errno in numbers


def is_container(path: Path) -> bool:
    return (path / "halcyon-container").is_file()
