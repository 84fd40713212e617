"""How files are accessed: sizes, order, alignment, and who shares them."""

from dataclasses import dataclass
from enum import StrEnum

import ibis
from ibis import _

from halcyon.observe.analysis.survey import Survey
from halcyon.observe.schema import Level


@dataclass(frozen=True)
class SizeBin:
    """Reads or writes of one level that moved `lower` <= bytes < `upper` each."""

    level: str
    kind: str
    lower: int
    upper: int
    calls: int
    bytes: int | None
    """None: the source counted calls alone."""


def sizes(survey: Survey) -> list[SizeBin]:
    """A histogram per level and direction, in powers of two.

    MPI-IO and HDF5: of calls whose source tells what they moved.
    """
    rows = survey.profile.filter(_.direction.notnull() & _.size_class.notnull() & (_.transfer | _.level.isin(_UPPER)))
    rows = rows.aggregate(
        by=["level", "direction", "size_class"], calls=_.calls.sum().cast("int64"), volume=_.volume.sum().cast("int64")
    )
    return [
        SizeBin(
            level=row["level"],
            kind=row["direction"],
            lower=2 ** row["size_class"],
            upper=2 ** (row["size_class"] + 1),
            calls=row["calls"],
            bytes=row["volume"],
        )
        for row in rows.order_by(["level", "direction", "size_class"]).to_pyarrow().to_pylist()
    ]


_UPPER = (Level.MPIIO, Level.HDF5)


class Order(StrEnum):
    """In which order a process goes through a file, in one direction."""

    CONSECUTIVE = "consecutive"  # each transfer begins where the one before ended
    STRIDED = "strided"  # always the same distance further
    FORWARD = "forward"  # never back, at differing distances
    RANDOM = "random"  # forwards and backwards
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
    """Bytes from the end of a transfer to the begin of the next, where it is always the same."""
    calls: int
    bytes: int
    consecutive: int
    forward: int
    backward: int
    low: int | None
    high: int | None
    """First byte touched, and the byte after the last."""


def pattern_rows(survey: Survey) -> ibis.Table:
    """One row per file, process and direction: sums of the transfers, and their `order`."""
    share = survey.settings.pattern_share
    rows = survey.profile.filter(_.transfer & _.file.notnull() & (_.volume > 0)).aggregate(
        by=["file", "process", "direction"],
        calls=_.calls.sum().cast("int64"),
        volume=_.volume.sum().cast("int64"),
        consecutive=_.consecutive.sum().cast("int64"),
        forward=_.forward.sum().cast("int64"),
        backward=_.backward.sum().cast("int64"),
        step_min=_.step_min.min(),
        step_max=_.step_max.max(),
        low=_.low.min(),
        high=_.high.max(),
        duration_ns=_.duration_ns.sum().cast("int64"),
    )
    rows = rows.mutate(steps=_.consecutive + _.forward + _.backward)
    one_stride = (_.step_min == _.step_max).fill_null(False) & (_.steps > 1)
    order = ibis.cases(
        (_.low.isnull() | ((_.calls > 1) & (_.steps == 0)), Order.UNKNOWN),
        (_.calls < 3, Order.SINGLE),
        (_.consecutive >= share * _.steps, Order.CONSECUTIVE),
        (one_stride & (_.forward + _.backward >= share * _.steps), Order.STRIDED),
        (_.consecutive + _.forward >= share * _.steps, Order.FORWARD),
        else_=Order.RANDOM,
    )
    return rows.mutate(order=order, stride=ibis.ifelse(one_stride, _.step_min, ibis.null("int64")))


def patterns(survey: Survey) -> list[Pattern]:
    """Each process's order of transfers in each file."""
    named = pattern_rows(survey).join(survey.processes.select("process", rank="shown_rank"), "process")
    return [
        Pattern(
            file=row["file"],
            rank=row["rank"],
            process=row["process"],
            kind=row["direction"],
            order=row["order"],
            stride=row["stride"] if row["order"] == Order.STRIDED else None,
            calls=row["calls"],
            bytes=row["volume"],
            consecutive=row["consecutive"],
            forward=row["forward"],
            backward=row["backward"],
            low=row["low"],
            high=row["high"],
        )
        for row in named.order_by(["file", "rank", "direction"]).to_pyarrow().to_pylist()
    ]


@dataclass(frozen=True)
class OrderTotal:
    """All pairs of a process and a file that were gone through in one order, in one direction."""

    kind: str
    order: str
    pairs: int
    calls: int
    bytes: int
    seconds: float


def orders(survey: Survey) -> list[OrderTotal]:
    """By direction, then by bytes."""
    rows = pattern_rows(survey).aggregate(
        by=["direction", "order"],
        pairs=_.count(),
        calls=_.calls.sum().cast("int64"),
        volume=_.volume.sum().cast("int64"),
        duration_ns=_.duration_ns.sum().cast("int64"),
    )
    rows = rows.order_by(["direction", ibis.desc("volume"), "order"])
    return [
        OrderTotal(
            kind=row["direction"],
            order=row["order"],
            pairs=row["pairs"],
            calls=row["calls"],
            bytes=row["volume"],
            seconds=row["duration_ns"] / 1e9,
        )
        for row in rows.to_pyarrow().to_pylist()
    ]


@dataclass(frozen=True)
class Sharing:
    """How the files of a run are divided among its processes, in one direction."""

    kind: str
    shared_files: int
    """With transfers of several processes."""
    single_files: int
    shared_bytes: int
    single_bytes: int

    @property
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
    each = pattern_rows(survey).aggregate(
        by=["direction", "file"], users=_.process.nunique(), volume=_.volume.sum().cast("int64")
    )
    rows = each.aggregate(
        by="direction",
        shared_files=(_.users > 1).cast("int64").sum().cast("int64"),
        single_files=(_.users == 1).cast("int64").sum().cast("int64"),
        shared_bytes=ibis.ifelse(_.users > 1, _.volume, 0).sum().cast("int64"),
        single_bytes=ibis.ifelse(_.users == 1, _.volume, 0).sum().cast("int64"),
    ).order_by("direction")
    return [Sharing(row.pop("direction"), **row) for row in rows.to_pyarrow().to_pylist()]
