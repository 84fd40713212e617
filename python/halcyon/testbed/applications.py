"""Applications of writers on a test bed: started at once, timed one by one."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from halcyon.errors import HalcyonSystemError
from halcyon.testbed.bed import Bed
from halcyon.testbed.links import Counted, count
from halcyon.testbed.plan import Host

LIMIT_S = 600.0
"""That a run may take."""


@dataclass(frozen=True)
class Application:
    """Writers of one file each, in calls that go to the servers at once. `at`: the mount of each writer; a file is put
    onto the servers in turn, the first one onto `first_server`."""

    name: str
    at: Sequence[tuple[Host, Path]]
    bytes_each: int
    call_bytes: int = 1 << 20
    first_server: int = 0

    @property
    def folder(self) -> str:
        """In the bed's file system; no name that a user's files would have."""
        return f".halcyon-testbed/{self.name}"

    def file(self, writer: int) -> str:
        """In the bed's file system."""
        return f"{self.folder}/{writer}"


@dataclass(frozen=True)
class Phase:
    """One write phase of an application: from its start until its last writer ended."""

    begin: Counted
    end: Counted

    @property
    def seconds(self) -> float:
        return self.end.time_s - self.begin.time_s


def run_together(bed: Bed, starts: Sequence[tuple[Application, float]]) -> list[Phase]:
    """Each application starts so many seconds after the first one does. Its files are made before and removed after.
    HalcyonSystemError: a writer failed."""
    with ExitStack() as stack:
        running = [stack.enter_context(_prepared(bed, application)) for application, _ in starts]
        pending = sorted(zip(starts, running, strict=True), key=lambda one: one[0][1])
        zero = time.monotonic()
        with selectors.DefaultSelector() as selector:
            for one in running:
                one.register(selector)
            while any(not one.has_ended for one in running):
                while pending and time.monotonic() >= zero + pending[0][0][1]:
                    pending.pop(0)[1].go(lambda: count(bed))
                wait_s = max(0.0, zero + pending[0][0][1] - time.monotonic()) if pending else LIMIT_S
                ready = selector.select(wait_s)
                if not ready and not pending:
                    raise HalcyonSystemError(f"the writers have not ended after {LIMIT_S:g} s")
                for key, _ in ready:
                    selector.unregister(key.fileobj)
                    key.data(lambda: count(bed))
        return [one.phase() for one in running]


@contextmanager
def computing(bed: Bed, processes: int) -> Iterator[None]:
    """Processes that compute all the time, on the compute hosts in turn: as ranks do that wait for others. They end
    with this process, too, however that ends: with it their input ends."""
    hosts = bed.plan.compute_hosts
    started = []
    try:
        for i in range(processes):
            host = hosts[i % len(hosts)].name
            command = ["sh", "-c", "while :; do :; done & echo ready; read end; kill $!"]
            pipe = subprocess.PIPE
            started.append(bed.popen(host, command, stdin=pipe, stdout=pipe, start_new_session=True))
        for process in started:
            _wait_ready(process, "computing")
        yield
    finally:
        for process in started:
            end_process(process)


class _Running:
    """Writers that have been started, and wait for `go`."""

    def __init__(self, bed: Bed, application: Application, writers: list["subprocess.Popen[str]"]) -> None:
        self._name = application.name
        self._writers = writers
        self._left = len(writers)
        self._begin: Counted | None = None
        self._end: Counted | None = None

    @property
    def has_ended(self) -> bool:
        return self._left == 0

    def register(self, selector: selectors.BaseSelector) -> None:
        for writer in self._writers:
            assert writer.stdout is not None
            selector.register(writer.stdout, selectors.EVENT_READ, lambda now, of=writer: self._ended(of, now))

    def go(self, now: Callable[[], Counted]) -> None:
        self._begin = now()
        for writer in self._writers:
            assert writer.stdin is not None
            writer.stdin.write("go\n")
            writer.stdin.flush()

    def _ended(self, writer: "subprocess.Popen[str]", now: Callable[[], Counted]) -> None:
        """A writer says nothing but what went wrong; then its output ends."""
        self._left -= 1
        if not self._left:
            self._end = now()
        assert writer.stdout is not None
        said = writer.stdout.read()
        if writer.wait() != 0:
            raise HalcyonSystemError(f"a writer of {self._name} failed: {' '.join(said.split())}")

    def phase(self) -> Phase:
        assert self._begin is not None
        assert self._end is not None
        return Phase(self._begin, self._end)


_WRITE = (
    'echo ready && read go && exec dd if=/dev/zero of="$0" bs="$1" count="$2" oflag=direct conv=notrunc status=none'
)


@contextmanager
def _prepared(bed: Bed, application: Application) -> Iterator[_Running]:
    servers = bed.plan.storage_hosts
    calls = -(-application.bytes_each // application.call_bytes)
    writers: list[subprocess.Popen[str]] = []
    files = [application.file(i) for i in range(len(application.at))]
    root = bed.inside(bed.mounts()[0][1])
    try:
        for i, ((host, mount), file) in enumerate(zip(application.at, files, strict=True)):
            (root / file).unlink(missing_ok=True)
            bed.place(file, servers[(application.first_server + i) % len(servers)].name)
            command = ["sh", "-c", _WRITE, str(mount / file), str(application.call_bytes), str(calls)]
            pipe = subprocess.PIPE
            writers.append(
                bed.popen(host.name, command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, start_new_session=True)
            )
        for writer in writers:
            _wait_ready(writer, f"a writer of {application.name}")
        yield _Running(bed, application, writers)
    finally:
        for writer in writers:
            end_process(writer)
        for file in files:
            (root / file).unlink(missing_ok=True)
        with suppress(OSError):
            (root / application.folder).rmdir()
            (root / application.folder).parent.rmdir()


def _wait_ready(process: "subprocess.Popen[str]", what: str) -> None:
    assert process.stdout is not None
    line = process.stdout.readline()
    if line != "ready\n":
        raise HalcyonSystemError(f"{what} did not start: {' '.join((line + process.stdout.read()).split())}")


def end_process(process: "subprocess.Popen[str]") -> None:
    """With its child in the bed: both are a process group."""

    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
