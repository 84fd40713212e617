"""How fast data moved, as the user perceives it and as the calls' own times tell (Wright 2014, section 4.1).

*Perceived* bandwidth divides bytes by the time during which at least one process was in such a call; *effective*
bandwidth divides them by the sum of the calls' times, as if they had been made one after the other.
"""

from dataclasses import dataclass
from typing import Annotated

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.covered import covered
from halcyon.observe.analysis.survey import Survey
from halcyon.observe.result_columns import Column, Unit, derived
from halcyon.observe.schema import Kind, Level

ALL = "all"
"""Reads, writes, and (for MPI-IO) waiting for those started before."""


@dataclass(frozen=True)
class Bandwidth:
    """Bytes, times in seconds and rates in bytes per second of one kind, in one file or (`file` None) in the whole run.

    None: there was no such call, or it took no time. `*_wall_s`: union over all processes (Survey.resolution_ns); None:
    calls were only counted (counted.py).
    `perceived_posix_low`, `…_high`: bounds from MPI-IO's side; `perceived_posix` is measured on the run's common clock.
    """

    file: Annotated[int | None, Column("the file; null: the whole run")]
    kind: Annotated[str, Column("read, write, or all: both, with waiting for nonblocking transfers")]
    bytes: Annotated[
        int, Column("bytes that the application moved: by MPI-IO, and by POSIX calls that MPI-IO did not make")
    ]
    mpi_bytes: Annotated[int, Column("bytes that MPI-IO moved", on_page=False)]
    mpi_s: Annotated[float, Column("time in calls of MPI-IO, in sum over processes", on_page=False)]
    mpi_wall_s: Annotated[
        float | None,
        Column(
            "union of the intervals of these calls over all processes; null: the source kept no calls", on_page=False
        ),
    ]
    posix_bytes: Annotated[int, Column("bytes that POSIX transfers moved", on_page=False)]
    posix_s: Annotated[float, Column("time in POSIX transfers, in sum over processes", on_page=False)]
    posix_wall_s: Annotated[
        float | None, Column("union of their intervals; null: the source kept no calls", on_page=False)
    ]
    processes: Annotated[
        int,
        Column(
            "processes that made POSIX transfers: with collective buffering fewer than ranks; 0: not known",
            on_page=False,
        ),
    ]
    posix_span_s: Annotated[
        float | None,
        Column("of counters: from the first to the last transfer, which bounds their union", on_page=False),
    ] = None
    posix_alone_bytes: Annotated[
        int,
        Column(
            "of `posix_bytes`: bytes that no call of MPI-IO moved, so that times of MPI-IO bound nothing of them",
            on_page=False,
        ),
    ] = 0
    posix_cut: Annotated[
        bool, Column("the source had no room for all POSIX transfers of these files: POSIX rates are not known")
    ] = False

    @property
    @derived(
        Column(
            "aggregate bandwidth of MPI-IO (Wright 2014: perceived): bytes over the union of its calls",
            unit=Unit.BYTES_PER_S,
        )
    )
    def perceived_mpi(self) -> float | None:
        return _rate(self.mpi_bytes, self.mpi_wall_s)

    @property
    @derived(
        Column(
            "per-process bandwidth of MPI-IO (Wright 2014: effective): bytes over the sum of the times of its calls",
            unit=Unit.BYTES_PER_S,
        )
    )
    def effective_mpi(self) -> float | None:
        return _rate(self.mpi_bytes, self.mpi_s)

    @property
    @derived(Column("the same of POSIX: bytes over the sum of the times of transfers", unit=Unit.BYTES_PER_S))
    def effective_posix(self) -> float | None:
        return None if self.posix_cut else _rate(self.posix_bytes, self.posix_s)

    @property
    @derived(Column("aggregate bandwidth of POSIX: bytes over the union of transfers", unit=Unit.BYTES_PER_S))
    def perceived_posix(self) -> float | None:
        return _rate(self.posix_bytes, self.posix_wall_s)

    @property
    @derived(Column("lower bound of `perceived_posix`, which needs no common clock", unit=Unit.BYTES_PER_S))
    def perceived_posix_low(self) -> float | None:
        """As `bounds_from` says: POSIX calls are at least as fast as the MPI-IO calls that they are made by."""
        return self._bound_by_mpi or _rate(self.posix_bytes, self.posix_span_s)

    @property
    @derived(Column("upper bound of `perceived_posix`: all processes transfer all the time", unit=Unit.BYTES_PER_S))
    def perceived_posix_high(self) -> float | None:
        """As if all processes that transfer did so at once, all the time."""
        return self.effective_posix * self.processes if self.effective_posix and self.processes else None

    @property
    @derived(Column("source of the bounds: MPI-IO, or the first and last transfer; null: there are none"))
    def bounds_from(self) -> str | None:
        """Of what the bounds are; None: there are none."""
        if self.perceived_posix_low is None or self.perceived_posix_high is None:
            return None
        return "MPI-IO" if self._bound_by_mpi else "first and last transfer"

    @property
    def _bound_by_mpi(self) -> float | None:
        return None if self.posix_alone_bytes else self.perceived_mpi


