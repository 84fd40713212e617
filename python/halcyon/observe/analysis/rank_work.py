"""What each process was given to do in one direction: calls, bytes, syncs, and writes that wait for the device."""

from dataclasses import dataclass
from statistics import median

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.survey import Survey
from halcyon.observe.analysis.volumes import WRITE
from halcyon.observe.schema import Kind, Level


@dataclass(frozen=True)
class RankWork:
    """Of one rank, in one direction. Shares are of its transfers."""

    rank: int
    calls: int
    bytes: int
    syncs: int
    """0 for reads."""
    synchronous_share: float
    """Through descriptors with O_SYNC or O_DSYNC."""
    direct_share: float
    """Through descriptors with O_DIRECT."""


def rank_work(survey: Survey, modes: ibis.Table, direction: str) -> dict[int, RankWork]:
    """By rank. `modes`: open_modes."""
    return {
        row["rank"]: RankWork(
            rank=row["rank"],
            calls=row["calls"],
            bytes=row["volume"],
            syncs=row["every"] - row["calls"] if direction == WRITE else 0,
            synchronous_share=row["waits"] / row["calls"],
            direct_share=row["past_cache"] / row["calls"],
        )
        for row in _work(survey.profile, modes, survey.processes, direction).to_pyarrow().to_pylist()
    }


@question
def _work(profile: ibis.Table, modes: ibis.Table, processes: ibis.Table, direction: str) -> ibis.Table:
    low = profile.filter(_.level.isin([Level.POSIX, Level.STDIO]))
    rows = low.filter((_.transfer & (_.direction == direction)) | ((_.kind == Kind.SYNC) & (_.level == Level.POSIX)))
    rows = rows.left_join(modes, ["process", "file"]).mutate(
        moves=ibis.ifelse(_.kind == Kind.SYNC, 0, _.calls),
        waits=ibis.ifelse(_.synchronous.fill_null(False) & (direction == WRITE), _.calls, 0),
        past_cache=ibis.ifelse(_.direct.fill_null(False), _.calls, 0),
    )
    transfers = ibis.ifelse(_.kind == Kind.SYNC, 0, 1)
    each = rows.aggregate(
        by="process",
        calls=_.moves.sum().cast("int64"),
        volume=(_.volume * transfers).sum().cast("int64"),
        every=_.calls.sum().cast("int64"),
        waits=(_.waits * transfers).sum().cast("int64"),
        past_cache=(_.past_cache * transfers).sum().cast("int64"),
    )
    return each.join(processes.select("process", rank="shown_rank"), "process").filter(_.calls > 0)


def usual(works: list[RankWork]) -> RankWork:
    """The median of each figure. `works`: one at least."""

    def middle(name: str) -> float:
        return float(median(getattr(one, name) for one in works))

    return RankWork(
        rank=-1,
        calls=round(middle("calls")),
        bytes=round(middle("bytes")),
        syncs=round(middle("syncs")),
        synchronous_share=middle("synchronous_share"),
        direct_share=middle("direct_share"),
    )
