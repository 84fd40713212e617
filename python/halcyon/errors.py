"""The five kinds of error, as in halcyon.h; each is also the built-in error that a Python programmer would expect."""

import os
from errno import EACCES, EEXIST, EISDIR, ENOENT, ENOTDIR, EPERM
from typing import ClassVar, cast


class HalcyonError(Exception):
    """Any failure that Halcyon reports. `code` is the number of its kind in halcyon.h."""

    code: ClassVar[int] = 5


class ConfigError(HalcyonError, ValueError):
    """A file says something wrong: a misspelt layout in halcyon.yaml, a number that is none in a run's CSV file.

    The message begins with `file:line:` and names the key path or column.
    """

    code: ClassVar[int] = 1


class UsageError(HalcyonError, ValueError):
    """The call makes no sense, for example a directory without a run; the message says which call would."""

    code: ClassVar[int] = 2


class HalcyonSystemError(HalcyonError, OSError):
    """The system refused, for example to create a file; `errno` and `filename` are set when they are known."""

    code: ClassVar[int] = 3

    def __init__(self, message: str, errno: int | None = None, path: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.errno = errno
        self.filename = path

    def __str__(self) -> str:
        return self.message

    @classmethod
    def of(cls, cause: OSError, path: object) -> "HalcyonSystemError":
        """`path: reason`, from what the system raised."""
        return cls(f"{path}: {cause.strerror or cause}", cause.errno, str(path))


class UnavailableError(HalcyonError, ConnectionError):
    """No server, no coordinator, a part of Halcyon that is not installed; the message says what happened instead."""

    code: ClassVar[int] = 4


class InternalError(HalcyonError, RuntimeError):
    """A fault of Halcyon itself: please report it."""

    code: ClassVar[int] = 5


BY_CODE: dict[int, type[HalcyonError]] = {
    kind.code: kind for kind in (ConfigError, UsageError, HalcyonSystemError, UnavailableError, InternalError)
}


class HalcyonFileNotFoundError(HalcyonSystemError, FileNotFoundError):
    """Where Python itself would raise FileNotFoundError."""


class HalcyonFileExistsError(HalcyonSystemError, FileExistsError):
    """Likewise."""


class HalcyonPermissionError(HalcyonSystemError, PermissionError):
    """Likewise."""


class HalcyonIsADirectoryError(HalcyonSystemError, IsADirectoryError):
    """Likewise."""


class HalcyonNotADirectoryError(HalcyonSystemError, NotADirectoryError):
    """Likewise."""


_BY_ERRNO: dict[int, type[HalcyonSystemError]] = {
    ENOENT: HalcyonFileNotFoundError,
    EEXIST: HalcyonFileExistsError,
    EACCES: HalcyonPermissionError,
    EPERM: HalcyonPermissionError,
    EISDIR: HalcyonIsADirectoryError,
    ENOTDIR: HalcyonNotADirectoryError,
}


def of_failure(code: int, message: str, errno: int, path: object) -> HalcyonError:
    """What is raised for a failure of halcyon/error.hpp that concerns `path`.

    What the system refused is also the built-in exception that Python has for its errno, such as FileNotFoundError.
    """
    if code != HalcyonSystemError.code:
        return BY_CODE[code](message)
    kind = _BY_ERRNO.get(errno, HalcyonSystemError)
    return kind(message, errno or None, os.fsdecode(cast("str | bytes | os.PathLike[str]", path)))
