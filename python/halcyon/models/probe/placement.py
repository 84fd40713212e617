"""Makes files that all lie on one storage target."""

import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from halcyon.errors import HalcyonSystemError, UnavailableError, UsageError
from halcyon.observe.file_layout import layout_of, targets_of
from halcyon.observe.file_systems import file_system_at

_TRIES = 64
"""Files created for each that is needed, where the file system places them by their names."""


@dataclass(frozen=True)
class Placement:
    """Files of one target."""

    file_system: str
    target: str
    files: list[Path]

    def check(self) -> None:
        """HalcyonSystemError: a file has moved, as a rebalancing file system does."""
        for file in self.files:
            layout = layout_of(file, self.file_system)
            if layout is None or layout.servers != (self.target,):
                where = "nobody tells where" if layout is None else ", ".join(layout.servers)
                raise HalcyonSystemError(f"{file}: lies no longer on {self.target}: {where}")


@contextmanager
def files_on_one_target(directory: Path, count: int, target: str | None = None) -> Iterator[Placement]:
    """`count` empty files, in a directory of their own that is removed when the block ends. `target`: as layouts name
    it, or its host or index; by default that of the first file, or where enough files happen to lie.

    UsageError: the file system offers no choice, or has no such target. UnavailableError: its tool is missing.
    HalcyonSystemError: no file can be created.
    """
    file_system = file_system_at(directory)
    if not directory.is_dir():
        raise UsageError(f"{directory}: no such directory")
    place = _PLACES.get(file_system or "")
    if place is None:
        raise UsageError(
            f"{directory}: on {file_system}, which gives no choice of target; expected Lustre or GlusterFS"
        )
    try:
        folder = Path(tempfile.mkdtemp(prefix=".halcyon-probe-", dir=directory))
    except OSError as why:
        raise HalcyonSystemError.of(why, directory) from why
    try:
        yield place(folder, count, target)
    except OSError as why:
        if isinstance(why, HalcyonSystemError):
            raise
        raise HalcyonSystemError.of(why, why.filename or directory) from why
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            raise HalcyonSystemError(f"{folder}: cannot be removed; it holds what the probe wrote")


def _on_lustre(folder: Path, count: int, target: str | None) -> Placement:
    """By the index that the file system's own tool takes."""
    files = [folder / f"writer-{number}" for number in range(count)]
    index = None if target is None else _index(target)
    found = ""
    for file in files:
        _set_stripe(file, index)
        layout = layout_of(file, "lustre")
        if layout is None or len(layout.servers) != 1:
            raise UsageError(f"{folder.parent}: `lfs getstripe` does not tell the target of a file of one stripe")
        found, index = layout.servers[0], _index(layout.servers[0])
    return Placement("lustre", found, files)


def _set_stripe(file: Path, index: int | None) -> None:
    words = ["lfs", "setstripe", "-c", "1", *(() if index is None else ("-i", str(index))), str(file)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except FileNotFoundError as why:
        raise UnavailableError("lfs, which places files on Lustre, is not installed here") from why
    if done.returncode != 0:
        raise HalcyonSystemError(f"`{' '.join(words)}` ended with {done.returncode}: {done.stderr.strip()}")


def _index(target: str) -> int:
    digits = target.upper().removeprefix("OST")
    try:
        return int(target) if target.isdigit() else int(digits, 16)
    except ValueError:
        raise UsageError(f"--target {target}: expected an index such as 26, or a name such as OST001a") from None


def _on_gluster(folder: Path, count: int, target: str | None) -> Placement:
    """Its servers follow from files' names: files are created until enough lie on one, and the others removed."""
    names = targets_of(folder, "fuse")
    if names is None:
        raise UsageError(
            f"{folder.parent}: this file system does not tell where its files lie. GlusterFS tells it to root alone, "
            "on its native mounts; replicated and dispersed volumes have no single target"
        )
    wanted = None if target is None else _named(target, names)
    on: dict[str, list[Path]] = defaultdict(list)
    for number in range(count * len(names) * _TRIES):
        file = folder / f"writer-{number}"
        file.touch()
        layout = layout_of(file, "fuse")
        if layout is None:
            raise UsageError(f"{folder.parent}: a file was created whose target the file system does not tell")
        [server] = layout.servers
        on[server].append(file)
        if len(on[server]) == count and wanted in (None, server):
            for path in (path for other, paths in on.items() if other != server for path in paths):
                path.unlink()
            return Placement("fuse", server, on[server])
        if len(on[server]) > count:
            on[server].pop().unlink()
    spread = ", ".join(f"{server}: {len(paths)}" for server, paths in sorted(on.items()))
    raise UsageError(f"{folder.parent}: of all files created, too few lie on {wanted or 'one target'} ({spread})")


def _named(target: str, names: list[str]) -> str:
    found = [name for name in names if name == target or name.partition(":")[0] == target]
    if len(found) != 1:
        kind = "no such target" if not found else "several targets of this name"
        raise UsageError(f"--target {target}: {kind}; expected one of: {', '.join(sorted(names))}")
    return found[0]


_PLACES: dict[str, Callable[[Path, int, str | None], Placement]] = {"lustre": _on_lustre, "fuse": _on_gluster}
