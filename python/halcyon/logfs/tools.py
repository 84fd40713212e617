"""What is done with whole containers: the functions behind `halcyon log`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from halcyon.compiled import load_compiled
from halcyon.logfs.raw_file import LogPath

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from halcyon.logfs.pace import Pace

Weight = Literal["note", "loss", "damage"]
"""Nothing is wrong; as a crash leaves it, nothing that was synced is missing; reads fail, or would give wrong bytes."""
Progress = Callable[[int, int], object]
"""Is told how many bytes of the file are done, of how many. Whatever it raises ends the call, and leaves nothing."""


@dataclass(frozen=True)
class Finding:
    """One thing that a check found."""

    weight: Weight
    where: str
    """A file in the container; empty: all of it."""
    what: str
    concerns: str
    """Which bytes of the file or of which dropping; empty: none."""


@dataclass(frozen=True)
class CheckReport:
    """What a check found."""

    findings: tuple[Finding, ...]
    writers: int
    open_writers: int
    """That did not close: they still write, or were killed."""
    size: int
    conflict_bytes: int
    """That writers wrote at times that do not say which was last."""
    checked_bytes: int
    """Of data, that were compared with the sums that their writers left."""

    @property
    def damages(self) -> int:
        return sum(each.weight == "damage" for each in self.findings)

    @property
    def losses(self) -> int:
        return sum(each.weight == "loss" for each in self.findings)

    @property
    def is_sound(self) -> bool:
        return self.damages == 0


@dataclass(frozen=True)
class RepairReport:
    """What a repair did."""

    done: tuple[str, ...]
    """One line for each change."""
    rewritten: int
    """Index droppings."""
    lost_records_in: int
    """Index droppings of which records are lost that had been synced."""
    cut_bytes: int
    """Of data that their droppings do not hold."""


@dataclass(frozen=True)
class FlattenReport:
    """A plain file that was made of a container."""

    size: int
    written_bytes: int
    """Without holes."""
    conflict_bytes: int
    """That writers wrote at times that do not say which was last: the file may have the other bytes."""


@dataclass(frozen=True)
class PlfsReport:
    """A container of PLFS that was made of one."""

    size: int
    written_bytes: int
    """Without holes."""
    records: int
    """Of the index."""


@dataclass(frozen=True)
class Staged:
    """Data of one writer that are not in the container yet."""

    host: str
    folder: str
    """On that host."""
    bytes: int
    is_here: bool
    """This is that host, and the writer is still at it."""


@dataclass(frozen=True)
class BringReport:
    """What was brought into a container."""

    brought_bytes: int
    finished: int
    """Data droppings of which all is in the container now, and on its device."""
    left: tuple[Staged, ...]


@dataclass(frozen=True)
class PunchReport:
    """What became of data that nothing reads any more."""

    dead_bytes: int
    """In whole blocks."""
    punched_bytes: int
    """Of these, that were given back to the file system."""
    is_held: bool
    """A reader may still read what is dead by now: so nothing was given back."""


@dataclass(frozen=True)
class Figures:
    """Figures of a container."""

    is_plfs: bool
    size: int
    hole_bytes: int
    segments: int
    """Stretches of the file that lie in one piece in a data dropping."""
    writers: int
    open_writers: int
    hosts: int
    writes: int
    written_bytes: int
    data_bytes: int
    """Of all data droppings."""
    data_blocks_bytes: int
    """That they take on the device."""
    durable_bytes: int
    """Of data that were synced: they are on the container's device."""
    staged_bytes: int
    """Of data that lie on disks of nodes, and not in the container yet."""
    staged_on: tuple[str, ...]
    """These nodes."""
    index_bytes: int
    patterns: int
    """As a reader keeps them."""
    extents: int
    reader_bytes: int
    """Memory of a reader."""
    conflict_bytes: int
    """That writers wrote at times that do not say which was last."""
    why_not_given_back: str
    """Why dead data stay where they are, as of the last time that they were to be given back; empty: they do not."""

    @property
    def index_share(self) -> float | None:
        """Of the index to the data written."""
        return self.index_bytes / self.written_bytes if self.written_bytes else None

    @property
    def space_amplification(self) -> float | None:
        """Of the data on the device to those that are read."""
        read = self.size - self.hole_bytes
        return self.data_blocks_bytes / read if read else None