def _rate(volume: int, seconds: float | None) -> float | None:
    return volume / seconds if volume and seconds else None


def bandwidths(survey: Survey) -> list[Bandwidth]:
    """The whole run first, then each file by its bytes; per file read, write, all (those that occur)."""
    found = _rows(survey.profile, survey.moments, survey.file_moments, survey.related)
    by_scope: dict[tuple[int, str], dict[str, dict[str, int]]] = {}
    for row in found.to_pyarrow().to_pylist():
        by_scope.setdefault((row["scope"], row["kind"]), {})[row["side"]] = row
    result = [_bandwidth(scope, kind, sides) for (scope, kind), sides in by_scope.items()]
    order = [Kind.WRITE, Kind.READ, ALL]
    totals = {entry.file: entry.bytes for entry in result if entry.kind == ALL}
    return sorted(result, key=lambda e: (e.file is not None, -totals.get(e.file, 0), e.file or 0, order.index(e.kind)))


_NOTHING = {"bytes": 0, "own": 0, "sum_ns": 0, "wall_ns": 0, "processes": 0}


def _bandwidth(scope: int, kind: str, sides: dict[str, dict[str, int]]) -> Bandwidth:
    mpi, posix = sides.get("mpi", _NOTHING), sides.get("posix", _NOTHING)
    return Bandwidth(
        file=None if scope < 0 else scope,
        kind=kind,
        bytes=mpi["own"] + posix["own"],
        mpi_bytes=mpi["bytes"],
        mpi_s=mpi["sum_ns"] / 1e9,
        mpi_wall_s=mpi["wall_ns"] / 1e9,
        posix_bytes=posix["bytes"],
        posix_s=posix["sum_ns"] / 1e9,
        posix_wall_s=posix["wall_ns"] / 1e9,
        processes=posix["processes"],
        posix_alone_bytes=posix["own"],
    )


_OF_SIDES = ("level", "kind", "parent_level", "direction", "transfer")
_OF_WALLS = (*_OF_SIDES, "begin_ns", "end_ns")


def _sided(rows: ibis.Table) -> ibis.Table:
    """Rows of both sides, once as what they are and once as `all`; `side`: mpi or posix."""
    mpi = (
        (_.level == Level.MPIIO)
        & (_.direction.notnull() | (_.kind == Kind.WAIT))
        & (_.parent_level != Level.MPIIO).fill_null(True)
    )
    sided = rows.mutate(side=ibis.cases((mpi, "mpi"), (_.transfer, "posix"), else_=ibis.null("string"))).filter(
        _.side.notnull()
    )
    each = sided.filter(_.direction.notnull()).mutate(kind=_.direction)
    return ibis.union(each, sided.mutate(kind=ibis.literal(ALL)))


@question
def _rows(profile: ibis.Table, moments: ibis.Table, file_moments: ibis.Table, related: bool) -> ibis.Table:
    both = _sums(profile, related).left_join(_walls(moments, file_moments), ["scope", "kind", "side"])
    return both.select("scope", "kind", "side", "bytes", "own", "sum_ns", "processes", wall_ns=_.wall_ns.fill_null(0))


def _made_by_mpiio(profile: ibis.Table, related: bool) -> ibis.Deferred:
    """Condition: a transfer that MPI-IO made. Where no source tells, one on a file that MPI-IO transferred, too."""
    if related:
        return (_.parent_level == Level.MPIIO).fill_null(False)
    upper = profile.filter((_.level == Level.MPIIO) & _.direction.notnull() & _.file.notnull())
    return _.file.isin(upper.select("file").distinct().file).fill_null(False)


def _sums(profile: ibis.Table, related: bool) -> ibis.Table:
    needed = profile.select("process", "file", *_OF_SIDES, "volume", "duration_ns")
    rows = _sided(needed).mutate(made=_made_by_mpiio(profile, related))
    rows = rows.mutate(own=ibis.ifelse((_.side == "posix") & _.made, 0, _.volume))
    whole = rows.mutate(scope=ibis.literal(-1, "int32"))
    files = rows.filter(_.file.notnull()).mutate(scope=_.file)
    return ibis.union(whole, files).aggregate(
        by=["scope", "kind", "side"],
        bytes=_.volume.sum().cast("int64"),
        own=_.own.sum().cast("int64"),
        sum_ns=_.duration_ns.sum().cast("int64"),
        processes=_.process.nunique(),
    )


def _walls(moments: ibis.Table, file_moments: ibis.Table) -> ibis.Table:
    each, of_files = moments.select(*_OF_WALLS), file_moments.select("file", *_OF_WALLS)
    whole = _sided(each).select("kind", "side", "begin_ns", "end_ns", scope=ibis.literal(-1, "int32"))
    files = _sided(of_files).select("kind", "side", "begin_ns", "end_ns", scope=_.file)
    both = ibis.union(whole, files).rename(begin="begin_ns", end="end_ns")
    return covered(both, ["scope", "kind", "side"]).rename(wall_ns="covered")
