"""Darshan logs: counters of all modules, DXT's transfers as calls, heatmaps as activity, Lustre layouts, job metadata.

Runs in a process of its own (isolation.py): the library, libdarshan-util, trusts what it reads.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from darshan.backend import cffi_backend as backend
from darshan.backend.apmpi import log_get_apmpi_record
from darshan.backend.apxc import log_get_apxc_record

from halcyon.errors import ConfigError
from halcyon.observe.dataset_writer import DatasetWriter
from halcyon.observe.readers.darshan_dxt import NEWEST, dxt_records
from halcyon.observe.readers.darshan_places import places_of
from halcyon.observe.readers.file_index import FileIndex
from halcyon.observe.schema import Kind, Level, RunInfo

MOST_PROCESSES = 1 << 24
"""More than any machine has run; a damaged header says more."""

DXT_LEVELS = {"DXT_POSIX": Level.POSIX, "DXT_MPIIO": Level.MPIIO}
AUTO_READERS: dict[str, Callable[..., Any]] = {"APMPI": log_get_apmpi_record, "APXC": log_get_apxc_record}

CUT = "Darshan ran out of the memory it had for this module"
DXT_CUT = f"{CUT}; bandwidths, times and the time of MPI-IO's own are by its counters, all else of the calls in the log"
DXT_UNSEEN = "DXT records reads and writes alone; the counters count the other calls"
DXT_NAMELESS = "DXT tells reads from writes, not which function it was: calls are named read and write"


class _Checked:
    """The C library with failures as errors: its Python side takes a failed read for the end of the records."""

    def __init__(self, library: Any, path: Path) -> None:
        self._library = library
        self._path = path

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._library, name)
        if not name.startswith("darshan_log_get_") or name.endswith("_version"):
            return function

        def checked(*arguments: Any) -> Any:
            result = function(*arguments)
            if isinstance(result, int) and result < 0:
                part = name.removeprefix("darshan_log_get_").replace("_", " ")
                if name == "darshan_log_get_record":
                    part = f"a record of module {backend._mod_names[arguments[1]]}"
                raise ConfigError(f"{self._path}: {part} cannot be read: the log is damaged or cut off")
            return result

        return checked


class DarshanLog:
    """One open log. `write` hands its contents to a DatasetWriter."""

    def __init__(self, path: Path) -> None:
        self.path = path
        backend.libdutil = _Checked(getattr(backend.libdutil, "_library", backend.libdutil), path)
        self.log = backend.log_open(str(path))
        if self.log["handle"] == backend.ffi.NULL:
            raise ConfigError(
                f"{path}: offset 0: not a Darshan log that {self._library()} reads: damaged, cut off or too new"
            )
        self.job = backend.log_get_job(self.log)
        if not 0 < self.job["nprocs"] <= MOST_PROCESSES:
            raise ConfigError(f"{path}: a run of {self.job['nprocs']} processes: the log is damaged")
        self.modules: dict[str, Any] = backend.log_get_modules(self.log)
        mounts = [(str(where), str(kind)) for where, kind in backend.log_get_mounts(self.log)]
        self.mounts = sorted(mounts, key=lambda mount: -len(mount[0]))
        self.files = FileIndex(backend.log_get_name_records(self.log))
        self.hosts: dict[int, str] = {}
        self.threads: dict[int, dict[int, int]] = {}
        """Of each process, the numbers of its threads by their ids."""

    @staticmethod
    def _library() -> str:
        return f"libdarshan-util {backend.get_lib_version()}"

    def info(self) -> RunInfo:
        job = self.job
        return RunInfo(
            source=f"darshan {job['metadata'].get('lib_ver', job['log_ver'])}",
            start=job["start_time_sec"] + job["start_time_nsec"] / 1e9,
            duration_ns=round(job["run_time"] * 1e9),
            ranks=job["nprocs"],
            command=backend.log_get_exe(self.log) or None,
            user=str(job["uid"]),
            job=str(job["jobid"]),
        )

    def write(self, writer: DatasetWriter) -> None:
        """All modules, in the order of the log; then what they said of files and processes."""
        for module in self.modules:
            try:
                self._write_module(writer, module)
            except (ConfigError, MemoryError) as why:
                reason = str(why).removeprefix(f"{self.path}: ") or "a length beyond all memory: the log is damaged"
                raise ConfigError(f"{self.path}: {self._place(module)}{reason}") from why
        self._write_absences(writer)
        self._write_facts(writer)
        self._write_processes(writer)
        for row in self.files.rows:
            row.setdefault("filesystem", self._filesystem(row["path"]))
        writer.write("files", self.files.table())

    def _write_module(self, writer: DatasetWriter, module: str) -> None:
        if module in DXT_LEVELS:
            self._write_dxt(writer, module)
        elif module == "LUSTRE":
            self._write_lustre(writer)
        elif module == "HEATMAP":
            self._write_heatmaps(writer)
        elif module in AUTO_READERS:
            self._write_auto(writer, module)
        elif module in backend._structdefs and backend.counter_names(module) is not None:
            self._write_counters(writer, module)
        else:
            _absent(writer, "not-seen", module, f"{self._library()} has no reader for this module")

    def _places(self) -> dict[int, range]:
        """Of the modules, by their index."""
        return places_of(self.path, {known["idx"]: known["len"] for known in self.modules.values()})

    def _place(self, module: str) -> str:
        """The bytes of the file in which the module lies; its library does not tell where in them it fails."""
        place = self._places().get(self.modules[module]["idx"])
        return f"offsets {place.start} to {place.stop}, module {module}: " if place else ""

    def _records(self, module: str) -> Iterator[dict[str, Any]]:
        while (record := backend.log_get_record(self.log, module, dtype="dict")) is not None:
            yield record

    def _write_counters(self, writer: DatasetWriter, module: str) -> None:
        names = [*backend.counter_names(module), *backend.fcounter_names(module)]
        while (record := backend.log_get_record(self.log, module, dtype="numpy")) is not None:
            file = self.files.of(record["id"])
            integers, reals = record["counters"], record["fcounters"]
            _count(writer, self._process(record["rank"]), file, module, names, integers, reals)
            if module == "POSIX":
                alignment = int(integers[names.index("POSIX_FILE_ALIGNMENT")])
                self.files.rows[file]["block_bytes"] = alignment if alignment > 0 else None

    def _write_auto(self, writer: DatasetWriter, module: str) -> None:
        """MPI functions (APMPI) and network counters (APXC): a header, then a record of each process."""
        read = AUTO_READERS[module]
        if read(self.log, module, "HEADER") is None:
            return
        while (record := read(self.log, module, "PERF")) is not None:
            process = self._process(record["rank"])
            if process is not None and record.get("node_name"):
                self.hosts.setdefault(process, record["node_name"])
            groups = [group for group in record.values() if isinstance(group, dict)]
            whole = {name: value for group in groups for name, value in group.items() if isinstance(value, np.integer)}
            real = {name: value for group in groups for name, value in group.items() if name not in whole}
            integers = np.array(list(whole.values()), np.uint64).view(np.int64)
            _count(writer, process, None, module, [*whole, *real], integers, np.array(list(real.values()), np.float64))

    def _write_dxt(self, writer: DatasetWriter, module: str) -> None:
        level, version = DXT_LEVELS[module], self.modules[module]["ver"]
        place = self._places().get(self.modules[module]["idx"])
        if place is None or version > NEWEST[module]:
            why = f"version {version} of its format, newer than {NEWEST[module]}," if place else "its place in the log"
            _absent(writer, "not-seen", f"{module}: all transfers", f"{why} is not known; counters tell their sums")
            return
        # The first version of DXT's MPI-IO records had no offsets.
        has_offset = level == Level.POSIX or version >= 2
        for record in dxt_records(self.path, place, module, version):
            process, segments = self._process(record.rank), record.segments
            if process is None:
                raise ConfigError(f"{self.path}: a transfer of rank {record.rank}: the log is damaged")
            self.hosts.setdefault(process, record.host)
            count, writes = len(segments), record.writes
            words = pa.array([Kind.WRITE] * writes + [Kind.READ] * (count - writes), pa.string()).dictionary_encode()
            start = np.rint(segments["start"] * 1e9)
            columns = {
                "process": pa.repeat(pa.scalar(process, pa.int32()), count),
                "level": pa.repeat(level, count).dictionary_encode(),
                "call": words,
                "kind": words,
                "file": pa.repeat(pa.scalar(self.files.of(record.file_id), pa.int32()), count),
                "offset": pa.array(segments["offset"]) if has_offset else pa.nulls(count, pa.int64()),
                "moved": pa.array(segments["length"]),
                "start_ns": _nanoseconds(segments["start"]),
                "duration_ns": pa.array((np.rint(segments["end"] * 1e9) - start).astype(np.int64)),
            }
            if "thread" in (segments.dtype.names or ()):
                columns["thread"] = self._threads(process, segments["thread"])
            if level == Level.MPIIO:  # counts what was asked for; for POSIX, what came
                columns["bytes"] = columns["moved"]
            writer.write("calls", pa.table(columns))
        _absent(writer, "not-seen", f"{module}: calls that transfer nothing", DXT_UNSEEN)
        _absent(writer, "not-seen", f"{module}: names of functions", DXT_NAMELESS)

    def _threads(self, process: int, ids: np.ndarray[Any, Any]) -> pa.Array:
        """Numbers of a process's threads, from 0 in the order in which the log names them."""
        known = self.threads.setdefault(process, {})
        return pa.array([known.setdefault(int(one), len(known)) for one in ids], pa.int32())

    def _write_lustre(self, writer: DatasetWriter) -> None:
        for record in self._records("LUSTRE"):
            components = record["components"]
            file = self.files.of(record["id"])
            for number, component in enumerate(components):
                # A file of several components has each counter several times.
                suffix = f"[{number}]" if len(components) > 1 else ""
                names = [f"{name}{suffix}" for name in component["counters"]]
                values = np.array(list(component["counters"].values()), np.int64)
                _count(writer, self._process(record["rank"]), file, "LUSTRE", names, values, np.array([]))
            stripes = {int(component["counters"]["LUSTRE_COMP_STRIPE_SIZE"]) for component in components}
            self.files.rows[file] |= {
                "filesystem": "lustre",  # whatever the mount table says: it knows no links
                "stripe_bytes": stripes.pop() if len(stripes) == 1 else None,
                "servers": [f"OST{target}" for component in components for target in component["ost_ids"]],
            }

    def _write_heatmaps(self, writer: DatasetWriter) -> None:
        for record in self._records("HEATMAP"):
            module = self.files.names.get(record["id"], "heatmap:unknown").removeprefix("heatmap:")
            width = record["bin_width_seconds"] * 1e9
            for kind in (Kind.READ, Kind.WRITE):
                bins = record[f"{kind}_bins"]
                used = np.flatnonzero(bins)
                columns = {
                    "process": pa.repeat(pa.scalar(self._process(record["rank"]), pa.int32()), len(used)),
                    "module": pa.repeat(module, len(used)),
                    "kind": pa.repeat(kind, len(used)),
                    "start_ns": np.rint(used * width).astype(np.int64),
                    "width_ns": pa.repeat(round(width), len(used)),
                    "bytes": bins[used],
                }
                writer.write("activity", pa.table(columns))

    def _write_absences(self, writer: DatasetWriter) -> None:
        for module, known in self.modules.items():
            if known["partial_flag"]:
                _absent(writer, "partial", module, DXT_CUT if module in DXT_LEVELS else CUT)

    def _write_facts(self, writer: DatasetWriter) -> None:
        facts = [("darshan.log_version", self.job["log_ver"])]
        facts += [(f"mount.{where}", kind) for where, kind in self.mounts]
        for key, value in self.job["metadata"].items():
            if key != "h":
                facts.append((f"darshan.{key}", value))
                continue
            hints = [hint.partition("=") for hint in value.split(";")]
            # With which Darshan writes its log: they tell nothing of the application's files, nor of its MPI-IO.
            facts += [(f"darshan.log_hint.{name}", setting) for name, equals, setting in hints if equals]
        writer.write("facts", pa.table({"key": [key for key, _ in facts], "value": [value for _, value in facts]}))

    def _write_processes(self, writer: DatasetWriter) -> None:
        count = self.job["nprocs"]
        ranks = pa.array(np.arange(count, dtype=np.int32))
        hosts = pa.array([self.hosts.get(rank) for rank in range(count)], pa.string())
        writer.write("processes", pa.table({"process": ranks, "rank": ranks, "host": hosts}))

    def _process(self, rank: int) -> int | None:
        """Index of a rank; Darshan's -1 is a record that all ranks share."""
        if rank >= self.job["nprocs"] or rank < -1:
            raise ConfigError(f"{self.path}: a record of rank {rank} of {self.job['nprocs']}: the log is damaged")
        return None if rank == -1 else int(rank)

    def _filesystem(self, path: str) -> str | None:
        inside = (kind for where, kind in self.mounts if path.startswith(where.rstrip("/") + "/"))
        return next(inside, None)