@dataclass(frozen=True)
class Writer:
    """Who wrote into a container."""

    host: str
    pid: int
    rank: int | None
    created_ns: int
    """Since 1970."""
    is_closed: bool
    data: str
    """The data dropping, relative to the container."""


@dataclass(frozen=True)
class FileMap:
    """Which part of the file lies where: columns with one row for each part, in the order of the file."""

    size: int
    """Of the file."""
    is_whole: bool
    """False: more parts follow."""
    start: "NDArray[np.int64]"
    """In the file."""
    length: "NDArray[np.int64]"
    physical: "NDArray[np.int64]"
    """In the data dropping of its writer; -1: a hole."""
    writer: "NDArray[np.int64]"
    """Among `writers`; -1: a hole."""
    writers: tuple[Writer, ...]

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True)
class Status:
    """What os.stat says of a plain file."""

    size: int
    modified_ns: int
    """The latest write, as its writer's clock says."""
    permissions: int
    uid: int
    gid: int


def is_container(path: LogPath) -> bool:
    """Whether a container, of ours or of PLFS, has this name. False where nobody can tell."""
    return bool(_logfs().is_container(path))


def status(path: LogPath) -> Status:
    """Size, time, mode and owner of the file that the container stands for.

    Raises:
        UsageError: it is no container.
        ConfigError: it is damaged.
        HalcyonSystemError: the system refused.
    """
    return Status(**_logfs().status(path))


def check(path: LogPath, *, data: bool = True, conflicts: bool = True) -> CheckReport:
    """What is wrong with a container, and which bytes that concerns.

    `data`: compares data with their sums, where there are any. `conflicts`: looks for bytes that several writers wrote
    at times that do not say which was last.

    Raises:
        UsageError: it is no container, or one of PLFS.
        ConfigError: it cannot be opened at all.
        HalcyonSystemError: the system refused.
    """
    found: dict[str, Any] = _logfs().check(path, reads_data=data, finds_conflicts=conflicts)
    findings = tuple(Finding(*each) for each in found.pop("findings"))
    return CheckReport(findings=findings, **found)


def repair(path: LogPath, *, dry_run: bool = False, ignore_writers: bool = False) -> RepairReport:
    """Makes a damaged container one that can be read, and leaves copies of what it replaces.

    `dry_run`: only says what it would do. `ignore_writers`: also where a process of this node may still write.

    Raises:
        UsageError: it is no container, or one of PLFS; a process still writes.
        ConfigError: it cannot be opened at all.
        HalcyonSystemError: the system refused; each dropping is as before, or repaired.
    """
    done: dict[str, Any] = _logfs().repair(path, only_tells=dry_run, ignores_writers=ignore_writers)
    return RepairReport(done=tuple(done.pop("done")), **done)


def flatten(
    path: LogPath,
    target: LogPath | None = None,
    *,
    verify: bool = True,
    ignore_writers: bool = False,
    progress: Progress | None = None,
    pace: "Pace | None" = None,
) -> FlattenReport:
    """Makes a plain file of a container, sparse where that has holes; it has its name when all of it is on the device.

    Without a `target` it takes the container's place; what else has the name `target` is replaced. `verify`: compares
    data with their sums, where there are any. `ignore_writers`: in place also where a process may still have the
    container open, although what that writes later is lost. `pace`: as of bring().

    Raises:
        UsageError: it is no container.
        ConfigError: it is damaged. Nothing is left.
        HalcyonSystemError: the system refused. Nothing is left.
        UnavailableError: somebody writes, may write, or flattens it, too. Nothing is left.
    """
    to = path if target is None else target
    return FlattenReport(
        **_logfs().flatten(
            path,
            to,
            verifies=verify,
            ignores_writers=ignore_writers,
            progress=progress,
            pace=pace and pace.compiled,
        )
    )


