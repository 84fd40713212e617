"""A rank that is slower than all others in shared files."""

from dataclasses import dataclass

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.counted import Counted
from halcyon.observe.findings.counted.records import when
from halcyon.observe.findings.finding import Evidence, Finding, found
from halcyon.quantities import plural


@dataclass(frozen=True)
class _Slow:
    """The slowest rank of one shared file."""

    rank: int
    file: int
    spent: float
    others: float
    """Mean of the others."""


def find(answers: Answers, known: Counted) -> list[Finding]:
    """Ranks that stand alone, with no more to do, in shared files: their time, the mean and the variance tell."""
    ranks = answers.survey.dataset.info.ranks or 0
    if ranks < 3:  # of two, nobody knows which one is the odd one
        return []
    found_ones = [_alone(row, ranks, answers) for row in _shared(known.own).to_pyarrow().to_pylist()]
    slow: dict[int, list[_Slow]] = {}
    for one in found_ones:
        if one is not None:
            slow.setdefault(one.rank, []).append(one)
    return [finding for rank, own in slow.items() for finding in _slow_finding(answers, known, rank, own, ranks)]


def _alone(row: dict[str, float], ranks: int, answers: Answers) -> _Slow | None:
    """One rank that exceeds n - 1 equal ones by d makes a variance of d² (n - 1) / n²."""
    spent, volume = row["slowest_s"], row["slowest_bytes"]
    others = max(row["read_s"] + row["write_s"] + row["metadata_s"] - spent, 0.0) / (ranks - 1)
    others_bytes = (row["bytes_read"] + row["bytes_written"] - volume) / (ranks - 1)
    factor = answers.settings.slow_factor
    if spent < factor * others or volume > factor * others_bytes:
        return None
    explained = (spent - others) ** 2 * (ranks - 1) / ranks**2
    if row["variance"] > 2 * explained:  # the others scatter as much
        return None
    return _Slow(int(row["slowest_rank"]), int(row["file"]), spent, others)


def _slow_finding(answers: Answers, known: Counted, rank: int, own: list[_Slow], ranks: int) -> list[Finding]:
    lost = sum(one.spent - one.others for one in own)
    files = sorted(one.file for one in own)
    return found(
        answers,
        key="slow-rank",
        seconds_lost=lost * (ranks - 1),
        spent_s=sum(one.spent for one in own) * (ranks - 1),
        title=f"Rank {rank} is slower than all others in {plural(len(own), 'shared file')}",
        explanation="It has no more to do than the others, who scatter less than it is apart from them.",
        change=(
            "See whether it opens its files with O_SYNC, O_DSYNC or O_DIRECT, which counters do not tell. If it does "
            "not, look at its node: its network link, its memory, what else runs there."
        ),
        estimate="its time less the others' mean, times the ranks that wait for it",
        calls=None,
        bytes=None,
        evidence=[
            Evidence("rank_s", "its time", sum(one.spent for one in own)),
            Evidence("others_s", "mean of the others", sum(one.others for one in own)),
        ],
        files=files,
        ranks=[rank],
        when=when(_of_files(_shared(known.own), tuple(files))),
    )


@question
def _shared(records: ibis.Table) -> ibis.Table:
    rows = records.filter(_.process.isnull() & (_.slowest_s > 0) & (_.bytes_read + _.bytes_written > 0))
    return rows.order_by("file")


@question
def _of_files(rows: ibis.Table, files: tuple[int, ...]) -> ibis.Table:
    return rows.filter(_.file.isin(files))
