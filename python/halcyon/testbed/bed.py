"""Raising a test bed, finding the one that stands, running commands on its hosts, and taking it down."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from halcyon.errors import HalcyonSystemError, UnavailableError, UsageError
from halcyon.testbed import gluster, mpi, place, slurm
from halcyon.testbed.plan import Host, Plan
from halcyon.testbed.requirements import NEEDS_ROOT, is_root, search_path, unavailable
from halcyon.whole_file import whole_file

DIRECTORY = Path("/run/halcyon-testbed")
"""Where a bed is recorded that was raised to stay, unless the environment names another place."""
DIRECTORY_VARIABLE = "HALCYON_TESTBED_DIRECTORY"
GONE_S = 10.0
"""That the kernel may take to end all processes of a bed."""
_LOOK_S = 0.01

OnStep = Callable[[str], None]


@dataclass(frozen=True)
class Daemon:
    """A daemon of the bed that ended."""

    name: str
    how: str


class Bed:
    """A test bed that stands."""

    def __init__(self, plan: Plan, holder: int) -> None:
        self.plan = plan
        self.holder = holder
        """Process id, as this machine counts; in the bed it is process 1."""

    @classmethod
    def standing(cls, directory: Path | None = None) -> Self:
        """The bed recorded in a directory (default: the place of this environment). UnavailableError: there is none, or
        this is not root."""
        _require_root()
        directory = directory or _place()
        record = _record(directory)
        if record is None or not _is_locked(directory):
            raise UnavailableError(f"no test bed stands; raise one: {_UP}")
        return cls(Plan.from_json(json.dumps(record["plan"])), record["holder"])

    def inside(self, path: Path) -> Path:
        """A path of the bed, from outside."""
        return Path(f"/proc/{self.holder}/root") / path.relative_to("/")

    def command(self, host: str, command: Sequence[str]) -> list[str]:
        """What runs `command` on a host, in the current folder, and ends it (SIGTERM) when it is itself ended. The
        bed's environment goes with `environment`."""
        at = self.plan.host(host)
        try:
            here = Path.cwd()
        except OSError as why:
            raise HalcyonSystemError.of(why, "the current folder") from why
        enter = [
            "nsenter", f"--target={self.holder}", "--mount", "--pid",
            f"--net={self.inside(place.NETNS / host)}", f"--uts={self.inside(place.UTS / host)}",
            f"--wdns={here}", "--", "setpriv", "--pdeathsig", "TERM", "--",
        ]  # fmt: skip
        return [*enter, *at.in_front, *command]

    def environment(self, host: str, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """For commands on a host: MPI's launchers, Slurm, and the host's mounts, separated by colons."""
        own = {**mpi.environment(), **(slurm.environment() if self.plan.slurm else {})}
        mounts = self.mounts_of(host)
        if mounts:
            own |= {"TESTBED_MOUNT": str(mounts[0]), "TESTBED_MOUNTS": ":".join(map(str, mounts))}
        return {**(os.environ if base is None else base), **own}

    def popen(self, host: str, command: Sequence[str], **options: Any) -> "subprocess.Popen[str]":
        """Starts a command on a host; `options` as for subprocess.Popen, in text mode."""
        environment = self.environment(host, options.pop("env", None))
        return subprocess.Popen(self.command(host, command), env=environment, text=True, **options)

    def run(self, host: str, command: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[str]":
        """Runs a command on a host; `options` as for subprocess.run, in text mode."""
        environment = self.environment(host, options.pop("env", None))
        return subprocess.run(self.command(host, command), env=environment, text=True, **options)

    def mounts_of(self, host: str) -> list[Path]:
        """Of the file system, on a compute host; paths of the bed."""
        at = self.plan.host(host)
        if at not in self.plan.compute_hosts:
            return []
        return [place.mount_point(host, i) for i in range(self.plan.mounts_of(at))]

    def mounts(self) -> list[tuple[Host, Path]]:
        """All of them, host by host in turn."""
        each = [[(host, path) for path in self.mounts_of(host.name)] for host in self.plan.compute_hosts]
        return [one[i] for i in range(max(map(len, each), default=0)) for one in each if i < len(one)]

    def place(self, file: str, server: str) -> None:
        """Creates an empty file, a path in the file system, on this storage host; its folders are made. UsageError: the
        name leads out of the file system, or the file exists."""
        path = Path(file)
        if path.is_absolute() or ".." in path.parts or not path.name:
            raise UsageError(f"--place {file}: expected a path in the test bed's file system, such as data/large.0")
        if self.plan.host(server) not in self.plan.storage_hosts:
            raise UsageError(f"--place {file}: '{server}' is no storage host")
        root = self.inside(self.mounts()[0][1])
        try:
            (root / path.parent).mkdir(parents=True, exist_ok=True)
            if (root / path).exists():
                raise UsageError(f"--place {file}: exists already")
            at = gluster.name_on(root / path, server, self.plan)
            os.close(os.open(at, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        except OSError as why:
            raise HalcyonSystemError.of(why, file) from why

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Nobody else measures on this bed meanwhile. UsageError: somebody does; HalcyonSystemError: a daemon of the
        bed has ended."""
        if ended := self.ended_daemons():
            said = ", ".join(f"{daemon.name} has ended: {daemon.how}" for daemon in ended)
            raise HalcyonSystemError(f"the test bed is not whole: {said}; raise it anew: {_DOWN}; {_UP}")
        lock = os.open(self.inside(place.MEASURING), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise UsageError("another measurement runs on this test bed; wait for its end") from None
        finally:
            os.close(lock)

    def ended_daemons(self) -> list[Daemon]:
        """Bricks, mounts and daemons of Slurm that have ended: none, in a bed in order."""
        lines = self.inside(place.ENDED).read_text().splitlines()
        return [Daemon(*line.split("\t", 1)) for line in lines]


_UP = "halcyon testbed up"
_DOWN = "halcyon testbed down"


@contextmanager
def raised(plan: Plan, on_step: OnStep | None = None) -> Iterator[Bed]:
    """A bed that ends with the block, and with this process, however that ends. UnavailableError: this machine can
    have none; HalcyonSystemError: a step failed."""
    with _built(plan, [], on_step) as (bed, launcher):
        try:
            yield bed
        finally:
            _end(bed.holder, launcher)


def raise_to_stay(plan: Plan, directory: Path | None = None, on_step: OnStep | None = None) -> Bed:
    """A bed that outlives this process, recorded in `directory`. UsageError: one stands there; UnavailableError: this
    machine can have none; HalcyonSystemError: a step failed, and nothing is left of the bed."""
    _require_possible(plan)
    directory = directory or _place()
    with _locked(directory) as lock:
        with _built(plan, [lock], on_step) as (bed, launcher):
            assert launcher.stdin is not None
            with whole_file(directory / "bed.json") as hidden:
                record = {"holder": bed.holder, "raised": time.time(), "plan": json.loads(plan.to_json())}
                hidden.write_text(json.dumps(record) + "\n")
            if on_step is not None:
                on_step("record")
            assert launcher.stdout is not None
            _say(launcher.stdin, "keep")
            if launcher.stdout.readline() != "kept\n":
                raise _ended_early(launcher)
        return bed


def take_down(directory: Path | None = None) -> bool:
    """Ends the bed recorded in `directory`; False: none stood. Also what a killed `up` may have left. UnavailableError:
    this is not root."""
    _require_root()
    directory = directory or _place()
    stood = _is_locked(directory)
    limit = time.monotonic() + GONE_S
    while _is_locked(directory):
        record = _record(directory)
        if record is not None:
            with suppress(ProcessLookupError):
                os.kill(record["holder"], signal.SIGKILL)
        if time.monotonic() > limit:
            raise HalcyonSystemError(
                f"the test bed of {directory} does not end: {_UP} (process {_raised_by(directory)}) is raising it, or "
                "stands still; end that process"
            )
        time.sleep(_LOOK_S)
    with suppress(FileNotFoundError):
        (directory / "bed.json").unlink()
    return stood


def _require_possible(plan: Plan) -> None:
    if reason := unavailable(plan):
        raise UnavailableError(reason)


def _require_root() -> None:
    if not is_root():
        raise UnavailableError(NEEDS_ROOT)


def _place() -> Path:
    return Path(os.environ.get(DIRECTORY_VARIABLE) or DIRECTORY)


@contextmanager
def _built(plan: Plan, keep: Sequence[int], on_step: OnStep | None) -> Iterator[tuple[Bed, "subprocess.Popen[str]"]]:
    """The bed, and the process that made its namespaces and waits for their end."""
    _require_possible(plan)
    own = ["unshare", "--mount", "--propagation", "slave", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    launcher = subprocess.Popen(
        [*own, sys.executable, "-m", "halcyon.testbed.holder"], text=True, pass_fds=keep, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/",
        env=os.environ | {"PATH": search_path()},
    )  # fmt: skip
    assert launcher.stdin is not None
    assert launcher.stdout is not None
    assert launcher.stderr is not None
    with launcher.stdin, launcher.stdout, launcher.stderr:
        try:
            _say(launcher.stdin, plan.to_json())
            for line in launcher.stdout:
                word, _, rest = line.rstrip("\n").partition(" ")
                if word == "ready":
                    break
                if word == "failed":
                    raise HalcyonSystemError(f"the test bed cannot be raised: {rest}")
                if on_step is not None:
                    on_step(rest)
                _say(launcher.stdin, "")
            else:
                raise _ended_early(launcher)
            bed = Bed(plan, _child_of(launcher.pid))
        except BaseException:
            launcher.kill()
            launcher.wait()
            raise
        yield bed, launcher


def _say(stream: IO[str], line: str) -> None:
    with suppress(BrokenPipeError):
        stream.write(line + "\n")
        stream.flush()


def _ended_early(launcher: "subprocess.Popen[str]") -> HalcyonSystemError:
    assert launcher.stderr is not None
    launcher.kill()
    said = " ".join(launcher.stderr.read().split())
    return HalcyonSystemError(f"the test bed cannot be raised: its process ended{said and f': {said}'}")


def _child_of(process: int) -> int:
    return int(Path(f"/proc/{process}/task/{process}/children").read_text())


def _end(holder: int, launcher: "subprocess.Popen[str]") -> None:
    """The launcher waits for the holder, whose end is that of all processes of the bed."""
    with suppress(ProcessLookupError):
        os.kill(holder, signal.SIGKILL)
    launcher.wait(GONE_S)


@contextmanager
def _locked(directory: Path) -> Iterator[int]:
    """The lock of a directory, which lives as long as a process holds it: this one, then the bed's."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as why:
        raise HalcyonSystemError.of(why, directory) from why
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"a test bed stands already; end it first: {_DOWN}") from None
        with suppress(FileNotFoundError):
            (directory / "bed.json").unlink()
        with suppress(OSError):  # for messages alone
            os.truncate(lock, 0)
            os.write(lock, f"{os.getpid()}\n".encode())
        yield lock
    finally:
        os.close(lock)


def _raised_by(directory: Path) -> str:
    """The process that took the lock, for messages."""
    with suppress(OSError):
        return (directory / "lock").read_text().strip() or "not known"
    return "not known"


def _is_locked(directory: Path) -> bool:
    try:
        lock = os.open(directory / "lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as why:
        raise HalcyonSystemError.of(why, directory / "lock") from why
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _record(directory: Path) -> dict[str, Any] | None:
    try:
        return dict(json.loads((directory / "bed.json").read_text()))
    except FileNotFoundError:
        return None
    except OSError as why:
        raise HalcyonSystemError.of(why, directory / "bed.json") from why
