"""One line per file: what was done to it, by whom, in which pieces."""

from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.access import Order, pattern_rows
from halcyon.observe.analysis.survey import Survey, outer
from halcyon.observe.result_columns import Column, Unit, derived
from halcyon.observe.schema import Kind


@dataclass(frozen=True)
class FileUse:
    """What was done to one file. Counts of patterns, sizes and alignment are of transfers (POSIX, and stdio's own)."""

    file: Annotated[int, Column("the file")]
    path: Annotated[str, Column("its path")]
    filesystem: Annotated[str | None, Column("type of its file system")]
    block_bytes: Annotated[int | None, Column("block of the file system")]
    stripe_bytes: Annotated[int | None, Column("size of a stripe")]
    servers: Annotated[list[str], Column("its servers, in the order of its stripes")]
    opens: Annotated[int, Column("opens")]
    stats: Annotated[int, Column("questions about it: stat, access and the like")]
    syncs: Annotated[int, Column("syncs")]
    reads: Annotated[int, Column("read transfers: POSIX, and those that stdio makes itself")]
    writes: Annotated[int, Column("write transfers")]
    bytes_read: Annotated[int, Column("bytes read")]
    bytes_written: Annotated[int, Column("bytes written")]
    seconds: Annotated[float, Column("time in all calls that the application itself made on it, in sum over processes")]
    consecutive: Annotated[
        int | None,
        Column("transfers that began where the one before of the same process ended; null: the source does not tell"),
    ]
    strided: Annotated[
        int | None,
        Column(
            "transfers at the dominant distance of a process that has one; null, as of the next five: the source "
            "does not tell"
        ),
    ]
    forward: Annotated[int | None, Column("other jumps forward, of processes whose jumps have an order")]
    backward: Annotated[int | None, Column("jumps backward of such processes")]
    restarts: Annotated[int | None, Column("jumps back to the first byte that the process touched")]
    random: Annotated[int | None, Column("jumps of processes that go forwards and backwards without order")]
    small: Annotated[int | None, Column("transfers below 64 KiB")]
    unaligned: Annotated[int | None, Column("transfers that begin off the file's block; null: its block is not known")]
    crossing: Annotated[
        int | None, Column("transfers that would fit one stripe and touch two; null: its stripes are not known")
    ]
    high: Annotated[int | None, Column("the byte after the last one touched", unit=Unit.BYTES)]

    @property
    @derived(Column("the last part of its path"))
    def name(self) -> str:
        return PurePath(self.path).name or self.path

    @property
    @derived(Column("the order of most of its transfers; null: not known"))
    def pattern(self) -> str | None:
        """What most of its transfers did, as Order names it; None: not known."""
        found = self._steps
        return max(found, key=lambda name: found[name]) if found else None

    @property
    @derived(Column("the share of its transfers in this order"))
    def pattern_share(self) -> float | None:
        """Which share of its transfers did; without the first of each process, before which there was none."""
        found = self._steps
        total = self.reads + self.writes if self.strided is None else sum(found.values())
        return max(found.values()) / total if found else None

    @property
    def _steps(self) -> dict[str, int]:
        """Numbers of transfers by what they did; empty: there were too few, or nobody knows."""
        counts = {
            Order.CONSECUTIVE: self.consecutive,
            Order.STRIDED: self.strided,
            Order.FORWARD: self.forward,
            Order.BACKWARD: self.backward,
            Order.REPEATED: self.restarts,
            Order.RANDOM: self.random,
        }
        known = {name.value: count for name, count in counts.items() if count is not None}
        return known if any(known.values()) else {}


@dataclass(frozen=True)
class File(FileUse):
    """One file, and who used it."""

    ranks: Annotated[list[int], Column("ranks that transferred (of counters: that opened it); without MPI, processes")]


def files(survey: Survey) -> list[File]:
    """Files that calls were made on, by bytes, then by time."""
    small = survey.settings.small_bytes
    rows = _rows(survey.profile, survey.files, pattern_rows(survey), survey.processes, small, survey.related)
    return [_file(row) for row in rows.to_pyarrow().to_pylist()]


