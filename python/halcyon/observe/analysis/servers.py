"""What each server or storage target was asked for, where files' layouts are known.

Stripe i of a file lies on the i-th of its servers, in turn; a transfer's bytes are dealt out accordingly. In pictures
over time, a transfer counts when it began (the 'cardiogram' of a server: Dorier's slides on Damaris).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import ibis
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from ibis import _

from halcyon.database import Given, question
from halcyon.observe.analysis import passes
from halcyon.observe.analysis.survey import Survey
from halcyon.observe.analysis.volumes import READ, WRITE
from halcyon.observe.result_columns import Column, Unit, derived


@dataclass
class Server:
    """One server: bytes per step of `Servers.bin_s`, from second 0, and totals."""

    name: Annotated[str, Column("the server")]
    files: Annotated[int, Column("files that have a part on it")] = 0
    read: Annotated[list[float], Column("bytes read in each step of `Servers.bin_s`", unit=Unit.BYTES)] = field(
        default_factory=list
    )
    written: Annotated[list[float], Column("bytes written in each step", unit=Unit.BYTES)] = field(default_factory=list)
    alone_calls: Annotated[
        int, Column("transfers that touched no other server: their times tell of this one alone")
    ] = 0
    alone_bytes: Annotated[int, Column("bytes of these transfers")] = 0
    alone_s: Annotated[float, Column("their time")] = 0.0
    bandwidth_per_call: Annotated[
        float | None, Column("bandwidth of these transfers at which their median byte moved", unit=Unit.BYTES_PER_S)
    ] = None

    @property
    @derived(Column("bytes read"))
    def bytes_read(self) -> int:
        return round(sum(self.read))

    @property
    @derived(Column("bytes written"))
    def bytes_written(self) -> int:
        return round(sum(self.written))

    @property
    @derived(Column("bytes read and written: its load"))
    def bytes(self) -> int:
        """Both ways: its load."""
        return self.bytes_read + self.bytes_written


@dataclass(frozen=True)
class Servers:
    """All servers of a run.

    `counted`: the source kept no calls. Each file's bytes are then spread evenly over the servers that its extent
    reaches, and over the one step that there is, the run: when they moved, nobody knows.
    `unknown_bytes`: moved to or from files whose layout is not known, or at places that are not known in striped ones.
    """

    bin_s: Annotated[float, Column("width of a step; the first begins at second 0")]
    servers: Annotated[list[Server], Column("all servers of the run")]
    unknown_bytes: Annotated[
        int, Column("bytes of files whose layout is not known, or at places that are not known in striped files")
    ]
    counted: Annotated[
        bool,
        Column(
            "the source kept no calls: each file's bytes are spread evenly over the servers that its extent "
            "reaches, and over the run"
        ),
    ] = False

    @property
    @derived(Column("load of the busiest server over the mean load; null: no server is known, or none was used"))
    def imbalance(self) -> float | None:
        """Load of the busiest over the mean load; 1 is even. None: no server is known, or none had anything to do."""
        loads = [server.bytes for server in self.servers]
        return max(loads) * len(loads) / sum(loads) if sum(loads) else None


def servers(survey: Survey) -> Servers:
    """By name."""
    width = survey.activity_step_ns
    bins = survey.end_ns // width + 1
    layouts = layouts_of(survey)
    transferred = _transferred(survey.profile).to_pyarrow()["volume"][0].as_py() or 0
    if not layouts:
        return Servers(width / 1e9, [], int(transferred))
    table = ibis.memtable(
        pa.table(
            {
                "layout_file": pa.array(layouts, pa.int32()),
                "stripe": pa.array((stripe for stripe, _names in layouts.values()), pa.int64()),
                "width": pa.array((len(names) for _stripe, names in layouts.values()), pa.int64()),
            }
        )
    )
    rows = _transfers(survey.directed(passes.stripes(survey.rows, table, Given(width))))
    found: dict[str, _Load] = {name: _Load(bins) for _stripe, names in layouts.values() for name in names}
    for row in rows.to_pyarrow().to_pylist():
        stripe, names = layouts[row["file"]]
        _deal(row, stripe, names, found)
    known = sum(load.total for load in found.values())
    return Servers(
        width / 1e9, [found[name].server(name) for name in sorted(found)], max(int(transferred) - round(known), 0)
    )


def layouts_of(survey: Survey) -> dict[int, tuple[int, Sequence[str]]]:
    """Of each file: stripe and servers. A file on one server needs no stripe: all of it lies there."""
    rows = _laid_out(survey.files).to_pyarrow().to_pylist()
    whole = 1 << 62
    return {
        row["file"]: (row["stripe_bytes"] or whole, row["servers"])
        for row in rows
        if row["servers"] and (row["stripe_bytes"] or len(row["servers"]) == 1)
    }


@question
def _transferred(profile: ibis.Table) -> ibis.Table:
    return profile.filter(_.transfer).aggregate(volume=_.volume.sum())


@question
def _transfers(rows: ibis.Table) -> ibis.Table:
    return rows.filter(_.transfer)


@question
def _laid_out(files: ibis.Table) -> ibis.Table:
    return files.filter(_.servers.notnull())


class _Load:
    """What one server was asked for, while it is added up."""

    def __init__(self, bins: int) -> None:
        self.moved = {READ: np.zeros(bins), WRITE: np.zeros(bins)}
        self.files: set[int] = set()
        self.alone: list[tuple[int, int, int]] = []
        """Calls, bytes and nanoseconds of transfers that it served alone, per file and step of time."""

    @property
    def total(self) -> float:
        return float(sum(each.sum() for each in self.moved.values()))

    def server(self, name: str) -> Server:
        return Server(
            name,
            len(self.files),
            self.moved[READ].tolist(),
            self.moved[WRITE].tolist(),
            sum(calls for calls, _bytes, _ns in self.alone),
            sum(volume for _calls, volume, _ns in self.alone),
            sum(spent_ns for _calls, _bytes, spent_ns in self.alone) / 1e9,
            self._usual_bandwidth(),
        )

    def _usual_bandwidth(self) -> float | None:
        """That of the median byte, and the faster one of two: a few transfers that something delayed, or one process
        that writes in its own way, do not make a slow server."""
        speeds = sorted(((volume * 1e9 / spent_ns, volume) for _calls, volume, spent_ns in self.alone if spent_ns))
        left = sum(volume for _speed, volume in speeds) / 2
        for speed, volume in reversed(speeds):
            left -= volume
            if left <= 0:
                return speed
        return None


def _deal(row: dict[str, int], stripe: int, names: Sequence[str], loads: dict[str, _Load]) -> None:
    """Deals out the transfers of one row, which all touch `touched` stripes, beginning at server `first`."""
    count = len(names)
    first, touched, step = row["first"], row["touched"], row["bin"]
    shares = share_bytes(first, touched, row["front"], row["back"], stripe * row["calls"], count)
    for name, share in zip(names, shares, strict=True):
        if share:
            loads[name].moved[str(row["direction"])][step] += share
            loads[name].files.add(row["file"])
    if count == 1 or touched == 1:
        loads[names[first]].alone.append((row["calls"], row["volume"], row["duration_ns"]))


def share_bytes(first: int, touched: int, front: int, back: int, whole: int, count: int) -> npt.NDArray[np.int64]:
    """Bytes on each of `count` servers of transfers over `touched` stripes from server `first` on.

    `front` bytes lie in the first stripe, `back` in the last (if another), `whole` in each between.
    """
    shares = np.zeros(count, np.int64)
    shares[first] += front
    if touched > 1:
        shares[(first + touched - 1) % count] += back
    rounds, rest = divmod(max(touched - 2, 0), count)
    shares += rounds * whole
    for place in range(rest):
        shares[(first + 1 + place) % count] += whole
    return shares
