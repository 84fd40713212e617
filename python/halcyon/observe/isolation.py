"""Calls functions in a process of their own, so that a C library that gives up takes nobody with it."""

import errno
import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from halcyon.errors import BY_CODE, HalcyonError, HalcyonSystemError


class LibraryError(Exception):
    """The child ended without an error of ours. `ended`: how, for people; `said`: the lines that it printed."""

    def __init__(self, ended: str, said: list[str]) -> None:
        super().__init__(ended)
        self.ended = ended
        self.said = said


def call_isolated(module: str, function: str, source: Path, target: Path, limit_s: float | None = None) -> None:
    """Calls `function(source, target)` of `module` in a child process. Its errors are raised here.

    LibraryError: the child died of a signal or of an error that is none of ours. HalcyonSystemError: it was killed, or
    the system refused something. TimeoutError: it took longer than `limit_s` seconds.
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
    if child.returncode == -signal.SIGKILL:
        raise HalcyonSystemError(f"{source}: the process that worked on it was killed: too little memory?")
    if child.returncode < 0:
        raise LibraryError(how_it_ended(child.returncode), said)
    try:
        error = json.loads(child.stdout)
        raised = BY_CODE[error["code"]](error["message"])
    except (ValueError, KeyError, TypeError) as why:
        raise LibraryError("gave up", said) from why
    raise raised


def how_it_ended(status: int) -> str:
    """`died of SIGSEGV`, `ended with status 9`; `status` as subprocess has it."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"died of {signal.Signals(-status).name}"
    except ValueError:  # of real time
        return f"died of signal {-status}"


def _ours(why: Exception, path: Path) -> HalcyonError | None:
    """An error of ours, or what the system refused on the way, such as room in a temporary folder."""
    if isinstance(why, HalcyonError):
        return why
    if isinstance(why, OSError) and why.errno not in (None, errno.ENOMEM):  # damaged lengths ask for any memory
        return HalcyonSystemError.of(why, why.filename or path)
    return None


def _main(module: str, function: str, source: Path, target: Path) -> int:
    # Whatever libraries print to standard output must not mix with the report of an error.
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        getattr(import_module(module), function)(source, target)
    except Exception as why:
        error = _ours(why, source)
        if error is None:  # whatever a library makes of a damaged file
            raise
        with report:
            json.dump({"code": error.code, "message": str(error)}, report)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])))
