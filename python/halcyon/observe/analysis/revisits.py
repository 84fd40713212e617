"""Bytes that are read again, and bytes that are read to be overwritten.

Both need the order of calls, which is asked of at most settings.examined_calls of them: whole (file, process) pairs,
the
files with the most transfers first. What was examined is said; nothing is scaled up.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.covered import covered
from halcyon.observe.analysis.survey import Survey
from halcyon.observe.analysis.volumes import READ, WRITE
from halcyon.observe.result_columns import Column, Unit
from halcyon.observe.schema import Kind, Level


@dataclass(frozen=True)
class Reread:
    """Reads of one file that got bytes which had been read before, with no write to that file in between."""

    file: Annotated[int, Column("the file")]
    calls: Annotated[int, Column("reads that were examined")]
    bytes: Annotated[int, Column("bytes that these read")]
    seconds: Annotated[float, Column("their time")]
    own_bytes: Annotated[int, Column("bytes that the same process had read before")]
    others_bytes: Annotated[
        int, Column("bytes that the process read for the first time and another one had read before")
    ]
    at_least: Annotated[
        int | None,
        Column(
            "of the whole run, examined or not: bytes read less the file's extent; null: the file was written, too",
            unit=Unit.BYTES,
        ),
    ]


@dataclass(frozen=True)
class ReadModifyWrite:
    """Reads of a range that the same process overwrote with its next transfer."""

    file: Annotated[int, Column("the file")]
    inside: Annotated[
        str | None,
        Column("level of the calls that made the reads (MPI-IO: data sieving); null: the application itself"),
    ]
    cycles: Annotated[int, Column("reads of a range that the next transfer of the same process overwrote")]
    locked: Annotated[int, Column("cycles with the file locked by the process")]
    ranks: Annotated[list[int], Column("ranks that made them")]
    bytes_read: Annotated[int, Column("bytes read")]
    bytes_written: Annotated[int, Column("bytes written")]
    read_s: Annotated[float, Column("time of the reads")]
    lock_s: Annotated[float, Column("time of the locks around them")]


class Revisits:
    """Both questions, asked of the same calls."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey

    @cached_property
    def _pairs(self) -> ibis.Table:
        """Candidates: pairs of file and process with reads, and how many transfers and locks come first."""
        return self.survey.keep("pairs", _pairs(self.survey.profile))

    @cached_property
    def candidates(self) -> int:
        """Calls that would have to be looked at to know all."""
        return int(_candidates(self._pairs).to_pyarrow()["calls"][0].as_py() or 0)

    @cached_property
    def examined(self) -> int:
        """Calls that are looked at."""
        if not self.candidates:
            return 0
        return int(_number(self._rows).to_pyarrow()["calls"][0].as_py())

    @cached_property
    def _rows(self) -> ibis.Table:
        most = self.survey.settings.examined_calls
        chosen = _chosen(self._pairs, most).to_pyarrow()
        processes = tuple(sorted(chosen.column("process").unique().to_pylist()))
        wanted = ibis.memtable(chosen.rename_columns(["wanted_file", "wanted_process"]))
        # Few enough to skip the others' part of the files.
        rows = _examined(self.survey.rows, wanted, most, processes if len(processes) <= _FEW else ())
        return self.survey.keep("examined", self.survey.directed(rows))

    @cached_property
    def rereads(self) -> list[Reread]:
        """Files of which bytes were read again, those with the most first."""
        if not self.candidates:
            return []
        return [
            Reread(
                file=row["file"],
                calls=row["calls"],
                bytes=row["bytes"],
                seconds=row["duration_ns"] / 1e9,
                own_bytes=row["bytes"] - row["each"],
                others_bytes=row["each"] - row["together"],
                at_least=row["at_least"],
            )
            for row in _rereads(self._rows, self.survey.profile).to_pyarrow().to_pylist()
        ]

    @cached_property
    def cycles(self) -> list[ReadModifyWrite]:
        """Files with such cycles, per level that made them; those with the most read bytes first."""
        if not self.candidates:
            return []
        return [
            ReadModifyWrite(
                file=row["file"],
                inside=row["parent_level"],
                cycles=row["cycles"],
                locked=row["locked"],
                ranks=sorted(row["ranks"]),
                bytes_read=row["bytes_read"],
                bytes_written=row["bytes_written"],
                read_s=row["read_ns"] / 1e9,
                lock_s=(row["lock_ns"] or 0) / 1e9,
            )
            for row in _cycles(self._rows, self.survey.processes).to_pyarrow().to_pylist()
        ]


_FEW = 256


@question
def _pairs(profile: ibis.Table) -> ibis.Table:
    mine = profile.filter(_.file.notnull() & (_.transfer | _.kind.isin([Kind.LOCK, Kind.UNLOCK])))
    pairs = mine.aggregate(
        by=["file", "process"],
        calls=_.calls.sum().cast("int64"),
        reads=ibis.ifelse(_.direction == READ, _.calls, 0).sum().cast("int64"),
    ).filter(_.reads > 0)
    pairs = pairs.mutate(weight=_.calls.sum().over(ibis.window(group_by="file")))
    order = ibis.cumulative_window(order_by=[ibis.desc("weight"), "file", "process"])
    return pairs.mutate(so_far=_.calls.sum().over(order).cast("int64"))


