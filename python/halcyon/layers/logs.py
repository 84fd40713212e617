"""Which directories a command's processes see as such of log containers, and what came of it."""

import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from halcyon.errors import HalcyonError, UsageError
from halcyon.installed_program import find_installed
from halcyon.quantities import parse_bytes, plural

MOST_DIRECTORIES = 4
"""mounts.hpp has no more."""

MARKER, PLFS_MARKER = "halcyon-container", ".plfsaccess113918400"
"""Plain files that make a directory a container, and one of PLFS."""
PLFS_INDEX = "dropping.index."
MARKER_BEGINS = b"halcyon log container\n"
_DESCRIPTOR = "halcyon-descriptor"
"""Where a file system is of several nodes, programs have this one open in place of the file."""
_REMOVED = ".halcyon-removed-"
_PART = re.compile(rf"{_DESCRIPTOR}|hostdir\.\d+")

LONGEST_STAGE = 512
"""Bytes; staged_data.hpp has room for no longer ones."""


@dataclass(frozen=True)
class Stage:
    """A directory on a disk of each node, where data go at first; an agent on each node brings them from there."""

    directory: str
    rate: str = "0"
    """Bytes per second that an agent brings, such as '200 MB'; '0': as fast as it goes."""
    takes_turns: bool = False

    def variables(self, logged: list[str]) -> dict[str, str]:
        """`logged`: directories of containers. UsageError: it can be none; UnavailableError: the agent is missing."""
        given = self.directory
        if not given.startswith("/") or given == "/":
            raise UsageError(
                f"--stage {given}: expected the absolute path of a directory that each node has for itself"
            )
        if len(os.fsencode(given)) > LONGEST_STAGE or "\n" in given:
            raise UsageError(
                f"--stage {given[:40]}…: expected a path of up to {LONGEST_STAGE} bytes, without line breaks"
            )
        real = os.path.realpath(given)
        if within := next((one for one in logged if f"{real}/".startswith(f"{os.path.realpath(one)}/")), None):
            raise UsageError(f"--stage {given}: lies below --log {within}; expected a directory on a disk of the node")
        words = ["--rate", str(parse_bytes(self.rate, "--stage-rate")), *(["--turns"] if self.takes_turns else [])]
        return {
            "HALCYON_LOG_STAGE": given.rstrip("/"),
            "HALCYON_LOG_AGENT": str(find_installed("halcyon-log-agent", "HALCYON_LOG_AGENT")),
            "HALCYON_LOG_AGENT_WORDS": " ".join(words),
        }


@dataclass(frozen=True)
class Logs:
    """Each file below one of these directories is a log container."""

    directories: tuple[str, ...]
    """As they were given: programs may use that spelling, or the one without symbolic links."""
    stage: Stage | None = None
    backends: tuple[str, ...] = ()
    """Directories over which the logs of each container are spread; none: in the container."""
    per_node: bool = False
    """The processes of a node write one log together, where the file system has second names for files."""
    checks: bool = False
    """Writers leave sums over the data, and who reads compares data with them."""

    def variables(self) -> dict[str, str]:
        """UsageError: one of them is no directory, or lies in a container; there are too many; the stage can be none.
        UnavailableError: this installation lacks the agent that a stage needs."""
        wanted: list[str] = []
        for given in self.directories:
            path = os.path.abspath(given)  # noqa: PTH100  the spelling counts, links and all
            if ":" in given:
                raise UsageError(f"--log {given}: the path has a ':', which separates paths; give one without it")
            if path == "/":
                raise UsageError(f"--log {given}: the root directory; expected a directory below it")
            if not Path(path).is_dir():
                reason = "a file" if Path(path).exists() else "no such directory"
                raise UsageError(f"--log {given}: {reason}; expected a directory that all processes of the command see")
            if within := container_above(Path(path)):
                raise UsageError(f"--log {given}: {within} is a log container itself; expected a directory around it")
            if path not in wanted:
                wanted.append(path)
        # A directory below another one of them is answered for already.
        paths = [one for one in wanted if not any(one.startswith(f"{other}/") for other in wanted)]
        needed = len({*paths, *map(os.path.realpath, paths)})
        if needed > MOST_DIRECTORIES:
            linked = ", counting those with symbolic links twice" if needed > len(paths) else ""
            raise UsageError(f"--log: {needed} directories{linked}; expected {MOST_DIRECTORIES} or fewer")
        if self.stage and self.per_node:
            raise UsageError("--logs-per node: with --stage each process has a log of its own; leave one of them out")
        if self.checks and self.per_node:
            raise UsageError(
                "--logs-per node: with --log-checks each process has a log of its own; leave one of them out"
            )
        return {
            "HALCYON_LOG": ":".join(paths),
            **({"HALCYON_LOG_BACKENDS": ":".join(map(_backend, self.backends))} if self.backends else {}),
            **({"HALCYON_LOG_PER": "node"} if self.per_node else {}),
            **({"HALCYON_LOG_CHECKS": "1"} if self.checks else {}),
            **(self.stage.variables(paths) if self.stage else {}),
        }