def read(path: Path, directory: Path) -> None:
    """Writes a data set of the log `path`. ConfigError: it is damaged."""
    log = DarshanLog(path)
    with DatasetWriter(directory, log.info(), synced=False) as writer:
        log.write(writer)


def _nanoseconds(seconds: np.ndarray[Any, Any]) -> pa.Array:
    return pa.array(np.rint(seconds * 1e9).astype(np.int64))


def _count(
    writer: DatasetWriter,
    process: int | None,
    file: int | None,
    module: str,
    names: list[str],
    integers: np.ndarray[Any, Any],
    reals: np.ndarray[Any, Any],
) -> None:
    """One record's counters; the names of whole numbers come first."""
    count = len(integers) + len(reals)
    columns = {
        "process": pa.repeat(pa.scalar(process, pa.int32()), count),
        "file": pa.repeat(pa.scalar(file, pa.int32()), count),
        "module": pa.repeat(module, count),
        "counter": pa.array(names[:count], pa.string()),
        "integer": pa.concat_arrays([pa.array(integers), pa.nulls(len(reals), pa.int64())]),
        "real": pa.concat_arrays([pa.nulls(len(integers), pa.float64()), pa.array(reals, pa.float64())]),
    }
    writer.write("counters", pa.table(columns))


def _absent(writer: DatasetWriter, what: str, subject: str, detail: str) -> None:
    writer.write("absences", pa.table({"what": [what], "subject": [subject], "detail": [detail]}))
