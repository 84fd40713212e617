"""Programs that use streams in all ways in which programs do, of C, C++, Fortran, Python and shells, and the scripts of
dash that run them: $1 is a directory, $2 the program. On a backend's files they say what they say on plain ones."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
STREAMS = HERE.parents[1] / "calls/streams"
PYTHON_STREAMS = HERE / "programs/streams.py"

CASES = [
    "appended", "buffers", "cancelled", "characters", "checked", "child_of_vfork", "commands", "conversions",
    "descriptors", "forked", "inherited", "mapped", "messages", "modes", "redirected", "reopened_beneath_threads",
    "reopening", "shared_by_threads", "threads_of_children", "written_by_processes",
]  # fmt: skip
CHECKS = ("-O2", "-D_FORTIFY_SOURCE=2")
"""For gcc: the program calls functions that check what they are given (__fread_chk)."""

ENDING = '"$2" "$1" ending >"$1/output"; echo "status $?"; cat "$1/output" "$1/never closed"'
ENDED = [
    "status 0", "never flushed either", "by a handler at exit", "by a destructor", "never flushed",
]  # fmt: skip
READING = 'seq 5000 >"$1/in"; "$2" "$1" reading <"$1/in"'
JOINED = 'exec 9>&1; exec "$2" "$1" joined 1<>"$1/joined" 2>&1'
"""By exec: else the shell has the file open, too."""
AS_DAEMON = '{ "$2" "$1" as_daemon WAY"$1/out" 2>&1; } 9>&1 | cat; cat "$1/out"'
CPP = 'exec >"$1/said"; "$2" "$1"; echo "status $?"; exec >&-; exec cat "$1/said" "$1/last" >&2'
FORTRAN = 'echo "one line" >"$1/in"; "$2" "$1" <"$1/in" >"$1/out" 2>&1; echo "status $?"; cat "$1/out"'
SHELL = 'exec bash "$2" "$1"'
PYTHON = '"$2" "$3" "$1" >"$1/out" 2>&1 <"$3"; echo "status $?"; cat "$1/out"'
FULL = '"$2" "$1/file"; wc -c <"$1/file"'
FULL_AT_EXIT = '"$2" "$1/file" print >"$1/file"; echo "status $?"; wc -c <"$1/file"'


def built_in(folder: Path) -> Callable[..., Path]:
    """Makes the program of a source in tests/calls/streams, once; skips the test where there is no such compiler."""
    programs: dict[tuple[str, ...], Path] = {}

    def build(source: str, *options: str, compiler: str = "gcc") -> Path:
        if shutil.which(compiler) is None:
            pytest.skip(f"there is no {compiler}")
        key = (source, *options)
        if key not in programs:
            place = folder / str(len(programs))
            place.mkdir()
            programs[key] = place / Path(source).stem
            words = [compiler, "-O1", "-w", "-pthread", STREAMS / source, "-o", programs[key], *options]
            subprocess.run(words, check=True)
        return programs[key]

    return build
