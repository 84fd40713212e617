"""What counters say of a run: of a source that kept no calls, or only reads and writes (Darshan without and with DXT).

Sums are exact. What a counter does not carry (the union of times, the order of calls, sizes between two marks of a
histogram) is None here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import ibis
from ibis import _

from halcyon.database import Rows, question
from halcyon.observe.analysis.access import SizeBin
from halcyon.observe.analysis.bandwidth import ALL, Bandwidth
from halcyon.observe.analysis.files import File
from halcyon.observe.analysis.metadata import Metadata, MetadataLoad
from halcyon.observe.analysis.survey import Survey, any_row
from halcyon.observe.analysis.times import TimeSpent
from halcyon.observe.schema import Kind, Level

LEVELS = {"POSIX": Level.POSIX, "STDIO": Level.STDIO, "MPI-IO": Level.MPIIO}
"""Of Darshan's modules."""
METADATA = "metadata"
"""Opens, closes, stats and seeks: Darshan sums their times up together."""

_WHOLE = {
    "reads": ("READS", "INDEP_READS", "COLL_READS", "SPLIT_READS", "NB_READS"),
    "writes": ("WRITES", "INDEP_WRITES", "COLL_WRITES", "SPLIT_WRITES", "NB_WRITES"),
    "opens": ("OPENS", "FDOPENS", "INDEP_OPENS", "COLL_OPENS"),
    "stats": ("STATS",),
    "syncs": ("FSYNCS", "FDSYNCS", "SYNCS", "FLUSHES"),
    "bytes_read": ("BYTES_READ",),
    "bytes_written": ("BYTES_WRITTEN",),
    "consecutive": ("CONSEC_READS", "CONSEC_WRITES"),
    "unaligned": ("FILE_NOT_ALIGNED",),
    "collective_reads": ("COLL_READS", "SPLIT_READS"),
    "collective_writes": ("COLL_WRITES", "SPLIT_WRITES"),
    "slowest_rank": ("SLOWEST_RANK",),
    "slowest_bytes": ("SLOWEST_RANK_BYTES",),
}
_REAL = {
    "read_s": ("F_READ_TIME",),
    "write_s": ("F_WRITE_TIME",),
    "metadata_s": ("F_META_TIME",),
    "slowest_s": ("F_SLOWEST_RANK_TIME",),
    "variance": ("F_VARIANCE_RANK_TIME",),
}
_MARKS = (
    ("0_100", 0, 101),
    ("100_1K", 101, 1025),
    ("1K_10K", 1025, 10241),
    ("10K_100K", 10241, 102401),
    ("100K_1M", 102401, 1048577),
    ("1M_4M", 1048577, 4194305),
    ("4M_10M", 4194305, 10485761),
    ("10M_100M", 10485761, 104857601),
    ("100M_1G", 104857601, 1073741825),
    ("1G_PLUS", 1073741825, 1 << 62),
)
"""Of Darshan's histograms of sizes: a bin's last size is a whole number of kibibytes, and belongs to it."""
SMALL = ("0_100", "100_1K", "1K_10K")
"""Bins of which all is small (settings.small_bytes); of 10K_100K nobody knows which part is."""


WHOLE_SHARE = 0.99
"""Of the bytes that MPI-IO was asked for: as much has reached the file system where a source counted all of it."""


@dataclass(frozen=True)
class Volume:
    """Sums over all records of a level."""

    level: str
    opens: int
    stats: int
    reads: int
    writes: int
    bytes_read: int
    bytes_written: int
    read_s: float
    write_s: float
    metadata_s: float


