"""Waits until containers are what their users need: whole on the shared disk, or plain files."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from halcyon.errors import HalcyonError, UnavailableError, UsageError
from halcyon.layers.logs import clear, is_container, logged_below
from halcyon.logfs import tools
from halcyon.logfs.pace import Pace
from halcyon.logfs.tools import Progress

_LOOK_EVERY_S = 0.5
_NODATA = 61
"""errno of a read whose data lie on another node."""


@dataclass
class DrainReport:
    """What was done, and what is left."""

    containers: int = 0
    brought_bytes: int = 0
    flattened: int = 0
    left: dict[str, str] = field(default_factory=dict)
    """Containers that are not done yet, each with the reason."""
    conflicts: dict[str, int] = field(default_factory=dict)
    """Containers of which plain files were made, with the bytes that writers wrote at times that do not say which was
    last."""


def drain(
    path: Path,
    *,
    flatten: bool = False,
    wait_s: float | None = None,
    progress: Progress | None = None,
    pace: Pace | None = None,
    on_wait: Callable[[dict[str, str]], object] = lambda left: None,
) -> DrainReport:
    """Brings what lies on this node into the containers at or below `path`, and waits for other nodes to do the same.
    Containers below it that were removed, and that no process has open any more, go.

    `flatten`: makes plain files of the containers then. `wait_s`: at most; None: as long as it takes. `pace`: how fast,
    and in whose turn; None: at once. `on_wait` is called with what is left, each time that this has changed.

    Raises:
        UsageError: there is no such container or directory.
    """
    if not path.is_dir():
        raise UsageError(f"{path}: neither a log container nor a directory")
    path = path.absolute()  # which turn it is, depends on where a container is
    report = DrainReport()
    seen: set[Path] = set()
    end = None if wait_s is None else time.monotonic() + wait_s
    told: dict[str, str] | None = None
    while True:
        begin = time.monotonic()
        report.left = {}
        waits = False
        for container in [path] if is_container(path) else _all_below(path):
            seen.add(container)
            why, may_change = _one(container, report, flatten, progress, pace)
            if why:
                report.left[str(container)] = why
            waits |= bool(why) and may_change
        report.containers = len(seen)
        if not waits or (end is not None and time.monotonic() >= end):
            return report
        if report.left != told:
            told = dict(report.left)
            on_wait(told)
        # Where there are many containers, a look takes long.
        time.sleep(max(_LOOK_EVERY_S, time.monotonic() - begin))


def _all_below(folder: Path) -> list[Path]:
    """Its containers. What killed processes have removed and left there goes."""
    removed: list[str] = []
    found = sorted(Path(each.path) for each in logged_below(str(folder), removed))
    clear(removed)
    return found


def _one(
    container: Path, report: DrainReport, flatten: bool, progress: Progress | None, pace: Pace | None
) -> tuple[str, bool]:
    """Why it is not done yet; "": it is. And whether that may change without anybody's doing here."""
    try:
        done = tools.bring(container, progress=progress, pace=pace)
        report.brought_bytes += done.brought_bytes
        if done.left:
            return _whose(done), True
        if flatten:
            plain = tools.flatten(container, progress=progress, pace=pace)
            report.flattened += 1
            if plain.conflict_bytes:
                report.conflicts[str(container)] = plain.conflict_bytes
    except FileNotFoundError:
        return "", False  # it was removed, or an agent made a plain file of it
    except UnavailableError as why:
        return str(why), True
    except HalcyonError as why:
        if not container.is_dir():
            return "", False
        return str(why), getattr(why, "errno", None) == _NODATA
    return "", False


def _whose(done: tools.BringReport) -> str:
    own = sum(each.is_here for each in done.left)
    hosts = sorted({each.host for each in done.left if not each.is_here})
    parts = []
    if own:
        parts.append("1 process of this node still writes" if own == 1 else f"{own} processes of this node still write")
    if hosts:
        parts.append(f"data lie on {', '.join(hosts)}: an agent brings them, or 'halcyon log drain' there")
    return "; ".join(parts)
