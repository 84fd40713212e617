"""Runs Python scripts without their main part, each in a process of its own that is forked off when what most of them
import is there.

Reads lines of JSON: a Script; answers each with a line: the exit status, and what it said.
"""

import json
import os
import runpy
import signal
import sys
import traceback
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module

SECONDS = 120
"""Of a script: then it is ended."""
OF_MOST = ("numpy", "scipy", "matplotlib", "ibis", "pyarrow.parquet", "h5py", "xarray", "halcyon.observe.dataset")


@dataclass(frozen=True)
class Script:
    path: str
    folder: str
    """In which it runs."""
    found_in: list[str]
    """Where it finds modules beside those of this process."""
    environment: dict[str, str]


def run(script: Script) -> tuple[int, str]:
    """The exit status, and what it said."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        os.close(reader)
        os.close(writer)
        os._exit(_run_here(script))
    os.close(writer)
    with os.fdopen(reader, errors="replace") as said:
        text = said.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text


def _run_here(script: Script) -> int:
    signal.alarm(SECONDS)
    os.chdir(script.folder)
    os.environ.update(script.environment)
    sys.path[:0] = script.found_in
    sys.argv = [script.path]
    try:
        runpy.run_path(script.path, run_name="dry")
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        return 1
    sys.stdout.flush()
    return 0


def main() -> None:
    for name in OF_MOST:
        with suppress(ImportError):  # who needs it says so
            import_module(name)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        print(json.dumps(run(Script(**json.loads(line)))), file=answers, flush=True)


if __name__ == "__main__":
    sys.path.pop(0)  # this folder
    main()
