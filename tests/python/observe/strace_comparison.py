"""Compares, file by file, what a recording tells of a program with what strace saw of the same run."""

import os
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from recorded_program import Run
from strace_log import FileCall, file_calls, run_under_strace

from halcyon.layers.preload import variables
from halcyon.observe.recording.folder import Recording, new_folder

# --- what a recording cannot tell, and how the kernel's view of it is left out (docs/not-seen.md has the reasons) ---

NOT_A_SYSTEM_CALL = {
    "fdopen", "fdopendir", "readdir", "fflush", "exit", "aio_suspend", "rewind", "setvbuf", "msync", "mremap",
    "munmap",
}  # fmt: skip
"""Recorded functions that make no system call of their kind of their own, or one that names no file (those of mapped
memory)."""
STDIO_INSIDE = {"seek", "stat", "control", "read", "write", "copy", "sync", "directory"}
"""Kinds of which stdio makes calls inside the C library: of files with a stream their number is not compared.
Reads and writes are compared by bytes all the same."""
STREAM_WITHIN = {"dprintf"}
"""Functions of POSIX that make a stream for each call."""
DIRECTORY_INSIDE = {"stat", "directory", "control", "seek"}
"""The same of directories that are listed: opendir asks for the block size, readdir gets many entries at once."""
OPENED_INSIDE = {"opendir": "open", "closedir": "close"}
"""Recorded as kind `directory`; the kernel sees the opening and the closing of a file."""
LIBRARIES = {"hdf5", "mpiio"}
"""Levels whose calls make no system calls of their own: what they do to a file is recorded again below them."""
AIO = {"aio_read", "aio_write", "aio_return", "lio_listio", "aio_fsync"}
"""The C library's threads make these calls; only their bytes are compared."""
EMULATED_FCHMODAT = {"open": 1, "close": 1, "stat": 1, "namespace": -1}
"""fchmodat that does not follow links: the C library opens the file and changes it through /proc."""
INSIDE_REALPATH = "readlink"
"""realpath asks about each part of a path."""
INSIDE_MAPPED_STREAM = "mmap"
"""fopen's mode m."""
INSIDE_STATIC_PROGRAM = ("fstat", "fstatfs")
"""The recorder's questions about files that are opened, which strace cannot tell from the program's there."""


@dataclass
class Sum:
    calls: int = 0
    moved: int = 0
    names: Counter[str] = field(default_factory=Counter)


def sums_of_kernel(calls: list[FileCall]) -> dict[tuple[str, str], Sum]:
    sums: dict[tuple[str, str], Sum] = defaultdict(Sum)
    for call in calls:
        at = sums[call.path, call.kind]
        at.calls += 1
        at.moved += call.moved
        at.names[call.name] += 1
    return sums


@dataclass
class Recorded:
    sums: dict[tuple[str, str], Sum]
    streams: set[str]
    """Files that stdio touched."""
    listed: set[str]
    """Directories that were listed."""
    unsteady: set[str]
    """Files of asynchronous calls."""


def sums_of_recording(run: Run, directory: Path) -> Recorded:
    found = Recorded(defaultdict(Sum), set(), set(), set())
    for row in run.calls:
        path = os.path.normpath(row["path"])
        if path != str(directory) and not path.startswith(str(directory) + "/"):
            continue
        name, kind = row["call"], row["kind"]
        if row["level"] in LIBRARIES:
            continue
        if row["level"] == "stdio" or name in STREAM_WITHIN:
            found.streams.add(path)
        if kind == "directory":
            found.listed.add(path)
        if name in AIO:
            found.unsteady.add(path)
        if name in NOT_A_SYSTEM_CALL or (row["level"] == "stdio" and kind not in ("open", "close")):
            continue
        at = found.sums[path, OPENED_INSIDE.get(name, kind)]
        at.calls += 1
        at.moved += row["moved"] or 0
        at.names[name] += 1
    return found


def differences(kernel: dict[tuple[str, str], Sum], recorded: Recorded, inside: Collection[str] = ()) -> list[str]:
    found = []
    for path, kind in sorted(kernel.keys() | recorded.sums.keys()):
        seen, told = kernel.get((path, kind), Sum()), recorded.sums.get((path, kind), Sum())
        seen.calls -= sum(seen.names[name] for name in inside)
        derived = (
            (path in recorded.streams and kind in STDIO_INSIDE)
            or (path in recorded.listed and kind in DIRECTORY_INSIDE)
            or (path in recorded.unsteady)
        )
        told_fchmodat = recorded.sums.get((path, "namespace"), Sum()).names["fchmodat"]
        emulated = told_fchmodat - kernel.get((path, "namespace"), Sum()).names["fchmodat"]
        if emulated > 0 and kind in EMULATED_FCHMODAT:
            told.calls += EMULATED_FCHMODAT[kind] * emulated
        if kind == "control":
            seen.calls = told.calls = seen.names["fadvise64"] - told.names["posix_fadvise"]
            told.calls = 0
        if (not derived and seen.calls != told.calls) or seen.moved != told.moved:
            found.append(
                f"{path} {kind}: kernel {seen.calls} calls {seen.moved} bytes {dict(seen.names)}, "
                f"recorded {told.calls} calls {told.moved} bytes {dict(told.names)}"
            )
    return found


@dataclass
class Comparison:
    """Runs a command in a fresh directory under strace, recorded."""

    place: Path
    run: Run = field(default_factory=lambda: Run(Path(), 0, b"", ""))
    """The latest run, with what was recorded of it."""

    @property
    def directory(self) -> Path:
        """Where the command runs, and whose files are compared."""
        return self.place / "work"

    def __call__(self, *command: str | Path, expected_code: int = 0, inside: Collection[str] = ()) -> list[str]:
        """What differs. `inside`: system calls that the C library makes in itself, not to be counted."""
        words = [str(word) for word in command]
        folder = new_folder(self.place / "run", words)
        Recording.of(words, ["trace"], 0.0).write(folder)
        log = self.place / "log"
        code = run_under_strace(words, self.directory, log, variables(["trace"], folder / "trace", None))
        assert code == expected_code
        kernel = sums_of_kernel(file_calls(log, self.directory))
        assert kernel, "the command did nothing that could be compared"
        self.run = Run(folder, code, b"", "")
        return differences(kernel, sums_of_recording(self.run, self.directory), inside)