def _backend(given: str) -> str:
    """As all nodes find it. UsageError: it is no directory, or lies in a container."""
    path = os.path.realpath(given)
    if ":" in path or "," in path:
        raise UsageError(f"--backends {given}: the path has a ':' or ',', which separate paths; give one without")
    if not Path(path).is_dir():
        raise UsageError(f"--backends {given}: no such directory; expected directories that all processes see")
    if within := container_above(Path(path)):
        raise UsageError(f"--backends {given}: {within} is a log container itself; expected a directory around it")
    return path


def is_container(path: Path) -> bool:
    """Whether this directory stands for a file: as marking.hpp, for who has no compiled modules."""
    return _is_marked_as_ours(path) or _is_plain_file(path / PLFS_MARKER)


def _is_marked_as_ours(path: Path) -> bool:
    if not _is_plain_file(path / MARKER):
        return False
    try:
        with (path / MARKER).open("rb") as marker:
            if marker.read(len(MARKER_BEGINS)) == MARKER_BEGINS:
                return True
        # A marker that was damaged, where the rest of a container is there.
        return any(_PART.fullmatch(each.name) for each in path.iterdir())
    except OSError:
        return True


def _is_plain_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def container_above(path: Path) -> Path | None:
    """This directory or one above it, where that is a container."""
    real = path.resolve()
    return next((one for one in (real, *real.parents) if is_container(one)), None)


@dataclass(frozen=True)
class LoggedFile:
    """A container, by a look at the names in it."""

    path: str
    writers: int
    """Processes that wrote into it, once for each log that they began."""
    marks: tuple[str, ...] = ()
    """Of logs that are not durable yet."""
    is_written_past: bool = False
    """By programs that the library does not see, into a descriptor of it."""


def look_at(path: str) -> LoggedFile | None:
    """None: this directory is no container, or cannot be read. As is_container, by one list of each directory."""
    has_marker = has_plfs_marker = has_part = is_written_past = False
    inner: list[str] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                name = entry.name
                if name == MARKER:
                    has_marker = entry.is_file(follow_symlinks=False)
                elif name == PLFS_MARKER:
                    has_plfs_marker = entry.is_file(follow_symlinks=False)
                elif name == _DESCRIPTOR:
                    has_part = True
                    is_written_past = entry.stat(follow_symlinks=False).st_size > 0
                elif _PART.fullmatch(name):
                    has_part = True
                    inner.append(entry.path)
    except OSError:
        return None
    if not (has_plfs_marker or (has_marker and (has_part or _is_marked_as_ours(Path(path))))):
        return None
    names: dict[str, int] = {}
    marks: list[str] = []
    for folder in inner:
        try:
            for name in os.listdir(folder):  # noqa: PTH208  a Path for each takes longer
                kind = PLFS_INDEX if name.startswith(PLFS_INDEX) else name.partition(".")[0]
                names[kind] = names.get(kind, 0) + 1
                if kind == "staged":
                    marks.append(f"{folder}/{name}")
        except OSError:
            continue
    return LoggedFile(path, names.get("index", 0) or names.get(PLFS_INDEX, 0), tuple(marks), is_written_past)


