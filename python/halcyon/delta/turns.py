"""A coordinator of our own, for runs under one policy."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from halcyon.coordinate.address import Address
from halcyon.coordinate.configuration import find_program
from halcyon.coordinate.connection import Connection
from halcyon.errors import HalcyonSystemError, UnavailableError, UsageError

UNCOORDINATED = "none"
POLICIES = (
    UNCOORDINATED,
    "interfere",
    "fcfs",
    "interrupt",
    "delay",
    "fair-share",
    "set-10",
    "dynamic",
)
METRICS = ("sum-of-interference-factors", "sum-of-times", "cpu-hours", "energy")
_UP_WITHIN_S = 20.0


def known_policy(name: str) -> str:
    """UsageError: there is no such policy."""
    if name not in POLICIES:
        raise UsageError(f"--policy {name}: not known; expected some of {', '.join(POLICIES)}")
    return name


@contextmanager
def coordinator(policy: str, metric: str | None, path: str, folder: Path) -> Iterator[str]:
    """Runs a coordinator of `path`, with its socket and its log in `folder`; gives `PATH=ADDRESS`. HalcyonSystemError:
    it does not come up; the message quotes its log."""
    address = Address(str(folder / "socket"))
    settings = {"paths": [path], "address": str(address), "policy": policy} | ({"metric": metric} if metric else {})
    lines = "".join(f"    {key}: {value}\n" for key, value in settings.items())
    config = folder / "coordinators.yaml"
    config.write_text(f"halcyon: 1\ncoordinators:\n  delta:\n{lines}", encoding="utf-8")
    log = folder / "coordinator.log"
    with log.open("wb") as said:
        # Nobody else would end it if this process is killed.
        command = [str(find_program()), "--config", str(config), "--end-with", str(os.getpid())]
        process = subprocess.Popen(command, stderr=said, stdin=subprocess.DEVNULL)
    try:
        _wait_until_it_listens(process, address, log)
        yield f"{path}={address}"
        if process.poll() is not None:
            raise HalcyonSystemError(f"the coordinator ended while the commands ran: {_last_words(log)}")
    finally:
        process.kill()
        process.wait()


def _wait_until_it_listens(process: "subprocess.Popen[bytes]", address: Address, log: Path) -> None:
    limit = time.monotonic() + _UP_WITHIN_S
    while True:
        try:
            Connection(address).close()
        except UnavailableError as why:
            if process.poll() is not None or time.monotonic() > limit:
                raise HalcyonSystemError(f"the coordinator does not come up: {_last_words(log)}") from why
            time.sleep(0.01)
        else:
            return


def _last_words(log: Path) -> str:
    return " ".join(log.read_text(encoding="utf-8", errors="replace").split())[-500:] or "it said nothing"
