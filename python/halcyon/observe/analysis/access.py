"""How files are accessed: sizes, order, alignment, and who shares them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import ibis
from ibis import _

from halcyon.database import Asked, question
from halcyon.observe.analysis.survey import Survey
from halcyon.observe.result_columns import Column, Unit, derived
from halcyon.observe.schema import Level
from halcyon.quantities import size_mark


@dataclass(frozen=True)
class SizeBin:
    """Reads or writes of one level that moved `lower` <= bytes < `upper` each."""

    level: Annotated[str, Column("the interface: hdf5, mpiio, stdio, posix, log", head="level")]
    kind: Annotated[str, Column("read or write", head="kind")]
    lower: Annotated[int, Column("the smallest size of the class", unit=Unit.BYTES, head="from", shown=size_mark)]
    upper: Annotated[int, Column("sizes of the class are below", unit=Unit.BYTES)]
    calls: Annotated[int, Column("transfers of such a size", head="calls")]
    bytes: Annotated[
        int | None, Column("the bytes that they moved; null: the source counted calls alone", head="bytes")
    ]


def sizes(survey: Survey) -> list[SizeBin]:
    """A histogram per level and direction, in powers of two: of the transfers, and of the levels above and below them.

    MPI-IO and HDF5: of calls whose source tells what they moved.
    """
    return [
        SizeBin(
            level=row["level"],
            kind=row["direction"],
            lower=2 ** row["size_class"],
            upper=2 ** (row["size_class"] + 1),
            calls=row["calls"],
            bytes=row["volume"],
        )
        for row in _sizes(survey.profile_with_log).to_pyarrow().to_pylist()
    ]


@question
def _sizes(profile: ibis.Table) -> ibis.Table:
    rows = profile.filter(_.direction.notnull() & _.size_class.notnull() & (_.transfer | _.level.isin(_BESIDE)))
    rows = rows.aggregate(
        by=["level", "direction", "size_class"], calls=_.calls.sum().cast("int64"), volume=_.volume.sum().cast("int64")
    )
    return rows.order_by(["level", "direction", "size_class"])


_BESIDE = (Level.MPIIO, Level.HDF5, Level.LOG)
"""Levels whose bytes are those of others."""


class Order(StrEnum):
    """In which order a process goes through a file, in one direction: what most of its transfers do."""

    CONSECUTIVE = "consecutive"  # each transfer begins where the one before ended
    STRIDED = "strided"  # at the same distance further
    FORWARD = "forward"  # further on, at differing distances
    BACKWARD = "backward"  # further to the file's start
    REPEATED = "repeated"  # back to the first byte each time
    RANDOM = "random"  # forwards and backwards, at distances that hardly repeat
    MIXED = "mixed"  # forwards and backwards, at distances that repeat: several streams, or a header again and again
    SINGLE = "single"  # too few transfers to tell
    UNKNOWN = "unknown"  # the source does not tell offsets


@dataclass(frozen=True)
class Pattern:
    """Transfers of one process in one direction in one file."""

    file: int
    rank: int
    process: int
    kind: str
    order: str
    stride: int | None
    """Bytes from the end of a transfer to the begin of the next, where most jumps have the same."""
    calls: int
    bytes: int
    consecutive: int
    forward: int
    backward: int
    restarts: int
    """Of the backward ones: to the first byte that this process touched."""
    low: int | None
    high: int | None
    """First byte touched, and the byte after the last."""


def pattern_rows(survey: Survey) -> ibis.Table:
    """One row per file, process and direction: sums of the transfers, and their `order`.

    Returns to the first byte touched begin a further pass and are no disorder: orders are of the other steps.
    `strided` counts those at the dominant `stride`, which is null where there is none.
    """
    return survey.once(_patterns)


def _patterns(survey: Survey) -> Asked:
    return _pattern_rows(survey.profile, survey.jumps, survey.disordered, survey.settings.pattern_share)


@question
def _pattern_rows(profile: ibis.Table, jumps: ibis.Table, disordered: ibis.Table, share: float) -> ibis.Table:
    keys = ["file", "process", "direction"]
    rows = profile.filter(_.transfer & _.file.notnull() & (_.volume > 0)).aggregate(
        by=keys,
        calls=_.calls.sum().cast("int64"),
        volume=_.volume.sum().cast("int64"),
        consecutive=_.consecutive.sum().cast("int64"),
        forward=_.forward.sum().cast("int64"),
        backward=_.backward.sum().cast("int64"),
        low=_.low.min(),
        high=_.high.max(),
        duration_ns=_.duration_ns.sum().cast("int64"),
    )
    rows = rows.left_join(_jumps(jumps), keys).drop("file_right", "process_right", "direction_right")
    rows = rows.mutate(restarts=_.restarts.fill_null(0), most=_.most.fill_null(0))
    rows = rows.left_join(disordered.mutate(disordered=True), keys).drop(
        "file_right", "process_right", "direction_right"
    )
    rows = rows.mutate(steps=_.consecutive + _.forward + _.backward - _.restarts)
    regular = (_.most > 1) & (_.most >= share * (_.steps - _.consecutive))
    rows = rows.mutate(stride=ibis.ifelse(regular, _.stride, ibis.null("int64")))
    # Of transfers that overlap, each begins before the end of the last one, and yet further on than that began.
    onward = (_.stride + _.volume / _.calls > 0).fill_null(False)
    order = ibis.cases(
        (_.low.isnull() | ((_.calls > 1) & (_.steps + _.restarts == 0)), Order.UNKNOWN),
        (_.calls < 3, Order.SINGLE),
        (_.restarts >= share * (_.steps + _.restarts), Order.REPEATED),
        (_.consecutive >= share * _.steps, Order.CONSECUTIVE),
        (onward & (_.consecutive + _.most >= share * _.steps), Order.STRIDED),
        (_.consecutive + _.forward >= share * _.steps, Order.FORWARD),
        (_.backward - _.restarts >= share * _.steps, Order.BACKWARD),
        (_.disordered.fill_null(False), Order.RANDOM),
        else_=Order.MIXED,
    )
    rows = rows.mutate(order=order)
    strided = _.order == Order.STRIDED
    return rows.mutate(
        strided=ibis.ifelse(strided, _.most, 0),
        stride=ibis.ifelse(strided | (_.order == Order.BACKWARD), _.stride, ibis.null("int64")),
    )


def _jumps(jumps: ibis.Table) -> ibis.Table:
    """Per file, process and direction: `restarts`, and the `stride` that `most` jumps have."""
    rows = jumps.filter(_.transfer)
    keys = ["file", "process", "direction"]
    most = rows.aggregate(by=[*keys, "stride"], most=_.most.sum()).aggregate(
        by=keys, stride=_.stride.argmax(_.most), most=_.most.max().cast("int64")
    )
    restarts = rows.aggregate(by=keys, restarts=_.restarts.sum().cast("int64"))
    return most.join(restarts, keys)


def patterns(survey: Survey) -> list[Pattern]:
    """Each process's order of transfers in each file."""
    return [
        Pattern(
            file=row["file"],
            rank=row["rank"],
            process=row["process"],
            kind=row["direction"],
            order=row["order"],
            stride=row["stride"],
            calls=row["calls"],
            bytes=row["volume"],
            consecutive=row["consecutive"],
            forward=row["forward"],
            backward=row["backward"],
            restarts=row["restarts"],
            low=row["low"],
            high=row["high"],
        )
        for row in _ranked_patterns(pattern_rows(survey), survey.processes).to_pyarrow().to_pylist()
    ]


