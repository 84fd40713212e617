"""Which level a function of a foreign trace belongs to, and what kind of call it is."""

import re
from functools import cache

from halcyon.observe.schema import Kind, Level

DEPTH = {Level.HDF5: 0, Level.MPIIO: 1, Level.STDIO: 2, Level.POSIX: 3}
"""A level calls those of greater depth."""

_STDIO = re.compile(
    r"f(open|dopen|reopen|close|closeall|read|write|flush|seek|seeko|tell|tello|setpos|getpos|printf|scanf|gets|getc|puts"
    r"|putc|ileno|error|eof)|v?fprintf|vfscanf|rewind|setv?buf|setbuffer|setlinebuf|getc|putc|ungetc|getline|getdelim"
    r"|tmpfile|_io_getc|_io_putc"
)

# Of names without decoration (undecorated); the first that matches the whole name counts.
_KINDS: list[tuple[str, Kind]] = [
    # MPI-IO
    (r"mpi_file_open", Kind.OPEN),
    (r"mpi_file_close", Kind.CLOSE),
    (r"mpi_file_\w+_end|mpi_(wait|test)\w*", Kind.WAIT),
    (r"mpi_file_i?read\w*", Kind.READ),
    (r"mpi_file_i?write\w*", Kind.WRITE),
    (r"mpi_file_seek\w*", Kind.SEEK),
    (r"mpi_file_sync", Kind.SYNC),
    (r"mpi_file_(set_size|preallocate)", Kind.RESIZE),
    (r"mpi_file_get_size", Kind.STAT),
    (r"mpi_file_(set_view|set_info|set_atomicity)", Kind.VIEW),
    (r"mpi_file_delete", Kind.NAMESPACE),
    (r"mpi_file_\w+", Kind.CONTROL),
    # HDF5
    (r"h5[fda](open|create)\w*", Kind.OPEN),
    (r"h5[fda]close\w*", Kind.CLOSE),
    (r"h5[da]read\w*", Kind.READ),
    (r"h5[da]write\w*", Kind.WRITE),
    (r"h5[fd]flush\w*", Kind.SYNC),
    (r"h5dset_extent\w*", Kind.RESIZE),
    (r"h5l\w+|h5[ag](delete|rename)\w*", Kind.NAMESPACE),
    (r"h5eswait", Kind.WAIT),
    (r"h5\w+", Kind.CONTROL),
    # C library and system
    (r"open(at2?)?|creat|fopen|fdopen|freopen|tmpfile|mkstemps?|mkostemps?|shm_open", Kind.OPEN),
    (r"close|fclose|fcloseall|close_range", Kind.CLOSE),
    (r"copy_file_range|sendfile|splice", Kind.COPY),
    (r"p?readv?2?|fread|fgets|fgetc|getc|_io_getc|getline|getdelim|v?fscanf|aio_read", Kind.READ),
    (r"p?writev?2?|fwrite|fputs|fputc|putc|_io_putc|v?fprintf|aio_write", Kind.WRITE),
    (r"lseek|fseeko?|rewind|fsetpos|ftello?|fgetpos", Kind.SEEK),
    (r"fsync|fdatasync|sync|syncfs|fflush|sync_file_range", Kind.SYNC),
    (r"f?truncate|posix_fallocate|fallocate", Kind.RESIZE),
    (r"flock|lockf", Kind.LOCK),
    (r"[fl]?x?stat(at|v?fs)?|fstatat|fxstatat|statx|faccessat2?|access|readlink(at)?|realpath", Kind.STAT),
    (r"(fd)?opendir|closedir|readdir(_r)?|rewinddir|seekdir|telldir|scandir|getdents", Kind.DIRECTORY),
    (r"mmap|munmap|msync|mremap", Kind.MAP),
    (r"aio_suspend|aio_return|lio_listio", Kind.WAIT),
    (
        r"(mk|rm)dir(at)?|unlink(at)?|remove|rename(at2?)?|(sym)?link(at)?|mknod(at)?|mkfifo(at)?|f?chmod(at)?",
        Kind.NAMESPACE,
    ),
    (r"[fl]?chown(at)?|utimes?|utimensat|futimens|[fl]?(set|remove)xattr|f?chdir", Kind.NAMESPACE),
]


@cache
def undecorated(name: str) -> str:
    """`pwrite` for `__pwrite64`, `stat` for `__xstat64`, `mpi_file_open` for `PMPI_File_open`."""
    plain = name.lower()
    if not plain.startswith("_io_"):
        plain = plain.lstrip("_")
    return re.sub(r"^pmpi_", "mpi_", plain).removesuffix("64")


@cache
def kind_of(name: str) -> Kind:
    """What a function does; CONTROL for names that say nothing."""
    plain = undecorated(name)
    return next((kind for pattern, kind in _KINDS if re.fullmatch(pattern, plain)), Kind.CONTROL)


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
    return Level.STDIO if _STDIO.fullmatch(plain) else Level.POSIX
