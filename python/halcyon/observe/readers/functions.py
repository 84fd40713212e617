"""Which level a function of a foreign trace belongs to, and what kind of call it is.

Of the functions that Halcyon records, too, its own table says so (call_table.py). Here are the others.
"""

import re
from functools import cache

from halcyon.observe.call_table import Function, functions
from halcyon.observe.schema import Kind, Level

DEPTH = {level: depth for depth, level in enumerate(Level)}
"""A level calls those of greater depth."""

# Without decoration (undecorated).
_OTHERS: dict[str, tuple[Level, Kind]] = {
    "shm_open": (Level.POSIX, Kind.OPEN),
    "faccessat2": (Level.POSIX, Kind.STAT),
    "realpath": (Level.POSIX, Kind.STAT),
    "seekdir": (Level.POSIX, Kind.DIRECTORY),
    "telldir": (Level.POSIX, Kind.DIRECTORY),
    "scandir": (Level.POSIX, Kind.DIRECTORY),
    "ftell": (Level.STDIO, Kind.SEEK),
    "ftello": (Level.STDIO, Kind.SEEK),
    "fgetpos": (Level.STDIO, Kind.SEEK),
    "fileno": (Level.STDIO, Kind.CONTROL),
    "feof": (Level.STDIO, Kind.CONTROL),
    "ferror": (Level.STDIO, Kind.CONTROL),
    "ungetc": (Level.STDIO, Kind.CONTROL),
}

# Of HDF5 (version 1.14 has hundreds of functions); the first pattern that matches the whole name counts.
_HDF5: list[tuple[str, Kind]] = [
    (r"h5f(open|create)\w*", Kind.OPEN),
    (r"h5fclose\w*", Kind.CLOSE),
    (r"h5[da]read\w*", Kind.READ),
    (r"h5[da]write\w*", Kind.WRITE),
    (r"h5[fd]flush\w*", Kind.SYNC),
    (r"h5dset_extent\w*", Kind.RESIZE),
    (r"h5lexists\w*", Kind.STAT),
    (r"h5l\w+|h5[dga]create\w*|h5[ag](delete|rename)\w*", Kind.NAMESPACE),
    (r"h5eswait", Kind.WAIT),
]


@cache
def undecorated(name: str) -> str:
    """`pwrite` for `__pwrite64`, `xstat` for `__xstat64`, `mpi_file_open` for `PMPI_File_open`."""
    plain = name.lower()
    if not plain.startswith("_io_"):
        plain = plain.lstrip("_")
    return re.sub(r"^pmpi_", "mpi_", plain).removesuffix("64")


@cache
def _by_spelling() -> dict[str, Function]:
    """The table's functions by all their spellings; where two share one, by their names first."""
    every = functions().values()
    exact = {spelling: one for one in every for spelling in one.spellings}
    named = {one.name: one for one in every}
    plain = {undecorated(spelling): one for spelling, one in (exact | named).items()}
    return plain | {undecorated(name): one for name, one in named.items()} | exact | named


@cache
def _recorded(name: str) -> Function | None:
    """The row of the table for a function, as another tool writes its name; None: Halcyon does not record it."""
    known = _by_spelling()
    return known.get(name) or known.get(undecorated(name))


@cache
def kind_of(name: str) -> Kind:
    """What a function does; CONTROL for names that say nothing."""
    known = _recorded(name)
    if known:
        return known.kind
    plain = undecorated(name)
    if plain.startswith("h5"):
        return next((kind for pattern, kind in _HDF5 if re.fullmatch(pattern, plain)), Kind.CONTROL)
    return _OTHERS[plain][1] if plain in _OTHERS else Kind.CONTROL


@cache
def level_of(name: str) -> Level | None:
    """The interface of a function; null for MPI's functions that are none of MPI-IO."""
    plain = undecorated(name)
    if plain.startswith("h5"):
        return Level.HDF5
    if plain.startswith("mpi_file_"):
        return Level.MPIIO
    if plain.startswith("mpi_"):
        return None
    known = _recorded(name)
    if known:
        return known.level
    return _OTHERS[plain][0] if plain in _OTHERS else Level.POSIX
