"""Data sets as OTF2 archives with I/O records, for Vampir, otf2-print and others.

A location is a thread; calls that overlap without one being inside the other (sources that know no threads) are spread
over several. What OTF2 has no field for is in attributes: offset, result, error, wait_ns, argument, and `file` for
calls without I/O records.

Bytes of I/O operations add up, per paradigm, to what was moved. A call of stdio whose transfers are calls of their own
(volumes.tells_stdio) is a region without an operation, with `bytes`, what it asked for, as an attribute. Where it is
not known what another call moved, its operation has what it asked for (none, if it failed) and the attribute `assumed`.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import otf2
from otf2 import events
from otf2.enums import (
    GroupType,
    IoAccessMode,
    IoCreationFlag,
    IoHandleFlag,
    IoOperationFlag,
    IoOperationMode,
    IoParadigmClass,
    IoParadigmFlag,
    IoSeekOption,
    IoStatusFlag,
    Paradigm,
    RegionRole,
    Type,
)

from halcyon.errors import HalcyonSystemError
from halcyon.observe.analysis.volumes import tells_stdio
from halcyon.observe.dataset import Dataset
from halcyon.observe.isolation import LibraryError, call_isolated
from halcyon.observe.schema import Kind, Level
from halcyon.observe.writers.target import EXPORTED, new_file

TICKS = 10**9
UNKNOWN_BYTES = (1 << 64) - 1
PARADIGMS = {
    Level.POSIX: ("POSIX", "POSIX I/O", IoParadigmClass.SERIAL, IoParadigmFlag.OS),
    Level.STDIO: ("ISOC", "ISO C I/O", IoParadigmClass.SERIAL, IoParadigmFlag.NONE),
    Level.MPIIO: ("MPI-IO", "MPI-IO", IoParadigmClass.PARALLEL, IoParadigmFlag.NONE),
    Level.HDF5: ("HDF5", "HDF5", IoParadigmClass.PARALLEL, IoParadigmFlag.NONE),
    Level.LOG: ("HALCYON-LOG", "Halcyon log", IoParadigmClass.SERIAL, IoParadigmFlag.NONE),
}
MODES = {Kind.READ: IoOperationMode.READ, Kind.WRITE: IoOperationMode.WRITE, Kind.SYNC: IoOperationMode.FLUSH}
DATA = (Kind.READ, Kind.WRITE, Kind.COPY, Kind.SYNC)
COLUMNS = (
    "process",
    "thread",
    "level",
    "call",
    "kind",
    "file",
    "offset",
    "bytes",
    "moved",
    "result",
    "error",
    "start_ns",
    "duration_ns",
    "wait_ns",
    "argument",
    "context",
)
EXTRA = ("offset", "result", "error", "wait_ns", "argument", "context")
ASSUMED = "assumed"

Row = dict[str, Any]


def write_otf2(dataset: Dataset, path: Path) -> None:
    """Writes the archive into folder `path`, which must not exist: `path`/traces.otf2 is its anchor file.

    In a process of its own: on a full disk the library aborts. HalcyonSystemError: it cannot be written.
    """
    with new_file(path) as hidden:
        try:
            call_isolated(__name__, "write_archive", dataset.directory, hidden)
        except LibraryError as why:
            own = [line.partition("error: ")[2] for line in why.said if line.startswith("[OTF2]")]
            reason = next(filter(None, own), why.said[-1] if why.said else "it does not say why")
            raise HalcyonSystemError(f"{path}: the writer of OTF2 {why.ended}: {reason}") from why
        (hidden / EXPORTED).write_text(f"{dataset.info.source}\n", encoding="utf-8")


def write_archive(directory: Path, archive_path: Path) -> None:
    """Writes the data set in `directory` as an archive; see write_otf2."""
    with (
        Dataset.open(directory, verify=False) as dataset,
        otf2.writer.open(str(archive_path), timer_resolution=TICKS) as archive,
    ):
        archive._update_timestamps(0)  # times begin where the data set's begin, whenever the first call was
        archive._realtime_timestamp = dataset.info.start or 0.0
        _Archive(archive, dataset).write()


class _Lane:
    """One location: an unbroken nesting of calls."""

    def __init__(self, writer: Any) -> None:
        self.writer = writer
        self.open: list[tuple[int, Any]] = []  # when it ends, the events at its end

    def fits(self, start: int, end: int) -> bool:
        """Whether a call can be written here: inside the call that is open at its start, or after all."""
        inner = next((finish for finish, _ in reversed(self.open) if finish > start), None)
        return inner is None or end <= inner

    def close(self, until: int | None = None) -> None:
        """Writes the ends of the calls that ended by `until`; without it, of all."""
        while self.open and (until is None or self.open[-1][0] <= until):
            for event in self.open.pop()[1]:
                self.writer(event)


class _Archive:
    """Definitions as they are needed, and the events of one process after the other."""

    def __init__(self, archive: Any, dataset: Dataset) -> None:
        self.archive = archive
        self.dataset = dataset
        self.definitions = archive.definitions
        self.paths = {
            row["file"]: row["path"]
            for batch in dataset.batches("files", ["file", "path"])
            for row in batch.to_pylist()
        }
        self.tree = self.definitions.system_tree_node("run", class_name="machine")
        self.attributes = {
            name: self.definitions.attribute(name, "", Type.INT64) for name in (*EXTRA, "bytes", ASSUMED)
        }
        self.stdio_told = int(tells_stdio(dataset.calls).count().to_pyarrow().as_py()) > 0
        self.file_name = self.definitions.attribute("file", "", Type.STRING)
        self.matching = 0

    def write(self) -> None:
        processes = [row for batch in self.dataset.batches("processes") for row in batch.to_pylist()]
        by_number = {row["process"]: row for row in processes}
        first: dict[int, Any] = {}
        for number, rows in groupby(self._rows(), key=lambda row: row["process"]):
            known = by_number.pop(number, {"process": number})
            first[number] = self._process(known, rows)
        for number, known in by_number.items():  # those that called nothing
            first[number] = self._process(known, iter(()))
        ranked = sorted((row["rank"], first[row["process"]]) for row in processes if row.get("rank") is not None)
        if ranked and [rank for rank, _ in ranked] == list(range(len(ranked))):
            members = [location for _, location in ranked]
            self.definitions.group("MPI", GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=members)

    def _rows(self) -> Iterator[Row]:
        for batch in self.dataset.batches("calls", COLUMNS):
            yield from batch.to_pylist()

    def _process(self, known: Row, rows: Iterator[Row]) -> Any:
        """Writes the events of one process; returns its first location."""
        number = known["process"]
        host = known.get("host")
        node = self.definitions.system_tree_node(host, class_name="node", parent=self.tree) if host else self.tree
        rank = known.get("rank")
        name = f"process {number}" if rank is None else f"MPI Rank {rank}"
        group = self.definitions.location_groups.create(name, system_tree_parent=node)
        lanes: dict[int | None, list[_Lane]] = {}
        handles: dict[tuple[int, str], list[Any]] = {}
        locations = []

        def lane_of(row: Row, end: int) -> _Lane:
            own = lanes.setdefault(row["thread"], [])
            for lane in own:
                if lane.fits(row["start_ns"], end):
                    return lane
            location = self.definitions.locations.create(f"thread {row['thread'] or 0}, {len(own)}", group=group)
            locations.append(location)
            own.append(_Lane(self.archive.event_writer_from_location(location)))
            return own[-1]

        for row in rows:
            if row["start_ns"] is None or row["duration_ns"] is None:
                continue
            end = row["start_ns"] + row["duration_ns"]
            lane = lane_of(row, end)
            lane.close(row["start_ns"])
            begins, ends = self._events(row, end, handles)
            for event in begins:
                lane.writer(event)
            lane.open.append((end, ends))
        for lane in (lane for own in lanes.values() for lane in own):
            lane.close()
        if not locations:
            locations.append(self.definitions.locations.create("thread 0, 0", group=group))
            self.archive.event_writer_from_location(locations[0])
        return locations[0]

    def _events(self, row: Row, end: int, handles: dict[tuple[int, str], list[Any]]) -> tuple[list[Any], list[Any]]:
        """Events at the begin and at the end of one call."""
        start, kind = row["start_ns"], row["kind"]
        region = self._region(row)
        begins: list[Any] = [events.Enter(start, region)]
        # What stdio itself moved is told by the calls that it made: here it would count twice.
        buffered = self.stdio_told and row["level"] == Level.STDIO and kind in (Kind.READ, Kind.WRITE)
        said = (*EXTRA, "bytes") if buffered else EXTRA[1:]
        ends: list[Any] = [events.Leave(end, region, self._said(row, said))]
        if row["file"] is None:
            return begins, ends
        known = handles.get((row["file"], row["level"]))
        if known is None:
            # [handle, how often it is open]; one whose open was not seen existed before
            handle = self._handle(row, pre_created=kind != Kind.OPEN or row["error"] is not None)
            known = handles[row["file"], row["level"]] = [
                handle,
                0 if kind == Kind.OPEN and row["error"] is None else 1,
            ]
        handle = known[0]
        if kind in MODES and not buffered:
            begun, complete = self._operation(row, end, handle)
            begins.append(begun)
            ends.insert(0, complete)
        elif kind == Kind.OPEN and row["error"] is None:
            known[1] += 1
            if known[1] == 1:
                ways = IoAccessMode.READ_WRITE, IoCreationFlag.NONE, IoStatusFlag.NONE
                ends.insert(0, events.IoCreateHandle(end, handle, *ways))
        elif kind == Kind.CLOSE:
            known[1] -= 1
            if known[1] == 0:
                ends.insert(0, events.IoDestroyHandle(end, handle))
        elif kind == Kind.SEEK and row["result"] is not None and row["result"] >= 0:
            where = row["result"]
            ends.insert(0, events.IoSeek(end, handle, where, IoSeekOption.FROM_START, where))
        if len(begins) + len(ends) == 2:  # no I/O record names the file
            ends[-1].attributes[self.file_name] = self.paths.get(row["file"], str(row["file"]))
        return begins, ends

    def _operation(self, row: Row, end: int, handle: Any) -> tuple[Any, Any]:
        """Begin and completion of one I/O operation."""
        self.matching += 1
        asked, moved = row["bytes"], row["moved"]
        request = UNKNOWN_BYTES if asked is None and moved is None else moved if asked is None else asked
        result, notes = moved, {}
        if row["kind"] == Kind.SYNC:
            result = 0
        elif moved is None:
            result = 0 if asked is None or row["error"] is not None else asked
            notes = {self.attributes[ASSUMED]: 1}
        offset = self._said(row, EXTRA[:1])
        mode, flags = MODES[Kind(row["kind"])], IoOperationFlag.NONE
        return (
            events.IoOperationBegin(row["start_ns"], handle, mode, flags, request, self.matching, offset),
            events.IoOperationComplete(end, handle, result, self.matching, notes),
        )

    def _said(self, row: Row, names: tuple[str, ...]) -> dict[Any, int]:
        return {self.attributes[name]: row[name] for name in names if row[name] is not None}

    def _region(self, row: Row) -> Any:
        role = RegionRole.FILE_IO if row["kind"] in DATA else RegionRole.FILE_IO_METADATA
        paradigm = Paradigm.MPI if row["level"] == Level.MPIIO else Paradigm.NONE
        return self.definitions.region(row["call"], row["call"], row["level"], role, paradigm)

    def _handle(self, row: Row, pre_created: bool) -> Any:
        identification, name, group, flags = PARADIGMS[Level(row["level"])]
        paradigm = self.definitions.io_paradigm(identification, name, group, flags)
        file = self.definitions.io_regular_file(self.paths.get(row["file"], str(row["file"])), scope=self.tree)
        how = IoHandleFlag.PRE_CREATED if pre_created else IoHandleFlag.NONE
        return self.definitions.io_handles.create("", file, paradigm, how)
