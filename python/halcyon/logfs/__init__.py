"""Log containers as files: many writers, one file, no waiting.

    from halcyon import logfs

    with logfs.open("/scratch/checkpoint", "wb") as file:  # as open() does, but it is a container
        file.write(field)
    logfs.flatten("/scratch/checkpoint")  # a plain file takes its place

`open` gives what Python's own gives; `check`, `repair`, `flatten`, `map`, `stats`, `punch`, `export_plfs` and `remove`
are the commands of `halcyon log`; `rename` gives a container another name, and `bring` takes what lies on this node's
disk into it. Calls raise the errors of halcyon.errors; where the system refused, these are also the built-in exceptions
for its errno, such as FileNotFoundError. Buffers are never copied, and other threads run during all calls that read or
write.
"""

from halcyon.logfs.file import fsync, open, refresh  # noqa: A004
from halcyon.logfs.raw_file import LogFile
from halcyon.logfs.tools import (
    BringReport,
    CheckReport,
    Figures,
    FileMap,
    Finding,
    FlattenReport,
    PlfsReport,
    PunchReport,
    RepairReport,
    Staged,
    Status,
    Writer,
    bring,
    check,
    export_plfs,
    flatten,
    is_container,
    map,  # noqa: A004
    punch,
    remove,
    rename,
    repair,
    stats,
    status,
)

__all__ = [
    "BringReport",
    "CheckReport",
    "Figures",
    "FileMap",
    "Finding",
    "FlattenReport",
    "LogFile",
    "PlfsReport",
    "PunchReport",
    "RepairReport",
    "Staged",
    "Status",
    "Writer",
    "bring",
    "check",
    "export_plfs",
    "flatten",
    "fsync",
    "is_container",
    "map",
    "open",
    "punch",
    "refresh",
    "remove",
    "rename",
    "repair",
    "stats",
    "status",
]