class Counted:
    """The tables that counters can fill."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey

    @cached_property
    def records(self) -> ibis.Table:
        """One row per module, process (null: all ranks together) and file; sums of calls, bytes and seconds.

        `reads_0_100` … `writes_1G_PLUS` count sizes. `read_from`, `read_to`, `write_from`, `write_to`: seconds of the
        run; null where nothing was read or written. `high`: the byte after the last one touched. `slowest_rank`,
        `slowest_s`, `slowest_bytes`, `variance` (of the ranks' times): of records that all ranks share.
        """
        return self.survey.keep("records", _records(self.survey.dataset.counters))

    @cached_property
    def complete(self) -> bool:
        """Whether the source had room for all files of POSIX: else it may hold less of one than MPI-IO wrote."""
        return not len(_partial(self.survey.dataset.absences).to_pyarrow())

    @cached_property
    def own(self) -> ibis.Table:
        """The records of what the application itself called: of files of MPI-IO, not what that made of POSIX."""
        return self.survey.keep("own_records", _own(self.records))

    @cached_property
    def transfers(self) -> ibis.Table:
        """The records of what reached the file system."""
        return self.survey.keep("transfer_records", _transfers(self.records))

    @cached_property
    def volumes(self) -> list[Volume]:
        """By level: MPI-IO, POSIX, stdio (those that there are)."""
        rows = _volumes(self.records).to_pyarrow().to_pylist()
        return [Volume(level=LEVELS[row.pop("module")], **row) for row in rows]

    @cached_property
    def io_s(self) -> float:
        """Time in the application's own calls, in sum over processes."""
        return float(_spent(self.own).to_pyarrow()["s"][0].as_py() or 0)

    @cached_property
    def bytes_moved(self) -> tuple[int, int]:
        """Read and written, between processes and files."""
        return sum(one.bytes_read for one in self.files), sum(one.bytes_written for one in self.files)

    @cached_property
    def whole_files(self) -> tuple[dict[int, int], int]:
        """Bytes of each file of which as much was transferred as MPI-IO was asked for; and the bytes of all files."""
        rows = _sides(self.records).to_pyarrow().to_pylist()
        whole = {
            row["file"]: row["lower"] for row in rows if row["lower"] >= WHOLE_SHARE * row["upper"] and row["lower"]
        }
        return whole, sum(max(row["upper"], row["lower"]) for row in rows)

    def times(self) -> list[TimeSpent]:
        """By the time spent, the most first."""
        found = [
            TimeSpent(one.level, kind, calls, None, volume, spent, spent if one.level == Level.POSIX else None, None)
            for one in self.volumes
            for kind, calls, volume, spent in (
                (Kind.READ.value, one.reads, one.bytes_read, one.read_s),
                (Kind.WRITE.value, one.writes, one.bytes_written, one.write_s),
                (METADATA, one.opens + one.stats, 0, one.metadata_s),
            )
            if calls or spent
        ]
        return sorted(found, key=lambda one: (-one.seconds, one.level, one.kind))

    def metadata(self) -> Metadata:
        """Opens and stats. Darshan has no times of their own: it sums up those of all metadata calls."""
        low = [one for one in self.volumes if one.level != Level.MPIIO]
        per_second = max(self.survey.end_ns / 1e9, 1.0)
        counts = {Kind.OPEN: sum(one.opens for one in low), Kind.STAT: sum(one.stats for one in low)}
        kinds = [
            MetadataLoad(kind.value, calls, None, None, calls / per_second, None)
            for kind, calls in counts.items()
            if calls
        ]
        transfers = sum(one.reads + one.writes for one in low)
        return Metadata(kinds, sum(counts.values()), transfers, sum(one.metadata_s for one in low), None)

    def sizes(self) -> list[SizeBin]:
        """Darshan's own bins; how many bytes each holds, it does not tell."""
        columns = {f"{kind}_{mark}": _[f"{kind}_{mark}"].sum() for kind in ("reads", "writes") for mark, *_b in _MARKS}
        rows = self.records.aggregate(by="module", **columns).order_by("module").to_pyarrow().to_pylist()
        return [
            SizeBin(LEVELS[row["module"]], kind, low, high, row[f"{kind}s_{mark}"], None)
            for row in rows
            for kind in (Kind.READ.value, Kind.WRITE.value)
            for mark, low, high in _MARKS
            if row[f"{kind}s_{mark}"]
        ]

    def bandwidths(self) -> list[Bandwidth]:
        """As of calls, but for what is perceived: it is bounded by the time from the first to the last of them."""
        whole = {side: self._sides(rows, "module") for side, rows in self._by_side.items()}
        files = {side: self._sides(rows, "file") for side, rows in self._by_side.items()}
        scopes = sorted({file for rows in files.values() for file in rows if file is not None})
        found = [self._bandwidth(None, kind, {s: list(r.values()) for s, r in whole.items()}) for kind in _KINDS]
        for file in scopes:
            own = {side: [rows[file]] if file in rows else [] for side, rows in files.items()}
            found += [self._bandwidth(file, kind, own) for kind in _KINDS]
        totals = {one.file: one.bytes for one in found if one.kind == ALL}
        found = [one for one in found if one.mpi_bytes or one.posix_bytes or one.mpi_s or one.posix_s]
        order = list(_KINDS)
        return sorted(found, key=lambda e: (e.file is not None, -totals[e.file], e.file or 0, order.index(e.kind)))

    @cached_property
    def _by_side(self) -> dict[str, Rows]:
        return {"mpi": _of_mpiio(self.records), "posix": self.transfers, "own": self.own}

    def _sides(self, rows: Rows, by: str) -> dict[Any, dict[str, float]]:
        return {row[by]: row for row in _sums_by(rows, by).to_pyarrow().to_pylist()}

    def _bandwidth(self, file: int | None, kind: str, sides: dict[str, list[dict[str, float]]]) -> Bandwidth:
        def total(side: str, *names: str) -> float:
            return sum(row[name] for row in sides[side] for name in names)

        volumes, spent, ends = _KINDS[kind]
        stamps = [
            (row[f"{each}_from"], row[f"{each}_to"])
            for row in sides["posix"]
            for each in ends
            if row[f"{each}_from"] is not None and row[f"{each}_to"] is not None
        ]
        known = bool(stamps) and self.complete
        span = max(end for _begin, end in stamps) - min(begin for begin, _end in stamps) if known else None
        shared = any(row["shared"] for row in sides["posix"])
        users = self.survey.ranks if shared else int(max((row["processes"] for row in sides["posix"]), default=0))
        asked, reached = total("mpi", *volumes), total("posix", *volumes)
        return Bandwidth(
            file=file,
            kind=kind,
            bytes=int(total("own", *volumes)),
            mpi_bytes=int(asked),
            mpi_s=total("mpi", *spent),
            mpi_wall_s=None,
            posix_bytes=int(reached),
            posix_s=total("posix", *spent),
            posix_wall_s=None,
            processes=users if self.complete else 0,
            posix_span_s=span,
            posix_cut=not self.complete and reached < WHOLE_SHARE * asked,
        )

    @cached_property
    def files(self) -> list[File]:
        """By bytes, then by time. Order, and what is small, is not known; ranks are those with records of their own.

        Of a file whose transfers the source had no room to count, what MPI-IO was asked for.
        """
        rows = _files(self.records, self.own, self.survey.files, self.complete)
        return [_file(row, self.survey.ranks) for row in rows.to_pyarrow().to_pylist()]


_KINDS = {
    Kind.WRITE.value: (("bytes_written",), ("write_s",), ("write",)),
    Kind.READ.value: (("bytes_read",), ("read_s",), ("read",)),
    ALL: (("bytes_read", "bytes_written"), ("read_s", "write_s"), ("read", "write")),
}


def _file(row: dict, all_ranks: int) -> File:  # type: ignore[type-arg]
    counts = ("opens", "stats", "syncs", "reads", "writes", "bytes_read", "bytes_written", "seconds", "high")
    return File(
        **{name: row[name] for name in ("file", "path", "filesystem", "block_bytes", "stripe_bytes", *counts)},
        servers=list(row["servers"] or []),
        consecutive=row["consecutive"] if row["ordered"] else None,
        strided=None,
        forward=None,
        backward=None,
        restarts=None,
        random=None,
        small=None,
        unaligned=row["unaligned"] if row["block_bytes"] else None,
        crossing=None,
        # Darshan makes one record of those of all ranks when each of them opened the file.
        ranks=list(range(all_ranks)) if row["shared"] else sorted(row["ranks"] or []),
    )


def counted(survey: Survey) -> Counted | None:
    """None where the source counted no reads and writes."""
    if not any_row(survey.dataset.counters):
        return None  # need not be asked for each counter
    found = Counted(survey)
    return found if any_row(found.records) else None


@question
def _records(counters: ibis.Table) -> ibis.Table:
    own = counters.filter(_.module.isin(list(LEVELS)) & _.file.notnull())
    rows = own.mutate(name=_.counter.re_replace("^(POSIX|STDIO|MPIIO)_", ""))

    def whole(names: Iterable[str]) -> ibis.Value:
        return ibis.ifelse(_.name.isin(list(names)) & (_.integer >= 0), _.integer, ibis.null("int64")).sum()

    def real(names: Iterable[str]) -> ibis.Value:
        return ibis.ifelse(_.name.isin(list(names)) & (_.real >= 0), _.real, ibis.null("float64")).sum()

    def stamp(name: str) -> ibis.Value:
        return ibis.ifelse((_.name == f"F_{name}_TIMESTAMP") & (_.real > 0), _.real, ibis.null("float64")).max()

    sums = {name: whole(names).cast("int64").fill_null(0) for name, names in _WHOLE.items()}
    sums["slowest_rank"] = whole(_WHOLE["slowest_rank"]).cast("int64")  # rank 0 is a rank
    touched = _.name.isin(["MAX_BYTE_READ", "MAX_BYTE_WRITTEN"]) & (_.integer > 0)
    sums["high"] = ibis.ifelse(touched, _.integer + 1, ibis.null("int64")).max()
    sums |= {name: real(names).fill_null(0.0) for name, names in _REAL.items()}
    for kind, agg in (("read", "reads"), ("write", "writes")):
        sums |= {
            f"{agg}_{mark}": whole([f"SIZE_{kind.upper()}_{mark}", f"SIZE_{kind.upper()}_AGG_{mark}"])
            .cast("int64")
            .fill_null(0)
            for mark, _low, _high in _MARKS
        }
        sums |= {f"{kind}_from": stamp(f"{kind.upper()}_START"), f"{kind}_to": stamp(f"{kind.upper()}_END")}
    return rows.aggregate(by=["module", "process", "file"], **sums)


@question
def _own(records: ibis.Table) -> ibis.Table:
    upper = records.filter(_.module == "MPI-IO").select("file").distinct()
    low = records.filter(_.module == "POSIX").anti_join(upper, "file")
    return records.filter(_.module != "POSIX").union(low)


@question
def _transfers(records: ibis.Table) -> ibis.Table:
    return records.filter(_.module != "MPI-IO")


@question
def _volumes(records: ibis.Table) -> ibis.Table:
    names = [name for name in Volume.__dataclass_fields__ if name != "level"]
    return records.aggregate(by="module", **{name: _[name].sum() for name in names}).order_by("module")


@question
def _spent(records: ibis.Table) -> ibis.Table:
    return records.aggregate(s=(_.read_s + _.write_s + _.metadata_s).sum())


@question
def _sides(records: ibis.Table) -> ibis.Table:
    volume = _.bytes_read + _.bytes_written
    return records.aggregate(
        by="file",
        upper=ibis.ifelse(_.module == "MPI-IO", volume, 0).sum(),
        lower=ibis.ifelse(_.module == "MPI-IO", 0, volume).sum(),
    )


@question
def _of_mpiio(records: ibis.Table) -> ibis.Table:
    return records.filter(_.module == "MPI-IO")


@question
def _sums_by(records: ibis.Table, by: str) -> ibis.Table:
    return records.aggregate(
        by=by,
        **{name: _[name].sum() for name in ("bytes_read", "bytes_written", "read_s", "write_s")},
        **{name: _[name].min() for name in ("read_from", "write_from")},
        **{name: _[name].max() for name in ("read_to", "write_to")},
        shared=_.process.isnull().any(),
        processes=_.process.nunique(),
    )


@question
def _files(records: ibis.Table, own: ibis.Table, files: ibis.Table, complete: bool) -> ibis.Table:
    spent = own.aggregate(by="file", seconds=(_.read_s + _.write_s + _.metadata_s).sum())
    lower, upper = _.module != "MPI-IO", _.module == "MPI-IO"

    def below(name: str) -> ibis.Value:
        return ibis.ifelse(lower, _[name], 0).sum().cast("int64")

    def told(name: str) -> ibis.Value:
        if complete:
            return below(name)
        return ibis.greatest(below(name), ibis.ifelse(upper, _[name], 0).sum().cast("int64"))

    names = ("opens", "stats", "syncs", "reads", "writes", "bytes_read", "bytes_written")
    sums = records.aggregate(
        by="file",
        **{name: told(name) for name in names},
        ordered=below("reads") + below("writes"),
        consecutive=below("consecutive"),
        unaligned=below("unaligned"),
        high=_.high.max(),
        ranks=_.process.collect(distinct=True),
        shared=_.process.isnull().any(),
    )
    rows = sums.join(spent, "file").join(files, "file")
    return rows.order_by([ibis.desc(_.bytes_read + _.bytes_written), ibis.desc("seconds"), "file"])


@question
def _partial(absences: ibis.Table) -> ibis.Table:
    return absences.filter((_.what == "partial") & (_.subject == "POSIX"))
