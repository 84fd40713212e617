"""What the arguments of a call mean that Recorder wrote down, as text and with names of files for descriptors."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from halcyon.observe.readers.functions import kind_of, level_of, undecorated
from halcyon.observe.schema import Kind, Level

TYPE_BYTES = {
    "MPI_BYTE": 1,
    "MPI_CHAR": 1,
    "MPI_SIGNED_CHAR": 1,
    "MPI_UNSIGNED_CHAR": 1,
    "MPI_SHORT": 2,
    "MPI_INT": 4,
    "MPI_UNSIGNED": 4,
    "MPI_FLOAT": 4,
    "MPI_LONG": 8,
    "MPI_UNSIGNED_LONG": 8,
    "MPI_LONG_LONG": 8,
    "MPI_LONG_LONG_INT": 8,
    "MPI_DOUBLE": 8,
}
"""Sizes that are the same wherever 64-bit Linux runs."""

# Positions of arguments: of the file, of the offset, of the sizes whose product was asked for, of what `argument` says.
_C = {
    r"open|creat": (0, None, (), 1),
    r"p?readv|p?writev": (0, None, (1,), None),
    r"pread|pwrite": (0, 3, (2,), None),
    r"read|write": (0, None, (2,), None),
    r"fread|fwrite": (3, None, (1, 2), None),
    r"v?fprintf": (0, None, (1,), None),
    r"lseek|fseeko?": (0, None, (), 2),
    r"mmap": (4, 5, (1,), None),
    r"munmap|msync|getcwd|umask|pipe|dup2?|readdir|closedir|tmpfile": (None, None, (), None),
    r"[fl]?xstat|mknod|linkat": (1, None, (), None),
    r"fcntl": (0, None, (), 1),
}
_AT = re.compile(r"mpi_file_i?(read|write)_at\w*")
_TRANSFER = re.compile(r"mpi_file_i?(read|write)\w*")


@dataclass(frozen=True)
class Meaning:
    """Columns of `calls` that follow from a call's name and arguments."""

    level: Level
    call: str
    kind: Kind
    path: str | None = None
    offset: int | None = None
    bytes: int | None = None
    argument: int | None = None


@dataclass
class Opened:
    """A file that MPI-IO or HDF5 opened."""

    path: str
    has_view: bool = False


def meaning_of(function: str, arguments: Sequence[str], handles: dict[str, Opened]) -> Meaning | None:
    """Null for what is no I/O. `handles` remembers which file a handle stands for."""
    level = None if function.startswith("user:") else level_of(function)
    if level is None:
        return None
    name = re.sub(r"^PMPI_", "MPI_", function)
    plain = undecorated(function)
    if level is Level.MPIIO:
        return _mpi_io(name, plain, arguments, handles)
    if level is Level.HDF5:
        return _hdf5(name, plain, arguments, handles)
    file, offset, sizes, argument = next(
        (at for names, at in _C.items() if re.fullmatch(names, plain)), (0, None, (), None)
    )
    asked = [_integer(arguments, size) for size in sizes]
    product = None
    for size in asked:
        product = size if product is None or size is None else product * size
    return Meaning(
        level,
        name,
        kind_of(name),
        arguments[file] if file is not None and file < len(arguments) else None,
        _integer(arguments, offset),
        product,
        _integer(arguments, argument),
    )


def _mpi_io(name: str, plain: str, arguments: Sequence[str], handles: dict[str, Opened]) -> Meaning:
    kind = kind_of(name)
    if kind is Kind.OPEN and len(arguments) > 4:
        handles.setdefault(arguments[4], Opened(arguments[1]))
        return Meaning(Level.MPIIO, name, kind, arguments[1], argument=_integer(arguments, 2))
    opened = handles.get(arguments[0]) if arguments else None
    path = opened.path if opened else None
    if kind is Kind.VIEW and opened:
        opened.has_view = True
    if not _TRANSFER.fullmatch(plain) or kind not in (Kind.READ, Kind.WRITE):
        return Meaning(Level.MPIIO, name, kind, path)
    at = bool(_AT.fullmatch(plain))
    count = _integer(arguments, 3 if at else 2)
    size = TYPE_BYTES.get(arguments[4 if at else 3]) if len(arguments) > (4 if at else 3) else None
    # Under a view, offsets count its elements, whose sizes are not recorded.
    offset = _integer(arguments, 1) if at and opened and not opened.has_view else None
    return Meaning(Level.MPIIO, name, kind, path, offset, count * size if count is not None and size else None)


def _hdf5(name: str, plain: str, arguments: Sequence[str], handles: dict[str, Opened]) -> Meaning:
    is_file = plain in ("h5fcreate", "h5fopen")
    return Meaning(Level.HDF5, name, kind_of(name), arguments[0] if is_file and arguments else None)


def _integer(arguments: Sequence[str], at: int | None) -> int | None:
    if at is None or at >= len(arguments) or not re.fullmatch(r"-?\d{1,18}", arguments[at]):
        return None
    return int(arguments[at])