@question
def _ranked_patterns(patterns: ibis.Table, processes: ibis.Table) -> ibis.Table:
    named = patterns.join(processes.select("process", rank="shown_rank"), "process")
    return named.order_by(["file", "rank", "direction"])


@dataclass(frozen=True)
class OrderTotal:
    """All pairs of a process and a file that were gone through in one order, in one direction."""

    kind: Annotated[str, Column("read or write", head="kind")]
    order: Annotated[str, Column("the order, see [Analysis](analysis.md#tables)", head="order")]
    pairs: Annotated[
        int, Column("pairs of a process and a file that were gone through in this order", head="process x file")
    ]
    calls: Annotated[int, Column("transfers", head="calls")]
    bytes: Annotated[int, Column("bytes that they moved", head="bytes")]
    seconds: Annotated[float, Column("time in them, in sum over processes", head="time")]


def orders(survey: Survey) -> list[OrderTotal]:
    """By direction, then by bytes."""
    return [
        OrderTotal(
            kind=row["direction"],
            order=row["order"],
            pairs=row["pairs"],
            calls=row["calls"],
            bytes=row["volume"],
            seconds=row["duration_ns"] / 1e9,
        )
        for row in _orders(pattern_rows(survey)).to_pyarrow().to_pylist()
    ]


@question
def _orders(patterns: ibis.Table) -> ibis.Table:
    rows = patterns.aggregate(
        by=["direction", "order"],
        pairs=_.count(),
        calls=_.calls.sum().cast("int64"),
        volume=_.volume.sum().cast("int64"),
        duration_ns=_.duration_ns.sum().cast("int64"),
    )
    return rows.order_by(["direction", ibis.desc("volume"), "order"])


@dataclass(frozen=True)
class Sharing:
    """How the files of a run are divided among its processes, in one direction."""

    kind: Annotated[str, Column("read or write", head="kind")]
    shared_files: Annotated[int, Column("files with transfers of several processes", head="shared files")]
    shared_bytes: Annotated[int, Column("bytes moved in shared files", head="bytes")]
    single_files: Annotated[int, Column("files with transfers of one process", head="single files")]
    single_bytes: Annotated[int, Column("bytes moved in files of one process", head="bytes")]

    @property
    @derived(
        Column(
            "the usual name, by 90 % of the bytes: file per process, shared file, both, none",
            head="approach",
            before="shared_files",
        )
    )
    def approach(self) -> str:
        """The usual name: file per process, shared file, or both. Which one moves the bytes decides."""
        total = self.shared_bytes + self.single_bytes
        if not total:
            return "none"
        if self.shared_bytes >= 0.9 * total:
            return "shared file"
        return "file per process" if self.single_bytes >= 0.9 * total else "both"


def sharing(survey: Survey) -> list[Sharing]:
    """Of reads and of writes."""
    rows = _sharing(pattern_rows(survey)).to_pyarrow().to_pylist()
    return [Sharing(row.pop("direction"), **row) for row in rows]


@question
def _sharing(patterns: ibis.Table) -> ibis.Table:
    each = patterns.aggregate(by=["direction", "file"], users=_.process.nunique(), volume=_.volume.sum().cast("int64"))
    return each.aggregate(
        by="direction",
        shared_files=(_.users > 1).cast("int64").sum().cast("int64"),
        single_files=(_.users == 1).cast("int64").sum().cast("int64"),
        shared_bytes=ibis.ifelse(_.users > 1, _.volume, 0).sum().cast("int64"),
        single_bytes=ibis.ifelse(_.users == 1, _.volume, 0).sum().cast("int64"),
    ).order_by("direction")
