"""Words for what a call is, in traces and in data sets (schema.py)."""

from enum import StrEnum


class Level(StrEnum):
    """The interface that was called, from the application's side down."""

    HDF5 = "hdf5"
    MPIIO = "mpiio"
    STDIO = "stdio"
    POSIX = "posix"
    LOG = "log"  # no interface of the application's: what a log (`halcyon run --log`) asks of the file system


class Kind(StrEnum):
    """What a call does, whatever its name and level."""

    OPEN = "open"
    CLOSE = "close"
    READ = "read"
    WRITE = "write"
    COPY = "copy"  # from one file into another (copy_file_range, sendfile, splice): `file` is the destination
    SEEK = "seek"
    SYNC = "sync"
    RESIZE = "resize"  # truncate, fallocate, MPI_File_set_size
    LOCK = "lock"
    UNLOCK = "unlock"
    STAT = "stat"  # asks about a file: stat, access, readlink, MPI_File_get_size
    NAMESPACE = "namespace"  # changes names or attributes: mkdir, unlink, rename, chmod
    DIRECTORY = "directory"  # opendir, readdir
    MAP = "map"  # mmap, msync, munmap of files
    VIEW = "view"  # MPI_File_set_view, set_info, set_atomicity
    WAIT = "wait"  # for a transfer started before: MPI_Wait, aio_suspend, MPI_File_write_all_end
    CONTROL = "control"  # dup, fcntl but for locks, ioctl, fadvise
