"""A coordinator of our own, for runs under one policy."""

import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from halcyon.coordinate.address import Address
from halcyon.coordinate.configuration import find_program
from halcyon.coordinate.connection import Connection
from halcyon.errors import HalcyonSystemError, UnavailableError, UsageError
from halcyon.policy.functions import metric_names, rule_names

UNCOORDINATED = "none"
_UP_WITHIN_S = 20.0


def policies() -> tuple[str, ...]:
    """All that runs may have, uncoordinated first. UnavailableError: this installation lacks its compiled module."""
    return (UNCOORDINATED, *rule_names())


def known_policy(name: str) -> str:
    """UsageError: there is no such policy."""
    return _known("--policy", name, policies())


def known_metric(name: str) -> str:
    """UsageError: there is no such metric."""
    return _known("--metric", name, metric_names())


def _known(option: str, name: str, names: tuple[str, ...]) -> str:
    if name not in names:
        raise UsageError(f"{option} {name}: not known; known: {', '.join(names)}")
    return name


@contextmanager
def coordinator(
    policy: str, path: str, folder: Path, *, accounts: Sequence[str] = (), metric: str | None = None,
    bandwidth: int | None = None,
) -> Iterator[str]:  # fmt: skip
    """Runs a coordinator of `path`, with its socket and its log in `folder`; gives `PATH=ADDRESS`. `accounts`: names of
    which each counts alike; applications of other names, or of none, count together, since they are of one user.
    `bandwidth`: of the file system, in bytes/s. None: the coordinator's defaults. HalcyonSystemError: it does not come
    up; the message quotes its log."""
    address = Address(str(folder / "socket"))
    # There was none before it: it need not wait for those that come back.
    settings: dict[str, object] = {
        "paths": [path], "address": str(address), "policy": policy, "times": "{relearn: 0 s}",
    }  # fmt: skip
    settings |= {key: value for key, value in (("metric", metric), ("bandwidth", bandwidth)) if value is not None}
    if accounts:
        settings["accounts"] = json.dumps(dict.fromkeys(accounts, 1))
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
