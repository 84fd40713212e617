"""What the commands of `halcyon log` have in common."""

import argparse
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from halcyon.logfs.tools import Progress


def add_path(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=Path, help="the container")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print everything for machines, in SI units")


def print_json(path: Path, results: object) -> None:
    """The results' fields beside the container's path."""
    from halcyon.printed.plain import as_json, plain

    sys.stdout.write(as_json({"container": str(path)} | plain(results)))


@contextmanager
def ended_by_ctrl_c() -> Iterator[None]:
    """For calls that look at no signals: Ctrl-C ends the process at once, and leaves a container that is as sound."""
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_default or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def shown_progress(what: str, *, is_shown: bool = True) -> "Iterator[Progress]":
    """A bar on the terminal, where standard error is one."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Bar(*columns, console=console, transient=True, disable=not (is_shown and console.is_terminal)) as bar:
        task = bar.add_task(what, total=None)

        def told(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield told