@question
def _rows(
    profile: ibis.Table, files: ibis.Table, patterns: ibis.Table, processes: ibis.Table, small: int, related: bool
) -> ibis.Table:
    rows = _sums(profile, small, related).join(files, "file")
    for more in (_orders(patterns), _ranks(patterns, processes)):
        rows = rows.left_join(more, "file").drop("file_right")
    return rows.order_by([ibis.desc(_.bytes_read + _.bytes_written), ibis.desc("low_ns"), "file"])


def _sums(profile: ibis.Table, small_bytes: int, related: bool) -> ibis.Table:
    def count(condition: ibis.Deferred) -> ibis.Value:
        return ibis.ifelse(condition, _.calls, 0).sum().cast("int64")

    def moved(direction: str) -> ibis.Value:
        return ibis.ifelse(_.transfer & (_.direction == direction), _.volume, 0).sum().cast("int64")

    small = 2 ** _.size_class.cast("int64") < small_bytes
    return profile.filter(_.file.notnull()).aggregate(
        by="file",
        opens=count((_.kind == Kind.OPEN) & _.parent_level.isnull()),
        stats=count((_.kind == Kind.STAT) & _.parent_level.isnull()),
        syncs=count((_.kind == Kind.SYNC) & _.parent_level.isnull()),
        reads=count(_.transfer & (_.direction == Kind.READ)),
        writes=count(_.transfer & (_.direction == Kind.WRITE)),
        bytes_read=moved(Kind.READ),
        bytes_written=moved(Kind.WRITE),
        duration_ns=ibis.ifelse(outer(related), _.duration_ns, 0).sum().cast("int64"),
        low_ns=ibis.ifelse(_.parent_level.isnull(), _.duration_ns, 0).sum().cast("int64"),
        consecutive=ibis.ifelse(_.transfer, _.consecutive, 0).sum().cast("int64"),
        small=count(_.transfer & small.fill_null(False)),
        unaligned=count(_.transfer & ~_.aligned.fill_null(True)),
        crossing=ibis.ifelse(_.transfer, _.crossing, 0).sum().cast("int64"),
        high=ibis.ifelse(_.transfer, _.high, ibis.null("int64")).max(),
    )


def _orders(patterns: ibis.Table) -> ibis.Table:
    """The jumps of each file: those at a stride, and the others by the order of the process that made them."""
    random = _.order == Order.RANDOM
    rows = patterns.mutate(onward=ibis.ifelse((_.stride > 0).fill_null(True), _.strided, 0))
    rows = rows.mutate(ahead=_.forward - _.onward, back=_.backward - _.restarts - (_.strided - _.onward))

    def total(value: ibis.Value) -> ibis.Value:
        return value.sum().cast("int64")

    return rows.aggregate(
        by="file",
        strided=total(_.strided),
        forward=total(ibis.ifelse(random, 0, _.ahead)),
        backward=total(ibis.ifelse(random, 0, _.back)),
        restarts=total(_.restarts),
        random=total(ibis.ifelse(random, _.ahead + _.back, 0)),
    )


def _ranks(patterns: ibis.Table, processes: ibis.Table) -> ibis.Table:
    named = patterns.select("file", "process").distinct()
    named = named.join(processes.filter(_.shown_rank >= 0).select("process", rank="shown_rank"), "process")
    return named.aggregate(by="file", ranks=_.rank.collect())


def _file(row: dict) -> File:  # type: ignore[type-arg]
    return File(
        **{name: row[name] or 0 for name in ("strided", "forward", "backward", "restarts", "random")},
        file=row["file"],
        path=row["path"],
        filesystem=row["filesystem"],
        block_bytes=row["block_bytes"],
        stripe_bytes=row["stripe_bytes"],
        servers=list(row["servers"] or []),
        opens=row["opens"],
        stats=row["stats"],
        syncs=row["syncs"],
        reads=row["reads"],
        writes=row["writes"],
        bytes_read=row["bytes_read"],
        bytes_written=row["bytes_written"],
        seconds=(row["duration_ns"] or row["low_ns"]) / 1e9,
        consecutive=row["consecutive"],
        small=row["small"],
        unaligned=row["unaligned"] if row["block_bytes"] else None,
        crossing=row["crossing"] if row["stripe_bytes"] else None,
        ranks=sorted(row["ranks"] or []),
        high=row["high"],
    )