def export_plfs(path: LogPath, target: LogPath, *, verify: bool = True, progress: Progress | None = None) -> PlfsReport:
    """Writes what a container holds as a container of PLFS 2.x, which has its name when all of it is on the device.

    Raises:
        UsageError: it is no container.
        ConfigError: it is damaged. Nothing is left.
        HalcyonSystemError: the system refused, or `target` exists. Nothing is left.
        UnavailableError: somebody writes, or exports it, too. Nothing is left.
    """
    return PlfsReport(**_logfs().export_plfs(path, target, verifies=verify, progress=progress))


def map(path: LogPath, begin: int = 0, end: int | None = None, most: int | None = None) -> FileMap:  # noqa: A001
    """Which part of the file lies where, from `begin` to `end` (by default its own); at most so many parts.

    Raises:
        UsageError: it is no container; `begin` is below 0.
        ConfigError: it is damaged.
        HalcyonSystemError: the system refused.
    """
    found: dict[str, Any] = _logfs().map(
        path, begin=begin, end=-1 if end is None else max(end, 0), most=_ALL if most is None else most
    )
    writers = tuple(
        Writer(host, pid, None if rank < 0 else rank, created_ns, is_closed, data)
        for host, pid, rank, created_ns, is_closed, data in found.pop("writers")
    )
    return FileMap(writers=writers, **found)


_ALL = 1 << 62


def stats(path: LogPath) -> Figures:
    """Figures of a container: sizes, writers, patterns, share of the index, space that is dead.

    Raises:
        UsageError: it is no container.
        ConfigError: it is damaged.
        HalcyonSystemError: the system refused.
    """
    found: dict[str, Any] = _logfs().stats(path)
    return Figures(staged_on=tuple(found.pop("staged_on")), **found)


def conflict_bytes(path: LogPath) -> int:
    """How many bytes of the file writers wrote at times that do not say which was last, as `check` counts them: reads
    the indexes, and nothing else. None of a container of PLFS.

    Raises: as stats().
    """
    return int(_logfs().conflict_bytes(path))


def bring(path: LogPath, *, progress: Progress | None = None, pace: "Pace | None" = None) -> BringReport:
    """Brings what lies on disks of this node into the container and on its device: of writers that have ended, all.

    `pace`: how fast, and in whose turn (halcyon.logfs.pace); the path is absolute then.

    Raises:
        UsageError: it is no container.
        ConfigError: its mark is damaged.
        HalcyonSystemError: the system refused. What was brought stays, and the next call goes on.
    """
    done: dict[str, Any] = _logfs().bring(path, progress=progress, pace=pace and pace.compiled)
    return BringReport(left=tuple(Staged(*each) for each in done.pop("left")), **done)


def punch(path: LogPath, *, wait: bool = False) -> PunchReport:
    """Gives back the blocks of data that later writes have replaced, as far as those are synced.

    `wait`: for all readers that may still read them, to refresh or end.

    Raises:
        UsageError: it is no container, or one of PLFS.
        ConfigError: it is damaged.
        HalcyonSystemError: the system refused; EOPNOTSUPP: its file system cannot.
        UnavailableError: somebody else does the same.
    """
    return PunchReport(**_logfs().punch(path, waits=wait))


def remove(path: LogPath) -> None:
    """Removes a container with all that is in it.

    Raises:
        UsageError: it is no container.
        ConfigError: its mark is damaged.
        HalcyonSystemError: the system refused.
    """
    _logfs().remove(path)


def rename(path: LogPath, target: LogPath) -> None:
    """Gives a container, or another file, another name on its file system. A file or a container that has that name is
    replaced: where the file system can exchange names, the name stands for one of both at any moment.

    Raises:
        HalcyonSystemError: the system refused. All is as it was, unless what was replaced could not be removed.
    """
    _logfs().rename(path, target)


def remove_unused(path: LogPath) -> bool:
    """Removes what is left of a container that was removed (`.halcyon-removed-…`), unless a process has it open. False:
    it stays, also where the file system cannot tell.

    Raises:
        UsageError: the system has no such names.
    """
    return bool(_logfs().remove_unused(path))


def _logfs() -> Any:
    """UnavailableError: it is not installed."""
    return load_compiled("_logfs")
