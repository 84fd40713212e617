"""What is replayed: the calls of each thread that reach the file system themselves, in the order of their ends."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from ibis import _

from halcyon.compiled import core
from halcyon.observe.analysis.survey import Survey, without_setup
from halcyon.observe.analysis.volumes import without_log
from halcyon.observe.call_table import spellings_of
from halcyon.observe.dataset import Dataset
from halcyon.observe.schema import Kind, Level
from halcyon.predict.positions import with_positions

OPERATIONS = (Kind.OPEN, Kind.CLOSE, Kind.READ, Kind.WRITE, Kind.COPY, Kind.SYNC)
"""By the numbers that the model has for them."""
TRANSFERS = (Kind.READ, Kind.WRITE, Kind.COPY)
TRUNCATES = 0o1000  # O_TRUNC
_STACKS = "context"
"""Column of `calls` with the number of the call stack, where the source recorded stacks."""
_STACK_FACT = r"^context\."

Columns = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Stream:
    """The calls of one thread that are replayed."""

    process: int
    thread: int
    rank: int | None
    """In MPI_COMM_WORLD; None for processes outside of it."""
    calls: int
    transfers: int
    """Reads, writes and copies among them."""


@dataclass(frozen=True)
class Selection:
    """Which calls are replayed, and which are not."""

    level: str
    """The lowest one that the source holds transfers of: posix (with what stdio does itself), stdio, mpiio, hdf5."""
    calls: int
    stacks: int
    """Calls whose context is a call stack; that of the others is the function and the one that called it."""
    failed: int
    """Left out: calls that failed."""
    without_times: int
    """Left out: calls of which the source does not say when they began."""
    without_offset: int
    """Reads and writes of which nobody knows where: their place is neither learnt nor scored."""


class Streams:
    """The streams of a data set. `ranks`, `processes`: only those, where given; the two add up."""

    def __init__(
        self, dataset: Dataset, ranks: Sequence[int] | None = None, processes: Sequence[int] | None = None
    ) -> None:
        self._dataset = dataset
        self.info, self.directory = dataset.info, dataset.directory
        self._ranks: dict[int, int | None] = {
            row["process"]: row["rank"] for row in dataset.processes.select("process", "rank").to_pyarrow().to_pylist()
        }
        self.mpi = any(rank is not None for rank in self._ranks.values())
        wanted = ranks is not None or processes is not None
        self._wanted = (
            {p for p in self._ranks if self.shown(p) in (ranks or ()) or p in (processes or ())} if wanted else None
        )

    @property
    def ranks(self) -> list[int]:
        """Of MPI's processes; without MPI, the numbers of all."""
        return sorted(rank for process in self._ranks if (rank := self.shown(process)) is not None)

    @property
    def processes(self) -> list[int]:
        """All, whether they are replayed or not."""
        return sorted(self._ranks)

    def shown(self, process: int) -> int | None:
        """What the process is called: its rank with MPI (None: outside of it), its index without."""
        return self._ranks.get(process) if self.mpi else process

    @cached_property
    def _calls(self) -> ibis.Table:
        """All calls that could be replayed: of the application, with `end_ns` and without failures."""
        calls = without_log(without_setup(Survey(self._dataset).all_calls))
        if self._wanted is not None:
            calls = calls.filter(_.process.isin(sorted(self._wanted) or [-1]))
        failed = _.error.notnull() | ((_.level == Level.POSIX) & (_.result == -1))
        calls = calls.mutate(
            thread=ibis.coalesce(_.thread, 0),
            end_ns=_.start_ns + ibis.coalesce(_.duration_ns, 0),
            failed=ibis.coalesce(failed, False),
        )
        return calls.mutate(stack=calls[_STACKS] if _STACKS in calls.columns else ibis.null("int64"))

    @cached_property
    def _sites(self) -> list[dict[str, Any]]:
        """How many calls there are of each function, by what called it."""
        chosen = self._calls.filter(_.kind.isin([*OPERATIONS, Kind.SEEK]))
        return (  # type: ignore[no-any-return]
            chosen.group_by(["level", "kind", "call", "parent_call", "failed"], tells=_.moved.notnull())
            .agg(
                calls=_.count(),
                stacks=_.stack.count(),
                timeless=_.start_ns.isnull().sum(),
                placeless=(_.offset.isnull() & _.file.notnull()).sum(),
            )
            .order_by(["level", "call", "parent_call", "failed", "tells"])
            .to_pyarrow()
            .to_pylist()
        )

    @cached_property
    def _buffered(self) -> bool:
        """Whether calls of level posix tell what stdio moved, as in Halcyon's own recordings."""
        return self._dataset.info.source.startswith("halcyon ")

    @cached_property
    def level(self) -> str:
        """Selection.level."""
        present = {(row["level"], row["tells"]) for row in self._sites if row["kind"] in TRANSFERS}
        if (Level.POSIX, True) in present or (Level.POSIX, False) in present or (Level.STDIO, True) in present:
            return Level.POSIX
        if not self._buffered and (Level.STDIO, False) in present:
            return Level.STDIO
        return next((level for level in (Level.MPIIO, Level.HDF5) if (level, True) in present), None) or next(
            (level for level in (Level.MPIIO, Level.HDF5) if (level, False) in present), Level.POSIX
        )

    def _takes(self, row: dict[str, Any]) -> bool:
        if row["kind"] not in OPERATIONS:
            return False
        if self.level in (Level.MPIIO, Level.HDF5):
            return bool(row["level"] == self.level)
        if row["level"] != Level.STDIO:
            return bool(row["level"] == Level.POSIX)
        # What stdio moved is a call of level posix in Halcyon's recordings; other sources know no more than the call.
        return row["kind"] not in (Kind.READ, Kind.WRITE) or row["tells"] or not self._buffered

    @cached_property
    def _chosen(self) -> ibis.Table:
        """The calls that are replayed, with `site`: index in `_codes`."""
        calls = self._calls
        if self._follows:
            times = calls.filter(_.start_ns.notnull() & ~_.failed)
            calls = with_positions(times.filter(_.kind.isin([*OPERATIONS, Kind.SEEK])))
        sites = ibis.memtable(self._codes)
        same = [
            calls.level == sites.of_level,
            calls.kind == sites.of_kind,
            calls.call == sites.of_call,
            ibis.coalesce(calls.parent_call, "") == sites.of_parent,
            calls.moved.notnull() == sites.of_tells,
        ]
        return calls.filter(_.start_ns.notnull() & ~_.failed).inner_join(sites, same)

    @cached_property
    def _follows(self) -> bool:
        """Whether places of transfers have to be found; Halcyon's own recordings hold all that are known."""
        return not self._buffered and any(
            row["placeless"] and row["level"] == Level.POSIX and row["kind"] in TRANSFERS for row in self._sites
        )

    @cached_property
    def _codes(self) -> pa.Table:
        taken = [row for row in self._sites if self._takes(row) and not row["failed"]]
        return pa.table(
            {
                "of_level": pa.array([row["level"] for row in taken], pa.string()),
                "of_kind": pa.array([row["kind"] for row in taken], pa.string()),
                "of_call": pa.array([row["call"] for row in taken], pa.string()),
                "of_parent": pa.array([row["parent_call"] or "" for row in taken], pa.string()),
                "of_tells": pa.array([row["tells"] for row in taken], pa.bool_()),
                "site": pa.array(range(len(taken)), pa.int32()),
            }
        )

    @cached_property
    def selection(self) -> Selection:
        """What is replayed, in numbers."""
        taken = [row for row in self._sites if self._takes(row)]
        whole = [row for row in taken if not row["failed"]]
        places = self._chosen.filter(_.kind.isin(TRANSFERS) & (_.offset.isnull() | _.file.isnull()))
        return Selection(
            level=self.level,
            calls=sum(stream.calls for stream in self.all),
            stacks=sum(row["stacks"] for row in whole),
            failed=sum(row["calls"] for row in taken if row["failed"]),
            without_times=sum(row["timeless"] for row in whole),
            without_offset=int(places.count().to_pyarrow().as_py()) if whole else 0,
        )

    @cached_property
    def all(self) -> list[Stream]:
        """By process and thread; those without calls are not among them."""
        if not len(self._codes):
            return []
        rows = (
            self._chosen.group_by(["process", "thread"])
            .agg(calls=_.count(), transfers=_.kind.isin(TRANSFERS).sum())
            .order_by(["process", "thread"])
        )
        return [
            Stream(row["process"], row["thread"], self._ranks.get(row["process"]), row["calls"], row["transfers"])
            for row in rows.to_pyarrow().to_pylist()
        ]

    @cached_property
    def _files(self) -> dict[int, npt.NDArray[np.int64]]:
        """The files of each process, ascending."""
        rows = self._chosen.filter(_.file.notnull()).select("process", "file").distinct()
        table = rows.order_by(["process", "file"]).to_pyarrow()
        process, file = table["process"].to_numpy(), table["file"].to_numpy().astype(np.int64)
        begins = np.flatnonzero(np.diff(process, prepend=-1))
        return {int(process[begin]): part for begin, part in zip(begins, np.split(file, begins[1:]), strict=True)}

    @cached_property
    def _paths(self) -> dict[int, str]:
        files = self._dataset.files.select("file", "path").to_pyarrow()
        return dict(zip(files["file"].to_pylist(), files["path"].to_pylist(), strict=True))

    def paths(self, stream: Stream) -> list[str]:
        """Of the files of a stream's process, by the numbers that its columns have for them; 0 is no file."""
        own = self._files.get(stream.process, np.array([], np.int64))
        return ["", *(self._paths.get(int(file), "") for file in own)]

    @cached_property
    def _stacks(self) -> pa.Table:
        """The call stacks of all processes, by their numbers."""
        facts = self._dataset.facts.filter(_.key.re_search(_STACK_FACT + "[0-9a-f]{8}$"))
        return facts.select("process", "key", "value").to_pyarrow()

    @cached_property
    def _programs(self) -> dict[int, str | None]:
        rows = self._dataset.processes.select("process", "program").to_pyarrow().to_pylist()
        return {row["process"]: row["program"] for row in rows}

    def read_labels(self) -> None:
        """Has what labels() and model_name() tell read before pieces(), whose engine takes no other question."""
        _read = self._stacks, self._programs

    def labels(self, stream: Stream) -> tuple[dict[int, str], dict[int, str]]:
        """What the numbers of functions and of call stacks in a stream's columns mean, for people."""
        names = {row["of_call"] for row in self._codes.to_pylist()}
        sites = {_context(row["of_parent"], row["of_call"]): row["of_parent"] for row in self._codes.to_pylist()}
        own = self._stacks.filter(pc.equal(self._stacks["process"], stream.process))
        stacks = {int(row["key"][-8:], 16): row["value"] for row in own.to_pylist()}
        return {core().call_name_number(name): name for name in names}, sites | stacks

    def model_name(self, stream: Stream) -> str:
        """File name of the model of a stream, as the layer `predict` names those of processes."""
        program = Path(self._programs.get(stream.process) or "program").name
        rank = "" if stream.rank is None else f".{stream.rank}"
        thread = f".thread{stream.thread}" if stream.thread else ""
        return f"{program}{rank}{thread}.model"

    def pieces(self, streams: Sequence[Stream], most: int | None = None) -> Iterator[tuple[Stream, Columns]]:
        """The calls of these streams, of each the first `most`, one stream after the other, as Replay takes them.

        They come in pieces of bounded size.
        """
        known = {(stream.process, stream.thread): stream for stream in streams}
        if not known:
            return
        processes = sorted({stream.process for stream in streams})
        _asked = self._files, self._paths  # an engine that hands out rows takes no other question
        rows = self._chosen
        if len(known) < len(self.all):
            rows = rows.filter(_.process.isin(processes))
        rows = rows.select(
            "process",
            "thread",
            "site",
            "end_ns",
            "start_ns",
            "number",
            "stack",
            truncates=(_.kind == Kind.OPEN)
            & (((ibis.coalesce(_.argument, 0) & TRUNCATES) != 0) | _.call.isin(sorted(spellings_of("creat"))))
            & (_.level != Level.MPIIO),
            file=ibis.coalesce(_.file, -1),
            offset=ibis.coalesce(_.offset, -1),
            bytes=ibis.coalesce(_.bytes, _.moved, -1),
            moved=ibis.coalesce(_.moved, -1),
            wait_ns=ibis.coalesce(_.wait_ns, 0),
            duration_ns=ibis.coalesce(_.duration_ns, 0),
        ).order_by(["process", "thread", "end_ns", "start_ns", "number", "offset"])
        done: dict[Stream, int] = {}
        for batch in self._dataset.engine.stream(rows):
            process, thread = batch["process"].to_numpy(), batch["thread"].to_numpy()
            changes = (np.diff(process) != 0) | (np.diff(thread) != 0)
            begins = [0, *(np.flatnonzero(changes) + 1).tolist(), len(process)]
            for begin, end in pairwise(begins):
                stream = known.get((int(process[begin]), int(thread[begin]))) if end > begin else None
                if stream is None:
                    continue
                count = end - begin if most is None else min(end - begin, most - done.get(stream, 0))
                done[stream] = done.get(stream, 0) + count
                if count:
                    yield stream, self._columns(stream, batch.slice(begin, count))

    def _columns(self, stream: Stream, batch: pa.RecordBatch) -> Columns:
        contexts, functions, operations = self._lookup
        site = batch["site"].to_numpy()
        stack = batch["stack"]
        context = contexts[site]
        if stack.null_count < len(stack):
            own = pc.fill_null(stack, 0).to_numpy(zero_copy_only=False).astype(np.uint32)
            context = np.where(pc.is_valid(stack).to_numpy(zero_copy_only=False), own, context)
        file = batch["file"].to_numpy().astype(np.int64)
        number = np.searchsorted(self._files.get(stream.process, np.array([], np.int64)), file) + 1
        columns: Columns = {
            "context": np.ascontiguousarray(context),
            "function": functions[site],
            "operation": operations[site],
            "truncates": batch["truncates"].to_numpy(zero_copy_only=False).astype(np.uint8),
            "file": np.where(file < 0, 0, number).astype(np.uint32),
        }
        for name in ("offset", "bytes", "moved", "start_ns", "wait_ns", "duration_ns"):
            columns[name] = np.ascontiguousarray(batch[name].to_numpy(), dtype=np.int64)
        return columns

    @cached_property
    def _lookup(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
        """Context, function and operation of each site."""
        rows = self._codes.to_pylist()
        operations = [str(kind) for kind in OPERATIONS]
        return (
            np.array([_context(row["of_parent"], row["of_call"]) for row in rows], np.uint32),
            np.array([core().call_name_number(row["of_call"]) for row in rows], np.uint32),
            np.array([operations.index(row["of_kind"]) for row in rows], np.uint8),
        )


def _context(parent: str, call: str) -> int:
    """Stands for a call stack that nobody recorded. 0 would be none."""
    return zlib.crc32(f"{parent}/{call}".encode()) or 1
