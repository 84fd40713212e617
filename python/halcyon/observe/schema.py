"""The tables of a data set: one schema for Halcyon's own traces and for those of other tools.

A data set is a folder with `run.json` and one Parquet table per entry of TABLES: `calls/*.parquet` (many files), all
others `<name>.parquet`. What a source does not hold is null, never guessed; a table that a source knows nothing of is
there, with no rows.

Times are nanoseconds since the run's start (`run.json`: `start`, seconds of the epoch), on one clock for all processes.
Offsets and sizes are bytes. `process` and `file` are indices into the tables of those names.
"""

from dataclasses import dataclass

import pyarrow as pa

from halcyon.exit_status import ended_badly
from halcyon.observe.call_words import Kind as Kind
from halcyon.observe.call_words import Level as Level

VERSION = 3
"""Of the schema. A reader refuses a higher one and reads all lower ones: 1 had no `calls.context`, 2 no level `log`."""

_name = pa.dictionary(pa.int32(), pa.string())


def _field(name: str, kind: pa.DataType, meaning: str, *, null: bool = True) -> pa.Field:
    return pa.field(name, kind, nullable=null, metadata={"meaning": meaning})


CALLS = pa.schema(
    [
        _field("process", pa.int32(), "the process that called", null=False),
        _field("thread", pa.int32(), "its thread, counted from 0 in the order of their first calls"),
        _field("number", pa.int64(), "of the call within its thread, in the order of their beginnings, from 1"),
        _field("parent", pa.int64(), "number of the call of the same thread during which this one was made"),
        _field("level", _name, "the interface: hdf5, mpiio, stdio, posix, log (see above)", null=False),
        _field(
            "call", _name, "the function, as in its manual: pwrite, fwrite, MPI_File_write_at; log pwrite", null=False
        ),
        _field("kind", _name, "what it does: open, read, write, lock, …", null=False),
        _field("parent_level", _name, "level of the parent; null for the application's own calls"),
        _field("parent_call", _name, "function of the parent; null for the application's own calls"),
        _field("file", pa.int32(), "the file"),
        _field(
            "offset",
            pa.int64(),
            "where in the file it began to read, write, lock or map; null for stdio where the calls that it made tell "
            "(see `moved`)",
        ),
        _field(
            "bytes",
            pa.int64(),
            "how many the caller asked for; of locks and maps the range, of resizes the size that they name: only "
            "`read`, `write` and `copy` count in sums of bytes",
        ),
        _field(
            "moved",
            pa.int64(),
            "read, write, copy: how many bytes were transferred. Null for stdio in Halcyon's recordings: there, what "
            "went between its buffer and the file, whichever call had asked for it, is a call `stdio read` or "
            "`stdio write` of level posix, made by the call during which it went",
        ),
        _field("result", pa.int64(), "what it returned, where that is a number"),
        _field("error", pa.int32(), "errno, or the MPI error class; null when it succeeded"),
        _field("start_ns", pa.int64(), "when it began"),
        _field("duration_ns", pa.int64(), "how long it took, without wait_ns"),
        _field("wait_ns", pa.int64(), "how long Halcyon held it back before (a turn that was waited for)"),
        _field("self_ns", pa.int64(), "duration_ns less duration_ns and wait_ns of the calls it made itself"),
        _field(
            "step",
            pa.int64(),
            "offset less the end of this process's transfer before it in the same file, of the "
            "same level and kind; 0 is consecutive; null for the first, and where nothing was transferred",
        ),
        _field(
            "argument", pa.int64(), "depends on the call: open flags, whence, the other file, … (see the reference)"
        ),
        _field(
            "context",
            pa.int64(),
            "number of the call stack from which it was made, 1 to 2³² - 1, the same in all runs of the same binaries; "
            "its frames are a fact `context.` with the number in eight hexadecimal digits; null without one",
        ),
    ]
)

PROCESSES = pa.schema(
    [
        _field("process", pa.int32(), "index, from 0", null=False),
        _field("rank", pa.int32(), "in MPI_COMM_WORLD"),
        _field("host", pa.string(), "name of the node"),
        _field("pid", pa.int64(), "process id"),
        _field("parent_pid", pa.int64(), "of the process that started it"),
        _field("program", pa.string(), "path of the executable"),
        _field("command", pa.string(), "command line"),
        _field("start_ns", pa.int64(), "when recording began"),
        _field("end_ns", pa.int64(), "when it ended"),
        _field("ended", pa.string(), "exit, exec (became another program) or killed"),
        _field("calls", pa.int64(), "records in this data set"),
        _field("lost", pa.int64(), "calls known to have been made and not recorded"),
        _field("clock_error_ns", pa.int64(), "bound of the error of its times against the other processes'"),
    ]
)

