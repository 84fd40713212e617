"""Runs a simulation beside a server world: the servers of all its nodes, started as one MPI job."""

import os
import secrets
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType

from halcyon.errors import HalcyonSystemError, UnavailableError
from halcyon.exit_status import Ended
from halcyon.mpi_launcher import Launcher, is_launcher, launcher_of
from halcyon.offload.server_programs import find_server, find_world_server

START_LIMIT_S = 120.0
_READY = b" listen\n"
# What server programs read; the simulation's own variables are its launcher's business.
_OWN_VARIABLES = ("HALCYON_SESSION", "HALCYON_SERVER", "HALCYON_MODULE_PATH")


def run_alone(command: Sequence[str], variables: Mapping[str, str] | None = None) -> Ended:
    """Runs the command with what Halcyon needs in its environment; servers are started by halcyon_open.

    `variables` are for the command's processes; a launcher passes them on and does not have them itself.
    """
    environment = simulation_environment()
    if variables and is_launcher(command[0]):
        command = launcher_of(command).setting(command, variables)
    elif variables:
        environment |= variables
    return _run(command, environment)


def run_beside_world(command: Sequence[str], patience_s: float, variables: Mapping[str, str] | None = None) -> Ended:
    """Starts the servers, runs the command, lets the servers end; how the command ended.

    The servers end by themselves when their clients are gone and all is stored. `patience_s` after the command they
    are ended.
    """
    launcher = launcher_of(command)
    environment = simulation_environment() | {"HALCYON_SESSION": secrets.token_hex(16)}
    passed_on = [name for name in _OWN_VARIABLES if name in environment]
    world = ServerWorld(launcher, environment, passed_on)
    try:
        world.wait_until_listening(START_LIMIT_S)
        ended = _run(launcher.passing_on(launcher.setting(command, variables or {}), passed_on), environment)
        world.end(patience_s)
    finally:
        world.kill()
    return ended


class ServerWorld:
    """The MPI job of the servers, in a process group of its own: a terminal's interrupt is not meant for it.

    Its standard input is a pipe held here. When that ends, however this process does, servers without clients end.
    """

    def __init__(self, launcher: Launcher, environment: Mapping[str, str], passed_on: Sequence[str]) -> None:
        program = find_world_server(launcher.family)
        self._process = _start(
            launcher.one_process_per_node(program, passed_on), environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def wait_until_listening(self, limit_s: float) -> None:
        """Returns when all servers listen. UnavailableError: they ended, or did not come up in time."""
        assert self._process.stdout is not None
        said = b""
        end = time.monotonic() + limit_s
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while not said.endswith(_READY):
                if not selector.select(max(0.0, end - time.monotonic())):
                    message = f"the server world did not come up within {limit_s:.0f} s; it said: {said!r}"
                    raise UnavailableError(message)
                # One byte at a time: what follows the line is not held back here.
                if not (more := os.read(self._process.stdout.fileno(), 1)):
                    code = self._process.wait()
                    raise UnavailableError(f"the server world ended with exit code {code} before it listened")
                said += more

    def end(self, patience_s: float) -> None:
        """Tells the servers that no more clients come, and waits until they have stored what they have."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        end = time.monotonic() + patience_s
        told = False
        while self._process.poll() is None:
            if time.monotonic() > end:
                print(f"halcyon: the servers are not done after {patience_s:.0f} s and are ended", file=sys.stderr)
                return
            if not told and time.monotonic() > end - patience_s + 5:
                told = True
                print("halcyon: waiting for the servers to store what they hold", file=sys.stderr)
            time.sleep(0.01)
        if self._process.returncode != 0:
            print(f"halcyon: the server world ended with exit code {self._process.returncode}", file=sys.stderr)

    def kill(self) -> None:
        """Ends what is left of it."""
        for how, patience_s in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)):
            if self._process.poll() is not None:
                break
            self._process.send_signal(how)
            try:
                self._process.wait(patience_s)
            except subprocess.TimeoutExpired:
                continue
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


def simulation_environment() -> dict[str, str]:
    """Of a command: this one, and where the server is that halcyon_open starts."""
    environment = dict(os.environ)
    environment.pop("HALCYON_SESSION", None)
    if "HALCYON_SERVER" not in environment and (server := find_server()):
        environment["HALCYON_SERVER"] = str(server)
    return environment


def _run(command: Sequence[str], environment: Mapping[str, str]) -> Ended:
    process = _start(command, environment)
    with _leaving_signals_to(process):
        return Ended.of(process.wait())


@contextmanager
def _leaving_signals_to(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """A terminal's interrupt reaches the command by itself, SIGTERM is passed on; this process waits for its end."""

    def pass_on(number: int, _: FrameType | None) -> None:
        process.send_signal(number)

    before = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, pass_on)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _start(command: Sequence[str], environment: Mapping[str, str], **how: object) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(command, env=environment, **how)  # type: ignore[call-overload, no-any-return]
    except OSError as why:
        raise HalcyonSystemError.of(why, command[0]) from why
