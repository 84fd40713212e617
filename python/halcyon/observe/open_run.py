"""Opens what a user names: a recorded run, a data set, or another tool's trace."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from halcyon.errors import ConfigError, HalcyonSystemError
from halcyon.observe.dataset import Dataset
from halcyon.observe.engines import DUCKDB
from halcyon.observe.manifest import NAME, engines_can_name
from halcyon.observe.pack import pack
from halcyon.observe.readers import Format, format_of
from halcyon.observe.recording.folder import DATA, run_of
from halcyon.observe.recording.folder import NAME as RECORDING
from halcyon.observe.recording.lock import RunLock, held_lock


@contextmanager
def open_run(path: Path, engine: str = DUCKDB, *, keep: bool = True) -> Iterator[Dataset]:
    """The data set of `path`, which is packed first where it is not one.

    A recorded run keeps its data set in `path`/data, which is made again when a trace is newer; with `keep` false,
    nothing is written there. Another tool's trace, and a recorded run that may not be written to or whose path is not
    UTF-8, is packed into a temporary folder.
    UsageError: nothing there. ConfigError: damaged, or not recognized.
    """
    path = Path(path)
    with ExitStack() as stack:
        if is_dataset(path):
            directory = path
            if run_of(path) != path:
                stack.enter_context(held_lock(run_of(path))).to_read()
        elif format_of(path) == Format.HALCYON and keep and os.access(path, os.W_OK) and engines_can_name(path):
            directory = path / DATA
            _make_fresh(path, stack.enter_context(held_lock(path)))
        elif format_of(path) == Format.HALCYON and is_fresh(path):
            directory = path / DATA
            stack.enter_context(held_lock(path)).to_read()
        else:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="halcyon-run-"))) / DATA
            pack(path, directory)
        yield stack.enter_context(Dataset.open(directory, engine))


def _make_fresh(run: Path, lock: RunLock) -> None:
    """Packs the run where its data set is older than its traces; in the end `lock` keeps it from changing."""
    lock.to_read()
    if is_fresh(run):
        return
    lock.to_write()
    if not is_fresh(run):  # else another command was faster
        shutil.rmtree(run / DATA, ignore_errors=True)
        pack(run, run / DATA)
    lock.to_read()


def is_dataset(path: Path) -> bool:
    """Whether `path` is a data set: a folder with a manifest and tables."""
    return (path / NAME).is_file() and (path / "calls").is_dir()


def names_a_run(path: Path) -> bool:
    """Whether `path` is one run, in any form that open_run takes; else it may be a folder of many."""
    try:
        return is_dataset(path) or bool(format_of(path))
    except ConfigError:
        if not path.is_dir():
            raise
        return False


def is_fresh(run: Path) -> bool:
    """Whether the run's data set is as new as its traces and as what is known of its end."""
    if not is_dataset(run / DATA):
        return False
    packed = (run / DATA / NAME).stat().st_mtime
    traces = run / "trace"
    if not traces.is_dir():  # removed when they had been packed
        return True
    try:
        return all(source.lstat().st_mtime <= packed for source in (run / RECORDING, *traces.iterdir()))
    except OSError as why:
        raise HalcyonSystemError.of(why, traces) from why
