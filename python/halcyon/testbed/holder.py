"""The process that owns a test bed: process 1 of its PID namespace. With its end the kernel ends every process of the
bed, and with them go namespaces, mounts and whatever lay in its `/run`.

It reads a plan in one line, reports each step as a line (`step WHAT`, then `ready`, or `failed WHY`), and goes on to
the next step when a line comes back. The end of its input ends it at any moment, until a line `keep` came, and was
answered `kept`. It never asks a mount itself: a thread that waits for a server that hangs cannot be killed before the
mount is, and the mount not before this process.
"""

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from halcyon.testbed import gluster, mpi, network, place, slurm
from halcyon.testbed.plan import Host, Plan

_AS_ITS_OWN_MACHINE = ("nice", "-n", "-10")
"""Servers and mounts have processors of their own on a cluster: here, they go before what computes."""
READY_S = 30.0
"""That one daemon or mount may take."""
_LOOK_S = 0.005


class _StepError(Exception):
    """With the reason, in one line."""


class _Holder:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._daemons: dict[int, str] = {}

    def build(self) -> None:
        self._make_room()
        self._join_hosts()
        if self._plan.storage:
            self._serve()
            self._mount()
        if self._plan.slurm:
            self._start_slurm()
        self._require_all()

    def reap(self) -> None:
        """For ever: also the orphans of others."""
        while True:
            try:
                process, status = os.waitpid(-1, 0)
            except ChildProcessError:
                time.sleep(0.1)
                continue
            self._note_end(process, status)

    def _make_room(self) -> None:
        _run("mount", "-t", "tmpfs", "-o", "mode=755", "testbed", str(place.RUN))
        folders = [place.NETNS, place.UTS, place.LOGS, place.BRICKS, place.MOUNTS, place.TEMPORARY, place.SLURM]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        place.TEMPORARY.chmod(0o1777)
        for path, text in (
            (place.HOME / "hosts", network.names_file(self._plan)),
            (place.AGENT, mpi.agent(self._plan)),
            (place.OPEN_MPI_HOSTS, mpi.open_mpi_hosts(self._plan)),
            (place.MPICH_HOSTS, mpi.mpich_hosts(self._plan)),
            (place.ENDED, ""),
        ):
            path.write_text(text)
        place.AGENT.chmod(0o755)
        _run("mount", "--bind", str(place.HOME / "hosts"), "/etc/hosts")
        _done("namespaces")

    def _join_hosts(self) -> None:
        for host in self._plan.hosts:
            for namespace in (place.NETNS, place.UTS):
                (namespace / host.name).touch()
            _run(*network.make_host(host))
            _done(f"host {host.name}")
        _run("ip", "-batch", "-", text=network.join(self._plan))
        for host in self._plan.hosts:
            _run("ip", "-n", host.name, "-batch", "-", text=network.address(self._plan, host))
        _done("links")
        for name, lines in network.limit(self._plan):
            if lines:
                _run("tc", *(["-n", name] if name else []), "-batch", "-", text=lines)
        _done("limits of links")

    def _serve(self) -> None:
        started = []
        for host in self._plan.storage_hosts:
            folder = place.BRICKS / host.name
            folder.mkdir()
            _run("mount", "-t", "tmpfs", "-o", f"size={self._plan.brick_bytes}", f"brick-{host.name}", str(folder))
            gluster.brick_file(host).write_text(gluster.brick_volume(host))
            started.append((host, self._start(host, f"brick {host.name}", gluster.serve(host))))
            _done(f"brick of {host.name}")
        for host, process in started:
            self._wait(f"brick {host.name}", partial(_listens, process, gluster.PORT))
        _done("bricks that listen")

    def _mount(self) -> None:
        gluster.CLIENT_FILE.write_text(gluster.client_volume(self._plan))
        started = []
        for host in self._plan.compute_hosts:
            for i in range(self._plan.mounts_of(host)):
                point = place.mount_point(host.name, i)
                point.mkdir(parents=True)
                name = f"mount {host.name}/{i}"
                self._start(host, name, gluster.mount(host, i, self._plan))
                started.append((name, point))
                _done(name)
        for name, point in started:
            self._wait(name, partial(_is_mounted, point))
        answers = [_Answer(point) for _, point in started]
        for answer, (name, _) in zip(answers, started, strict=True):
            self._wait(name, answer)
        _done("mounts that answer")

    def _start_slurm(self) -> None:
        for folder in slurm.folders(self._plan):
            folder.mkdir()
        slurm.MUNGE_KEY.write_bytes(os.urandom(1024))
        slurm.MUNGE_KEY.chmod(0o600)
        place.SLURM_CONF.write_text(slurm.configuration(self._plan))
        (place.SLURM / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        first = self._plan.compute_hosts[0]
        self._start(None, "munged", slurm.munged())
        self._wait("munged", slurm.MUNGE_SOCKET.exists)
        _done("munged")
        environment = slurm.environment()
        self._start(first, "slurmctld", ["slurmctld", "-D"], environment)
        _done("slurmctld")
        for host in self._plan.compute_hosts:
            self._start(host, f"slurmd {host.name}", ["slurmd", "-D"], environment)
            _done(f"slurmd of {host.name}")
        self._wait("slurmctld", self._all_idle)
        _done("Slurm's hosts that are idle")

    def _all_idle(self) -> bool:
        command = [*place.on_host(self._plan.compute_hosts[0].name), *slurm.STATES]
        done = subprocess.run(command, env=os.environ | slurm.environment(), capture_output=True, text=True)
        return done.stdout.split() == ["idle"] * self._plan.compute

    def _start(self, host: Host | None, name: str, command: list[str], more: dict[str, str] | None = None) -> int:
        """A daemon, with its output in a file of its own."""
        in_front = [*_AS_ITS_OWN_MACHINE, *place.on_host(host.name), *host.in_front] if host else []
        with (place.LOGS / f"{name.replace('/', '-').replace(' ', '-')}.out").open("wb") as log:
            daemon = subprocess.Popen(
                [*in_front, *command], env=os.environ | (more or {}), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self._daemons[daemon.pid] = name
        _FOREVER.append(daemon)
        return daemon.pid

    def _wait(self, name: str, is_so: Callable[[], bool]) -> None:
        limit = time.monotonic() + READY_S
        while not is_so():
            self._require_all()
            if time.monotonic() > limit:
                raise _StepError(f"{name} is not ready after {READY_S:g} s: {_last_words()}")
            time.sleep(_LOOK_S)

    def _require_all(self) -> None:
        for process, name in self._daemons.items():
            if os.waitpid(process, os.WNOHANG)[0]:
                raise _StepError(f"{name} ended: {_last_words()}")

    def _note_end(self, process: int, status: int) -> None:
        name = self._daemons.pop(process, None)
        if name is not None:
            code = os.waitstatus_to_exitcode(status)
            how = f"signal {-code}" if code < 0 else f"exit status {code}"
            with place.ENDED.open("a") as ended:
                ended.write(f"{name}\t{how}\n")


_FOREVER: list["subprocess.Popen[bytes]"] = []
"""Python would ask for the end of a process whose object goes; `reap` does that."""


def _run(*command: str, text: str | None = None) -> None:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise _StepError(f"{' '.join(command)}: {' '.join(done.stderr.split()) or f'exit status {done.returncode}'}")


def _listens(process: int, port: int) -> bool:
    """In the network namespace of a process; False where that has ended."""
    try:
        rows = Path(f"/proc/{process}/net/tcp").read_text().splitlines()[1:]
    except OSError:
        return False
    return any(row.split()[3] == "0A" and row.split()[1].endswith(f":{port:04X}") for row in rows)


def _is_mounted(folder: Path) -> bool:
    return any(line.split()[1] == str(folder) for line in Path("/proc/self/mounts").read_text().splitlines())


class _Answer:
    """Whether a mount answers. Asked by a process of its own that lists its folder, and again where it could not: a
    mount may not have reached its servers yet."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._asking = self._ask()

    def __call__(self) -> bool:
        code = self._asking.poll()
        if code:
            self._asking = self._ask()
        return code == 0

    def _ask(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(["ls", str(self._folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _last_words() -> str:
    """Of all logs: lines of errors, the newest last."""
    logs = sorted([*place.LOGS.glob("*"), *place.SLURM.glob("*.log")], key=lambda path: path.stat().st_mtime)
    lines = [line for log in logs for line in log.read_text(errors="replace").splitlines()]
    errors = [line for line in lines if "] E [" in line or "error:" in line.lower()] or lines
    return " / ".join(errors[-3:]) or "its logs are empty"


_leaves: "queue.SimpleQueue[str]" = queue.SimpleQueue()
"""Lines of the input that allow the next step."""


def _done(step: str) -> None:
    """Reports a step, and waits for leave to go on."""
    print(f"step {step}", flush=True)
    _leaves.get()


def _stay_while_wanted() -> None:
    """Ends the bed at the end of the input; a line `keep` ends the watch instead."""
    for line in sys.stdin:
        if line == "keep\n":
            print("kept", flush=True)
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            return
        _leaves.put(line)
    os._exit(1)


def main() -> None:
    holder = _Holder(Plan.from_json(sys.stdin.readline()))
    threading.Thread(target=_stay_while_wanted, daemon=True).start()
    try:
        holder.build()
    except (_StepError, OSError) as why:
        print(f"failed {' '.join(str(why).split())}", flush=True)
        os._exit(1)
    print("ready", flush=True)
    holder.reap()


if __name__ == "__main__":
    main()
