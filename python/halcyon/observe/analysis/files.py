"""One line per file: what was done to it, by whom, in which pieces."""

from dataclasses import dataclass
from pathlib import PurePath

import ibis
from ibis import _

from halcyon.observe.analysis.access import Order, pattern_rows
from halcyon.observe.analysis.survey import Survey
from halcyon.observe.schema import Kind


@dataclass(frozen=True)
class FileUse:
    """What was done to one file. Counts of patterns, sizes and alignment are of transfers (POSIX, and stdio's own)."""

    file: int
    path: str
    filesystem: str | None
    block_bytes: int | None
    stripe_bytes: int | None
    servers: list[str]
    opens: int
    stats: int
    """Questions about it: stat, access and the like."""
    syncs: int
    reads: int
    writes: int
    bytes_read: int
    bytes_written: int
    seconds: float
    """In all calls that the application itself made on it, in sum over processes."""
    consecutive: int
    strided: int | None
    """At a constant distance that is not 0, by one process; None, as of the next two: the source does not tell."""
    random: int | None
    """All others that did not begin where the one before ended: at differing distances."""
    small: int | None
    unaligned: int | None
    """Off the file's block; None: its block is not known."""
    crossing: int | None
    """Would fit one stripe and touch two; None: its stripes are not known."""
    high: int | None
    """The byte after the last one touched."""

    @property
    def name(self) -> str:
        return PurePath(self.path).name or self.path


@dataclass(frozen=True)
class File(FileUse):
    """One file, and who used it."""

    ranks: list[int]
    """That transferred (of counters: that opened it); without MPI, processes."""


def files(survey: Survey) -> list[File]:
    """Files that calls were made on, by bytes, then by time."""
    rows = _sums(survey).join(survey.files, "file")
    for more in (_orders(survey), _ranks(survey)):
        rows = rows.left_join(more, "file").drop("file_right")
    rows = rows.order_by([ibis.desc(_.bytes_read + _.bytes_written), ibis.desc("low_ns"), "file"])
    return [_file(row) for row in rows.to_pyarrow().to_pylist()]


def _sums(survey: Survey) -> ibis.Table:
    def count(condition: ibis.Deferred) -> ibis.Value:
        return ibis.ifelse(condition, _.calls, 0).sum().cast("int64")

    def moved(direction: str) -> ibis.Value:
        return ibis.ifelse(_.transfer & (_.direction == direction), _.volume, 0).sum().cast("int64")

    small = 2 ** _.size_class.cast("int64") < survey.settings.small_bytes
    return survey.profile.filter(_.file.notnull()).aggregate(
        by="file",
        opens=count((_.kind == Kind.OPEN) & _.parent_level.isnull()),
        stats=count((_.kind == Kind.STAT) & _.parent_level.isnull()),
        syncs=count((_.kind == Kind.SYNC) & _.parent_level.isnull()),
        reads=count(_.transfer & (_.direction == Kind.READ)),
        writes=count(_.transfer & (_.direction == Kind.WRITE)),
        bytes_read=moved(Kind.READ),
        bytes_written=moved(Kind.WRITE),
        duration_ns=ibis.ifelse(survey.outer, _.duration_ns, 0).sum().cast("int64"),
        low_ns=ibis.ifelse(_.parent_level.isnull(), _.duration_ns, 0).sum().cast("int64"),
        consecutive=ibis.ifelse(_.transfer, _.consecutive, 0).sum().cast("int64"),
        jumps=ibis.ifelse(_.transfer, _.forward + _.backward, 0).sum().cast("int64"),
        small=count(_.transfer & small.fill_null(False)),
        unaligned=count(_.transfer & ~_.aligned.fill_null(True)),
        crossing=ibis.ifelse(_.transfer, _.crossing, 0).sum().cast("int64"),
        high=ibis.ifelse(_.transfer, _.high, ibis.null("int64")).max(),
    )


def _orders(survey: Survey) -> ibis.Table:
    strided = ibis.ifelse(_.order == Order.STRIDED, _.forward + _.backward, 0)
    return pattern_rows(survey).aggregate(by="file", strided=strided.sum().cast("int64"))


def _ranks(survey: Survey) -> ibis.Table:
    named = pattern_rows(survey).select("file", "process").distinct()
    named = named.join(survey.processes.filter(_.shown_rank >= 0).select("process", rank="shown_rank"), "process")
    return named.aggregate(by="file", ranks=_.rank.collect())


def _file(row: dict) -> File:  # type: ignore[type-arg]
    strided = row["strided"] or 0
    return File(
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
        strided=strided,
        random=row["jumps"] - strided,
        small=row["small"],
        unaligned=row["unaligned"] if row["block_bytes"] else None,
        crossing=row["crossing"] if row["stripe_bytes"] else None,
        ranks=sorted(row["ranks"] or []),
        high=row["high"],
    )
