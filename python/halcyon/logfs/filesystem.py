"""`halcyonlog://`: the file system of fsspec in which containers are files.

    import fsspec

    with fsspec.open("halcyonlog:///scratch/checkpoint", "rb") as file:
        ...

Paths are those of the system: `halcyonlog://` and an absolute path, or one relative to the working directory. New files
are containers; plain files beside them are read and written as they are. So whatever takes an address of fsspec takes
containers: pandas, Dask, Xarray, Zarr.
"""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, ClassVar

from halcyon.errors import HalcyonError, HalcyonIsADirectoryError, UnavailableError, UsageError
from halcyon.logfs.copying import copy_data
from halcyon.logfs.file import fsync
from halcyon.logfs.file import open as open_container
from halcyon.logfs.tools import flatten, is_container, remove, rename, status

try:
    from fsspec import AbstractFileSystem
    from fsspec.callbacks import DEFAULT_CALLBACK
    from fsspec.utils import isfilelike, stringify_path
except ModuleNotFoundError as why:
    raise UnavailableError("halcyonlog:// needs fsspec, which is not installed: pip install fsspec") from why

_HIDDEN = ".halcyon-"
"""Begins the names of what is on its way to a name, or away."""
_TYPES = {stat.S_IFDIR: "directory", stat.S_IFREG: "file"}


def _is_shown_as_directory(at: Path) -> bool:
    """A container, of which the functions of Python's own make nothing: under `halcyon run --log` it is a file to
    them, which programs may have open."""
    return is_container(at) and not at.is_file()


class LogFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """Files are containers, or plain files; directories are directories. Transactions are refused.

    What fails raises errors of halcyon.errors, or OSErrors, which fsspec expects: FileNotFoundError and so on.
    """

    protocol: ClassVar[str] = "halcyonlog"
    root_marker: ClassVar[str] = "/"

    def __init__(self, *, checks: bool = False, verify: bool = False, auto_mkdir: bool = False, **kwargs: Any) -> None:
        """`checks`: containers keep sums over what is written. `verify`: what is read is compared with them.
        `auto_mkdir`: the folder of a new file is created."""
        super().__init__(**kwargs)
        self._checks = checks
        self._verify = verify
        self.auto_mkdir = auto_mkdir

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(each) for each in path]
        return os.path.abspath(stringify_path(path).removeprefix(f"{cls.protocol}://"))  # noqa: PTH100

    def _at(self, path: Any) -> Path:
        return Path(self._strip_protocol(path))

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        at = self._at(path)
        if is_container(at) or not at.is_dir():
            itself = self.info(path)
            return [itself if detail else itself["name"]]
        names = [str(each) for each in sorted(at.iterdir()) if not each.name.startswith(_HIDDEN)]
        return [found for name in names if (found := self._seen(name))] if detail else names

    def _seen(self, path: str) -> dict[str, Any] | None:
        """None: it went meanwhile."""
        with suppress(FileNotFoundError):
            return self.info(path)
        return None

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        """As of local files, with `container`; of a damaged one the size is None, and `error` says the reason."""
        at = self._at(path)
        is_lost_link = at.is_symlink() and not at.exists()
        there = at.lstat() if is_lost_link else at.stat()
        found: dict[str, Any] = {
            "name": str(at),
            "size": there.st_size,
            "type": _TYPES.get(stat.S_IFMT(there.st_mode), "other"),
            "created": there.st_ctime,
            "mtime": there.st_mtime,
            "mode": there.st_mode,
            "uid": there.st_uid,
            "gid": there.st_gid,
            "ino": there.st_ino,
            "islink": at.is_symlink(),
            "container": False,
        }
        if found["type"] == "other" or not is_container(at):
            return found
        found |= {"type": "file", "container": True, "mode": stat.S_IFREG | stat.S_IMODE(there.st_mode)}
        try:
            known = status(at)
        except HalcyonError as why:
            return found | {"size": None, "error": str(why)}
        mode = stat.S_IFREG | known.permissions
        owner = {"uid": known.uid, "gid": known.gid}
        return found | {"size": known.size, "mtime": known.modified_ns / 1e9, "mode": mode} | owner

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        if not autocommit:
            raise NotImplementedError("halcyonlog:// has no transactions")
        at = self._at(path)
        room = block_size if isinstance(block_size, int) and block_size > 1 else -1
        file: Any = self._opened(at, mode, room)
        if mode == "rb":
            file.size = file.seek(0, os.SEEK_END)  # fsspec itself and Dask ask for it
            file.seek(0)
        return file

    def _opened(self, at: Path, mode: str, room: int) -> Any:
        if at.is_file() and not is_container(at):
            return at.open(mode, room)
        if self.auto_mkdir and mode[0] != "r":
            at.parent.mkdir(parents=True, exist_ok=True)
        try:
            return open_container(at, mode, room, checks=self._checks, verify=self._verify)
        except UsageError as why:
            if at.is_dir() and not is_container(at):
                raise HalcyonIsADirectoryError(str(why), errno.EISDIR, str(at)) from why
            raise

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        with self.open(path, "rb") as file:
            begin, stop, _ = slice(start, end).indices(file.seek(0, os.SEEK_END))
            file.seek(begin)
            read: bytes = file.read(max(stop - begin, 0))
            return read

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        if self.isdir(path1):
            self.makedirs(path2, exist_ok=True)
            return
        with self.open(path1, "rb") as source, self.open(path2, "wb") as target:
            copy_data(source, target)

    def get_file(
        self, rpath: str, lpath: Any, callback: Any = DEFAULT_CALLBACK, outfile: Any = None, **kwargs: Any
    ) -> None:
        """A container becomes a plain file, by one rename and sparse where it has holes."""
        at = self._at(rpath)
        if isfilelike(lpath) or outfile is not None or not is_container(at):
            super().get_file(rpath, lpath, callback=callback, outfile=outfile, **kwargs)
            return
        target = Path(lpath).absolute()
        target.parent.mkdir(parents=True, exist_ok=True)

        def told(done: int, total: int) -> None:
            callback.set_size(total)
            callback.absolute_update(done)

        flatten(at, target, progress=told)

    def mv(self, path1: str, path2: str, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any) -> None:
        """By one rename, so not to another file system; a file that has the name `path2` goes, into a directory of that
        name it is moved."""
        source, target = self._at(path1), self._at(path2)
        if self.isdir(path2):
            target /= source.name
        if source == target:
            source.lstat()
        elif _is_shown_as_directory(source) or _is_shown_as_directory(target):
            rename(source, target)
        else:
            source.replace(target)

    def rm_file(self, path: str) -> None:
        at = self._at(path)
        if _is_shown_as_directory(at):
            remove(at)
        else:
            at.unlink()

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        if maxdepth is not None:
            raise NotImplementedError("halcyonlog:// removes whole directories only")
        for each in self._named(path):
            if not self.isdir(each):
                self.rm_file(each)
            elif recursive:
                shutil.rmtree(each)
            else:
                raise HalcyonIsADirectoryError(f"{each}: a directory; recursive=True removes it", errno.EISDIR, each)

    def _named(self, path: Any) -> Iterator[str]:
        for each in path if isinstance(path, list) else [path]:
            yield from self.glob(each) if "*" in str(each) else [self._strip_protocol(each)]

    def mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:
        self._at(path).mkdir(parents=create_parents)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        self._at(path).mkdir(parents=True, exist_ok=exist_ok)

    def rmdir(self, path: str) -> None:
        self._at(path).rmdir()

    def touch(self, path: str, truncate: bool = True, **kwargs: Any) -> None:
        """Makes an empty container where nothing has the name; else the file is emptied, or stays as it is."""
        with self.open(path, "wb" if truncate else "ab"):
            pass

    def created(self, path: str) -> datetime:
        return datetime.fromtimestamp(self.info(path)["created"], tz=UTC)

    def modified(self, path: str) -> datetime:
        return datetime.fromtimestamp(self.info(path)["mtime"], tz=UTC)

    def fsync(self, file: IO[Any]) -> None:
        """What was written to a file that this opened is on the device on return."""
        try:
            fsync(file)
        except UsageError:  # a plain file
            file.flush()
            os.fsync(file.fileno())
