"""A container as a raw file."""

import errno
import io
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from halcyon.compiled import load_compiled
from halcyon.errors import HalcyonSystemError, UsageError
from halcyon.logfs.forks import forget_in_children
from halcyon.logfs.open_mode import OpenMode

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

    from halcyon import _logfs

LogPath = str | bytes | os.PathLike[str] | os.PathLike[bytes]


class LogFile(io.RawIOBase):
    """A container that is open as a file of bytes, without a buffer: as io.FileIO is for a plain file.

    What is read here is what this process wrote, and what others had published when the file was opened or refreshed
    last; they publish by sync(), settle() and close(). There is no descriptor: fileno() raises io.UnsupportedOperation.
    Threads may share it as they may share an io.FileIO: read_at() and write_at() leave the position alone. A process
    that is forked off cannot use it, and has to open the container again.

    Raises:
        UsageError: there is no such mode; the path is a plain file, a directory, or a container of PLFS to be written.
        ConfigError: the container is damaged, or of another version. Reads raise it, too.
        HalcyonSystemError: the system refused. It is also what Python raises for that, such as FileNotFoundError.
    """

    _file: "_logfs.File | None" = None
    """None: its opening failed."""

    def __init__(
        self,
        path: LogPath,
        mode: str = "rb",
        *,
        checks: bool = False,
        verify: bool = False,
        permissions: int = 0o666,
    ) -> None:
        """`checks`: keeps sums over what is written. `verify`: compares what is read with them, where there are any."""
        super().__init__()
        self._how = OpenMode.of(mode)
        self.name = os.fspath(path)
        self.mode = self._how.raw
        self._position = 0
        file = self._file = load_compiled("_logfs").File(
            path,
            reads=self._how.reads,
            writes=self._how.writes,
            creates=self._how.kind != "r",
            is_exclusive=self._how.kind == "x",
            truncates=self._how.kind == "w",
            permissions=permissions,
            has_checks=checks,
            verifies=verify,
        )
        forget_in_children(file)
        if self._how.kind == "a":
            self._position = file.size()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name!r} mode={self.mode!r}{' closed' if self.closed else ''}>"

    def readable(self) -> bool:
        self._opened()
        return self._how.reads

    def writable(self) -> bool:
        self._opened()
        return self._how.writes

    def seekable(self) -> bool:
        self._opened()
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            return self.readall()
        data = self._to_read().read(self._position, size)
        self._position += len(data)
        return data

    def readall(self) -> bytes:
        pieces = []
        while piece := self.read(sys.maxsize):
            pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        done = self._to_read().read_into(self._position, buffer)
        self._position += done
        return done

    def write(self, data: "ReadableBuffer", /) -> int:
        file = self._to_write()
        if self._how.kind == "a":
            at, done = file.append(data)
        else:
            at, done = self._position, file.write(self._position, data)
        self._position = at + done
        return done

    def read_at(self, offset: int, buffer: "WriteableBuffer") -> int:
        """Fills a buffer, such as a NumPy array, from `offset` on; how many bytes: fewer at the end of the file."""
        return self._to_read().read_into(offset, buffer)

    def write_at(self, offset: int, data: "ReadableBuffer") -> int:
        """Writes a buffer at `offset`, also where the file was opened to append; how many bytes."""
        return self._to_write().write(offset, data)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Also to os.SEEK_DATA and os.SEEK_HOLE."""
        self._position = self._place(offset, whence)
        return self._position

    def _place(self, offset: int, whence: int) -> int:
        file = self._opened()
        if whence in (os.SEEK_DATA, os.SEEK_HOLE):
            find, what = (file.next_data, "data") if whence == os.SEEK_DATA else (file.next_hole, "byte of the file")
            place = find(offset) if offset >= 0 else -1
            if place < 0:
                raise self._refused(f"no {what} from byte {offset} on", errno.ENXIO)
            return place
        if whence == os.SEEK_SET:
            place = offset
        elif whence == os.SEEK_CUR:
            place = self._position + offset
        elif whence == os.SEEK_END:
            place = file.size() + offset
        else:
            raise UsageError(f"whence {whence}; expected one of os.SEEK_SET, _CUR, _END, _DATA, _HOLE")
        if place < 0:
            raise self._refused(f"byte {place} is before the beginning of the file", errno.EINVAL)
        return place

    def tell(self) -> int:
        self._opened()
        return self._position

    def truncate(self, size: int | None = None, /) -> int:
        file = self._to_write()
        end = self._position if size is None else size
        if end < 0:
            raise self._refused(f"a size of {end}", errno.EINVAL)
        file.truncate(end)
        return end

    def size(self) -> int:
        """Of the file, in bytes."""
        return self._opened().size()

    def data_ranges(self) -> Iterator[tuple[int, int]]:
        """From where to where the file holds data, in order; all else are holes. The position stays."""
        file = self._opened()
        end = 0
        while (begin := file.next_data(end)) >= 0:
            hole = file.next_hole(begin)
            end = hole if hole >= 0 else file.size()
            yield begin, end

    def erase(self, offset: int, length: int) -> None:
        """The range reads as zeros from now on."""
        self._to_write().erase(offset, length)

    def refresh(self) -> None:
        """Takes what others have published since the file was opened or refreshed last."""
        self._opened().refresh()

    def settle(self) -> None:
        """What was written is older than all that other processes of this host write from now on: for locks."""
        self._opened().settle()

    def sync(self) -> None:
        """What was written is on the device on return."""
        self._opened().sync()

    def close(self) -> None:
        """Does not sync. HalcyonSystemError: it is closed nevertheless."""
        if self.closed:
            return
        try:
            super().close()
        finally:
            if self._file is not None:
                self._file.close()

    def _opened(self) -> "_logfs.File":
        if self.closed or self._file is None:
            raise ValueError("I/O operation on closed file")
        return self._file

    def _to_read(self) -> "_logfs.File":
        file = self._opened()
        if not self._how.reads:
            raise io.UnsupportedOperation("File not open for reading")
        return file

    def _to_write(self) -> "_logfs.File":
        file = self._opened()
        if not self._how.writes:
            raise io.UnsupportedOperation("File not open for writing")
        return file

    def _refused(self, why: str, number: int) -> HalcyonSystemError:
        name = os.fsdecode(self.name)
        return HalcyonSystemError(f"{name}: {why}", number, name)