FILES = pa.schema(
    [
        _field("file", pa.int32(), "index, from 0", null=False),
        _field("path", pa.string(), "absolute where the source has it so", null=False),
        _field("filesystem", pa.string(), "type: ext4, lustre, nfs, …"),
        _field("block_bytes", pa.int64(), "what accesses should be aligned to (the file system's block)"),
        _field("stripe_bytes", pa.int64(), "size of a stripe, where the layout is known"),
        _field("servers", pa.list_(pa.string()), "the file's servers or storage targets in the order of its stripes"),
    ]
)

COUNTERS = pa.schema(
    [
        _field("process", pa.int32(), "whose; null: all processes together"),
        _field("file", pa.int32(), "of which file; null: of none in particular"),
        _field(
            "module", pa.string(), "the source's name for where it counted: POSIX, MPI-IO, STDIO, LUSTRE", null=False
        ),
        _field("counter", pa.string(), "the source's name", null=False),
        _field("integer", pa.int64(), "value, where it is a whole number"),
        _field("real", pa.float64(), "value, where it is not"),
    ]
)

ACTIVITY = pa.schema(
    [
        _field("process", pa.int32(), "whose; null: all processes together"),
        _field("module", pa.string(), "the source's name for where it counted", null=False),
        _field("kind", pa.string(), "read or write", null=False),
        _field("start_ns", pa.int64(), "begin of the interval", null=False),
        _field("width_ns", pa.int64(), "length of the interval", null=False),
        _field("bytes", pa.int64(), "moved within it", null=False),
    ]
)

FACTS = pa.schema(
    [
        _field("process", pa.int32(), "of which process; null: of the run"),
        _field("file", pa.int32(), "of which file; null: of none in particular"),
        _field("time_ns", pa.int64(), "when it was seen"),
        _field(
            "key",
            pa.string(),
            "dotted: mpi.library, mpi.hint.romio_ds_write, mpi.view, environment.ROMIO_HINTS, hdf5.version, "
            "context.1f00a3b7",
            null=False,
        ),
        _field("value", pa.string(), "its value", null=False),
    ]
)

ABSENCES = pa.schema(
    [
        _field("process", pa.int32(), "in which process; null: in the run"),
        _field(
            "what",
            pa.string(),
            "one of: not-seen (could not be), lost (was, and is gone), partial (cut short by its source)",
            null=False,
        ),
        _field("subject", pa.string(), "io_uring, mmap stores, full disk, a static program, …", null=False),
        _field("count", pa.int64(), "how many; null: not known"),
        _field("detail", pa.string(), "a sentence for the user"),
    ]
)

TABLES: dict[str, pa.Schema] = {
    "calls": CALLS,
    "processes": PROCESSES,
    "files": FILES,
    "counters": COUNTERS,
    "activity": ACTIVITY,
    "facts": FACTS,
    "absences": ABSENCES,
}


@dataclass(frozen=True)
class RunInfo:
    """`run.json`: what is known of the run as a whole."""

    source: str
    """The tool that recorded it, with version: `halcyon 0.1.0`, `darshan 3.4.1`."""
    start: float | None
    """Seconds of the epoch at which times begin; null where the source does not know."""
    duration_ns: int | None
    """Of the run, from the start of its first process to the end of its last."""
    ranks: int | None
    """Size of MPI_COMM_WORLD; null where there was none."""
    command: str | None = None
    user: str | None = None
    job: str | None = None
    """The scheduler's name for it."""
    exit_status: int | None = None
    """Of the recorded command as shells tell it: 128 + n where signal n ended it; null where it is not known."""
    exit_signal: int | None = None
    """The signal that ended the recorded command itself; null where none did, or it is not known."""
    version: int = VERSION

    @property
    def ended_badly(self) -> str | None:
        """How the command ended, in a sentence; None: well, or nobody knows."""
        return ended_badly(self.exit_status, self.exit_signal)
