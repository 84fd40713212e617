"""Writes the reference page of data sets from schema.py.

python -m halcyon.observe.schema_page > docs/dataset.md
"""

import sys
from collections.abc import Iterator

import pyarrow as pa

from halcyon.observe.schema import TABLES, Kind, Level

INTRODUCTION = """\
# Data sets

<!-- Written by `python -m halcyon.observe.schema_page`; change observe/schema.py or that module instead. -->

A data set says what an application's I/O looked like: call by call where its source recorded calls, in counters where
it counted. `halcyon pack` makes one of a trace, Halcyon's own or [another tool's](foreign-traces.md); analyses, reports
and the viewer stand on it and do not care where it came from.

It is a folder of Parquet tables and `run.json`. A table that a source knows nothing of is there, with no rows; what a
source does not hold is null, never guessed. Times are nanoseconds since the run's start, on one clock for all
processes. Offsets and sizes are bytes. `process` and `file` are indices into the tables of those names.

    mpi-io-test.halcyon/
        run.json
        calls/part-00000.parquet    # 16 Mi calls each, sorted by process and start
        processes.parquet  files.parquet  counters.parquet  activity.parquet  facts.parquet  absences.parquet

Any tool that reads Parquet reads the tables:

    duckdb -c "select call, count(*), sum(duration_ns) / 1e9 as s from 'run.halcyon/calls/*.parquet' group by all"

From Python, `Dataset` opens a data set as Ibis tables of an engine: DuckDB in the same process, `local-spark`, or
`spark://HOST:PORT` for what is too large for one machine (`pip install 'halcyon[spark]'`, Java 17). The same
expressions work on all of them.

```python
from halcyon.observe.dataset import Dataset

with Dataset.open("run.halcyon") as run:
    slowest = run.calls.order_by(run.calls.duration_ns.desc()).limit(10)
    print(slowest.join(run.files, "file", how="left").to_pyarrow())
```

A data set is whole or not there: it is written under a hidden name and gets its own when all is on the device.
`run.json` names every file with its size and CRC-32. Whoever opens a data set reads all files once and compares (about
a second per GiB; `Dataset.open` with `verify=False` leaves it at names, sizes and columns). A file that is missing, cut
off or damaged, and a data set of a newer Halcyon, are refused by name.

## run.json

| key | meaning |
|---|---|
| `version` | of this schema; a Halcyon reads its own and all lower ones |
| `source` | the tool that recorded the run, with its version |
| `start` | seconds of the epoch at which times begin; null where the source does not know |
| `duration_ns` | from the start of the run's first process to the end of its last |
| `ranks` | size of MPI_COMM_WORLD; null where there was none |
| `command`, `user`, `job` | command line, who ran it, the scheduler's name for it |
| `exit_status` | of the recorded command, as shells tell it (128 + n: signal n ended it); null where not known |
| `exit_signal` | the signal that ended the recorded command itself; null where none did, or it is not known |
| `parts` | each Parquet file with `rows`, `bytes` and `crc32` |
| `crc32` | of everything else in this file |
"""

LOG = """\
**Level `log`.** Calls of a program on a file below a directory that `halcyon run --log` names are of the levels above,
on the logical file: its path, and offsets in it. What the [log](logs.md) asks of the file system to answer them are
calls of level `log`, named after their system calls (`log pwrite`), on the files of the container
(`…/hostdir.3/data.…`). Their parent is the call that is answered; it is null where there is none: when the log finds
out whether a path is one of its files, or when the process ends. They move the bytes of that call once more: sums of
bytes are of one level, or leave `log` out, as all analyses do.

- An index that is mapped into the process is changed by stores into memory: they are no calls. `log mmap` tells that it
  is mapped.
- Calls of other processes are not there: of the agent that brings what is staged or makes plain files, and of
  `halcyon mount`. Neither is what a program maps of a log file: a copy in its memory.

How often the file system was asked for what, and how many bytes it got:

    duckdb -c "select kind, count(*), sum(moved) from 'run.halcyon/calls/*.parquet' where level = 'log' group by all"
"""

DERIVED = """\
`parent_level`, `parent_call`, `self_ns` and `step` follow from the other columns; `halcyon pack` fills them for every
source. A call is consecutive when `step` is 0, goes on ahead when it is positive, goes back when it is negative.
"""


def _type(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        return "string"
    return f"list of {_type(kind.value_type)}" if pa.types.is_list(kind) else str(kind)


def _table(name: str, schema: pa.Schema) -> Iterator[str]:
    yield f"\n## {name}\n"
    if name == "calls":
        yield DERIVED
        yield LOG
    yield "| column | type | null | meaning |"
    yield "|---|---|---|---|"
    for field in schema:
        meaning = field.metadata[b"meaning"].decode()
        yield f"| `{field.name}` | {_type(field.type)} | {'yes' if field.nullable else ''} | {meaning} |"


def _words() -> Iterator[str]:
    yield "\n## Words\n"
    yield f"`level`: {', '.join(f'`{level}`' for level in Level)}."
    yield ""
    yield f"`kind`: {', '.join(f'`{kind}`' for kind in Kind)}."


def page() -> str:
    """The whole page as Markdown."""
    lines = [INTRODUCTION.rstrip("\n")]
    for name, schema in TABLES.items():
        lines += _table(name, schema)
    return "\n".join([*lines, *_words()]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
