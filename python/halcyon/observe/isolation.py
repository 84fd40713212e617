"""Calls functions in a process of their own, so that a C library that gives up takes nobody with it."""

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from halcyon.errors import BY_CODE, HalcyonError


class LibraryError(Exception):
    """The child ended without an error of ours. `ended`: how, for people; `said`: the lines that it printed."""

    def __init__(self, ended: str, said: list[str]) -> None:
        super().__init__(ended)
        self.ended = ended
        self.said = said


def call_isolated(module: str, function: str, source: Path, target: Path, limit_s: float | None = None) -> None:
    """Calls `function(source, target)` of `module` in a child process. Its errors are raised here.

    LibraryError: the child died of a signal or of an error that is none of ours. TimeoutError: it took longer than
    `limit_s` seconds.
    """
    command = [sys.executable, "-W", "ignore", "-m", __name__, module, function, str(source.absolute()), str(target)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        child = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired as why:
        raise TimeoutError from why
    if child.returncode == 0:
        return
    said = child.stderr.decode("utf-8", "replace").strip().splitlines()
    if child.returncode < 0:
        raise LibraryError(f"died of {signal.Signals(-child.returncode).name}", said)
    try:
        error = json.loads(child.stdout)
        raised = BY_CODE[error["code"]](error["message"])
    except (ValueError, KeyError, TypeError) as why:
        raise LibraryError("gave up", said) from why
    raise raised


def _main(module: str, function: str, source: Path, target: Path) -> int:
    # Whatever libraries print to standard output must not mix with the report of an error.
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        getattr(import_module(module), function)(source, target)
    except HalcyonError as error:
        with report:
            json.dump({"code": error.code, "message": str(error)}, report)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])))
