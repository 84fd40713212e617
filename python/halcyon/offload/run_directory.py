"""Opens what a run left behind: typed values and Ibis tables. The files are described in docs/run-directory.md."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from halcyon.errors import UsageError
from halcyon.offload.run_csv import read_numbers
from halcyon.offload.run_files import Counts, Manifest, read_counts, read_manifest, read_object
from halcyon.offload.steering_records import Steered, read_steering

PHASE_COLUMNS = ("iteration", "rank", "begin_ns", "visible_ns", "blocked_ns", "compute_ns", "bytes")
FILE_COLUMNS = (
    "first_iteration",
    "last_iteration",
    "part",
    "complete_ns",
    "begin_ns",
    "end_ns",
    "slot_wait_ns",
    "compress_ns",
    "write_ns",
    "raw_bytes",
    "stored_bytes",
    "compressed",
)


@dataclass(frozen=True)
class Run:
    """One run. `phases` and `files` are the CSV files of all writers, with a column `writer` in front; `steering` is
    what users changed meanwhile.

    `gaps` says, in sentences, what the directory lacks because a process was killed or a file was cut off.
    """

    directory: Path
    manifest: Manifest
    phases: ibis.Table
    files: ibis.Table
    counts: Mapping[str, Counts]
    application: Mapping[str, Any]
    gaps: tuple[str, ...]
    steering: tuple[Steered, ...] = ()

    @property
    def servers(self) -> list[str]:
        """Writers that are servers; inline clients, which store inside the simulation, are not."""
        return sorted(name for name in {*self.manifest.writers, *self.counts} if name.startswith("n"))


def open_run(path: Path) -> Run:
    """Reads the run in directory `path` (or of the run.json that `path` names).

    UsageError: there is no run. ConfigError: a file is malformed, with file and line. A run that was killed is read
    as far as it got; `Run.gaps` tells what is missing.
    """
    directory = path.parent if path.name == "run.json" else path
    if not (directory / "run.json").is_file():
        raise UsageError(_no_run(directory))
    manifest = read_manifest(directory / "run.json")
    gaps: list[str] = []
    phases = _read_all(directory, "phases", PHASE_COLUMNS, gaps)
    phases = _last_of_repeated(_as_application_saw(phases), gaps)
    files = _read_all(directory, "server", FILE_COLUMNS, gaps)
    counts = {_writer_of(file): read_counts(file) for file in sorted(directory.glob("counts-*.json"))}
    steering = read_steering(directory, gaps)
    gaps += _unfinished(manifest, counts, files)
    gaps += _ranks_missing(phases, manifest.ranks)
    application = directory / "app.json"
    return Run(
        directory=directory,
        manifest=manifest,
        phases=ibis.memtable(phases),
        files=ibis.memtable(files),
        counts=counts,
        application=read_object(application) if application.is_file() else {},
        gaps=tuple(gaps),
        steering=steering,
    )


def _no_run(directory: Path) -> str:
    expected = "expected the directory of a run's output, which has a run.json"
    if not directory.is_dir():
        return f"{directory}: {'not a' if directory.exists() else 'no such'} directory; {expected}"
    below = sorted(str(found.parent) for found in directory.glob("*/run.json"))
    if not below:
        return f"{directory}: no run.json here; {expected}"
    more = f" and {len(below) - _NAMED:,} more" if len(below) > _NAMED else ""
    return f"{directory}: no run.json here; runs below it: {' '.join(below[:_NAMED])}{more}"


_NAMED = 3
"""Runs that a message names."""


def _writer_of(file: Path) -> str:
    return file.stem.partition("-")[2]


def _read_all(directory: Path, kind: str, columns: tuple[str, ...], gaps: list[str]) -> pa.Table:
    """All files `<kind>-<writer>.csv` as one table; says which were cut off."""
    schema = pa.schema([("writer", pa.string()), *((name, pa.int64()) for name in columns)])
    tables = [schema.empty_table()]
    for file in sorted(directory.glob(f"{kind}-*.csv")):
        numbers = read_numbers(file, columns)
        if numbers.cut_off:
            gaps.append(f"{file.name}: the last line is cut off and left out")
        names = pa.array([_writer_of(file)] * numbers.rows.num_rows, pa.string())
        tables.append(numbers.rows.add_column(0, "writer", names))
    return pa.concat_tables(tables).combine_chunks()


def _as_application_saw(phases: pa.Table) -> pa.Table:
    """Where the application measured its phases itself its times count: they include what it did around the calls.

    From the servers' lines of these phases only the wait for room is taken.
    """
    own = phases.filter(pc.equal(phases["writer"], "app"))
    others = phases.filter(pc.not_equal(phases["writer"], "app"))
    if not own.num_rows or not others.num_rows:
        return phases
    waits = {(row["iteration"], row["rank"]): row["blocked_ns"] for row in others.to_pylist()}
    keys = list(zip(own["iteration"].to_pylist(), own["rank"].to_pylist(), strict=True))
    blocked = pa.array([waits.get(key, 0) for key in keys], pa.int64())
    own = own.set_column(own.column_names.index("blocked_ns"), "blocked_ns", blocked)
    said = set(keys)
    unsaid = [key not in said for key in zip(others["iteration"].to_pylist(), others["rank"].to_pylist(), strict=True)]
    return pa.concat_tables([own, others.filter(pa.array(unsaid, pa.bool_()))]).combine_chunks()


def _last_of_repeated(phases: pa.Table, gaps: list[str]) -> pa.Table:
    """A restarted server may record a phase again; the later line counts."""
    keys = np.stack([phases["iteration"].to_numpy(), phases["rank"].to_numpy()], axis=1)
    _, from_end = np.unique(keys[::-1], axis=0, return_index=True)
    repeated = len(keys) - len(from_end)
    if not repeated:
        return phases
    gaps.append(f"{repeated} {'line' if repeated == 1 else 'lines'} of phases repeated; the last of each counts")
    return phases.take(np.sort(len(keys) - 1 - from_end))


def _unfinished(manifest: Manifest, counts: Mapping[str, Counts], files: pa.Table) -> Iterable[str]:
    """Who should have left counts and did not, or left them without the mark of an orderly end."""
    halcyon = manifest.approach.startswith("halcyon")
    expected = {*(manifest.writers if halcyon else ()), *files["writer"].unique().to_pylist()}
    for writer in sorted(expected | set(counts)):
        who = "server" if writer.startswith("n") else "client"
        if writer not in counts:
            yield f"{who} {writer} has not finished: it left no counts-{writer}.json"
        elif not counts[writer].finished:
            yield f"{who} {writer} has not finished: its counts stop at iteration {counts[writer].iterations}"
    if halcyon and not manifest.ended_ns:
        yield "the simulation never closed its session: run.json has no ended_ns"


def _ranks_missing(phases: pa.Table, ranks: int) -> Iterable[str]:
    iterations, seen = np.unique(phases["iteration"].to_numpy(), return_counts=True)
    short = iterations[seen < ranks]
    if len(short) == 1:
        yield f"iteration {short[0]} was recorded by {seen[seen < ranks][0]} of {ranks} ranks"
    elif len(short):
        yield f"{len(short)} of {len(iterations)} iterations were recorded by some ranks only (the first: {short[0]})"