@question
def _candidates(pairs: ibis.Table) -> ibis.Table:
    return pairs.aggregate(calls=_.calls.sum())


@question
def _number(rows: ibis.Table) -> ibis.Table:
    return rows.aggregate(calls=_.count())


@question
def _chosen(pairs: ibis.Table, most: int) -> ibis.Table:
    return pairs.filter((_.so_far <= most) | (_.so_far == _.calls)).select("file", "process")


@question
def _examined(calls: ibis.Table, wanted: ibis.Table, most: int, processes: tuple[int, ...]) -> ibis.Table:
    """The calls of the `wanted` pairs. `processes`: all of these pairs; empty: they are too many to be named."""
    calls = calls.filter(
        calls.start_ns.notnull()
        & (calls.number.isnull() | (calls.number <= most))
        & (calls.level.isin([Level.POSIX, Level.STDIO]))
        & (calls.kind.isin([Kind.LOCK, Kind.UNLOCK]) | ((calls.moved > 0) & calls.offset.notnull()))
    )
    if processes:
        calls = calls.filter(calls.process.isin(processes))
    rows = calls.inner_join(wanted, [calls.file == wanted.wanted_file, calls.process == wanted.wanted_process])
    return rows.mutate(volume=_.moved).select(
        "process", "file", "level", "kind", "parent_level", "offset", "volume", "start_ns", "duration_ns", "number"
    )


@question
def _rereads(rows: ibis.Table, profile: ibis.Table) -> ibis.Table:
    moves = rows.filter(_.transfer)
    writes_before = (
        ibis.ifelse(_.direction == WRITE, 1, 0).sum().over(ibis.cumulative_window(group_by="file", order_by="start_ns"))
    )
    reads = moves.mutate(epoch=writes_before).filter(_.direction == READ)
    reads = reads.mutate(begin=_.offset, end=_.offset + _.volume)
    total = reads.aggregate(
        by="file",
        calls=_.count(),
        bytes=_.volume.sum().cast("int64"),
        duration_ns=_.duration_ns.sum().cast("int64"),
    )
    each = covered(reads, ["file", "epoch", "process"]).aggregate(by="file", each=_.covered.sum().cast("int64"))
    together = covered(reads, ["file", "epoch"]).aggregate(by="file", together=_.covered.sum().cast("int64"))
    every = total.join(each, "file").join(together, "file").left_join(_bounds(profile), "file").drop("file_right")
    again = every.filter((_.bytes > _.together) | (_.at_least > 0))
    return again.order_by([ibis.desc(_.bytes - _.together), "file"])


def _bounds(profile: ibis.Table) -> ibis.Table:
    """Of files that were only read: bytes read beyond the extent, which must have been read before."""
    sums = profile.filter(_.transfer & _.file.notnull()).aggregate(
        by="file",
        read=ibis.ifelse(_.direction == READ, _.volume, 0).sum().cast("int64"),
        written=ibis.ifelse(_.direction == WRITE, _.volume, 0).sum().cast("int64"),
        extent=(_.high.max() - _.low.min()),
    )
    beyond = ibis.greatest(_.read - _.extent, 0)
    return sums.filter(_.written == 0).select("file", at_least=beyond)


@question
def _cycles(calls: ibis.Table, processes: ibis.Table) -> ibis.Table:
    own = {"group_by": ["file", "process"], "order_by": ["start_ns", "number"]}
    lock = ibis.cases((_.kind == Kind.LOCK, 1), (_.kind == Kind.UNLOCK, -1), else_=0)
    rows = calls.mutate(held=lock.sum().over(ibis.cumulative_window(**own)))
    rows = rows.filter(_.transfer)
    before = ibis.window(**own)
    rows = rows.mutate(
        was=_.direction.lag().over(before),
        was_offset=_.offset.lag().over(before),
        was_volume=_.volume.lag().over(before),
        was_ns=_.duration_ns.lag().over(before),
        was_held=_.held.lag().over(before),
    )
    cycles = rows.filter(
        (_.was == READ)
        & (_.direction == WRITE)
        & (_.was_offset < _.offset + _.volume)
        & (_.was_offset + _.was_volume > _.offset)
    )
    named = cycles.join(processes.select("process", rank="shown_rank"), "process")
    found = named.aggregate(
        by=["file", "parent_level"],
        cycles=_.count(),
        locked=((_.held > 0) & (_.was_held > 0)).cast("int64").sum().cast("int64"),
        ranks=_.rank.collect(distinct=True),
        bytes_read=_.was_volume.sum().cast("int64"),
        bytes_written=_.volume.sum().cast("int64"),
        read_ns=_.was_ns.sum().cast("int64"),
    )
    locks = calls.filter(_.kind.isin([Kind.LOCK, Kind.UNLOCK])).aggregate(
        by=["file"], lock_ns=_.duration_ns.sum().cast("int64")
    )
    both = found.left_join(locks, "file").drop("file_right")
    return both.order_by([ibis.desc("bytes_read"), "file", "parent_level"])