def logged_below(directory: str, removed: list[str] | None = None) -> Iterator[LoggedFile]:
    """All containers below a directory. What cannot be read is passed over. `removed`: gets what has no name any more
    that applications know."""
    folders = [directory]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                inner = [(entry.name, entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        for name, path in inner:
            if name.startswith(_REMOVED):
                if removed is not None:
                    removed.append(path)
                continue
            found = look_at(path)
            if found is None:
                folders.append(path)
            elif not name.startswith(".halcyon-"):
                yield found


def containers_below(directory: Path) -> Iterator[Path]:
    """The paths of logged_below()."""
    return (Path(each.path) for each in logged_below(str(directory)))


def clear(removed: list[str]) -> None:
    """Of containers that were removed while processes had them open, those that none has open any more: processes that
    were killed have left them. Where the compiled modules are missing, they stay."""
    if not removed:
        return
    from halcyon.logfs.tools import remove_unused

    for each in removed:
        with suppress(HalcyonError):
            remove_unused(each)


def say_what_was_logged(logs: Logs, *, flattened: bool = False) -> None:
    """A line on standard error for each directory, where what killed processes had removed goes now. `flattened`: an
    agent makes plain files of the containers."""
    for given in logs.directories:
        count = writers = past = 0
        marks: list[str] = []
        shared: list[Path] = []
        removed: list[str] = []
        for each in logged_below(given, removed):
            count += 1
            if each.writers > 1:
                shared.append(Path(each.path))
            writers += each.writers
            past += each.is_written_past
            marks += each.marks
        clear(removed)
        files = "1 file is a log container" if count == 1 else f"{count} files are log containers"
        by = "1 writer" if writers == 1 else f"{writers} writers"
        seen = "; without `halcyon run --log` each looks like a directory" if count else ""
        if count and flattened:
            seen = (
                f"; plain files are made of them in the background, `halcyon log drain --flatten {given}` waits for it"
            )
        elif flattened:
            seen = "; all others are plain files"
        print(f"halcyon: {given}: {files}, of {by}{seen}", file=sys.stderr)
        if past:
            print(
                f"halcyon: {given}: programs that Halcyon does not see wrote to descriptors of {plural(past, 'file')}: "
                "reads of these fail; `halcyon log repair` puts aside what they wrote",
                file=sys.stderr,
            )
        _say_what_is_staged(given, marks)
        _say_what_is_in_conflict(shared)


def _say_what_is_staged(given: str, marks: list[str]) -> None:
    """Nothing of that is durable yet."""
    if not marks:
        return
    hosts = sorted({host for mark in marks if (host := _host_of(Path(mark)))})
    many = f"{', '.join(hosts[:3])}, …" if len(hosts) > 3 else ", ".join(hosts)
    print(
        f"halcyon: {given}: {plural(len(marks), 'log')} not durable yet: on disks of {plural(len(hosts), 'node')} "
        f"({many}). An agent on each of them brings what it has; `halcyon log drain {given}` waits for it",
        file=sys.stderr,
    )


def _say_what_is_in_conflict(containers: list[Path]) -> None:
    """Of those that several processes wrote: as far as a short look shows it, where there are the compiled modules."""
    if not containers:
        return
    from halcyon.logfs.conflicts import conflicts_in_words, found_soon

    for container, conflict_bytes in found_soon(containers).items():
        print(f"halcyon: {conflicts_in_words(container, conflict_bytes)}", file=sys.stderr)


def _host_of(mark: Path) -> str | None:
    """As staged_data.hpp writes it. None: it was brought a moment ago."""
    try:
        lines = mark.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return next((line.removeprefix("host ") for line in lines if line.startswith("host ")), None)
