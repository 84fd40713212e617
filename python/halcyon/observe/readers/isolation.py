"""Runs a reader in a process of its own, so that a C library that a damaged file kills takes nobody with it."""

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from halcyon.errors import BY_CODE, ConfigError, HalcyonError

SECONDS = 60
SECONDS_PER_MIB = 10
"""Libraries that a damaged file sends in circles are stopped; whole files need a fraction of a second per MiB."""


def read_isolated(module: str, path: Path, directory: Path) -> None:
    """Calls `read(path, directory)` of `module` in a child process. Its errors are raised here.

    ConfigError also when the child dies or does not end: that is a file on which the library fails.
    """
    size = sum(each.stat().st_size for each in (path.rglob("*") if path.is_dir() else [path]) if each.is_file())
    command = [sys.executable, "-W", "ignore", "-m", __name__, module, str(path.absolute()), str(directory)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    limit = SECONDS + SECONDS_PER_MIB * (size >> 20)
    try:
        child = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired as why:
        raise ConfigError(f"{path}: not read within {limit} s: its reader goes in circles: damaged") from why
    if child.returncode == 0:
        return
    said = child.stderr.decode("utf-8", "replace").strip().splitlines()
    if child.returncode < 0:
        name = signal.Signals(-child.returncode).name
        raise ConfigError(f"{path}: its reader died of {name}: the file is damaged{_last(said)}")
    try:
        error = json.loads(child.stdout)
        raised = BY_CODE[error["code"]](error["message"])
    except (ValueError, KeyError, TypeError) as why:
        raise ConfigError(f"{path}: cannot be read{_last(said)}: damaged, or of an unknown version") from why
    raise raised


def _last(said: list[str]) -> str:
    return f" ({said[-1]})" if said else ""


def _main(module: str, path: Path, directory: Path) -> int:
    # Whatever libraries print to standard output must not mix with the report of an error.
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        import_module(module).read(path, directory)
    except HalcyonError as error:
        with report:
            json.dump({"code": error.code, "message": str(error)}, report)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
