"""One rank that moves nearly everything."""

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.counted import Counted
from halcyon.observe.findings.counted.records import files_of, when
from halcyon.observe.findings.finding import Evidence, Finding, found
from halcyon.observe.findings.mpiio_means import of_mpiio
from halcyon.observe.mpi_library import AGGREGATORS
from halcyon.quantities import percent


def find(answers: Answers, known: Counted) -> list[Finding]:
    """What a rank moved at least: in files of its own, and in shared ones whose slowest rank it was.

    Of files whose transfers were counted whole; these must hold most of the run's bytes.
    """
    ranks = answers.survey.dataset.info.ranks or 0
    whole, every = known.whole_files
    total = sum(whole.values())
    if ranks < 2 or not total or total < every / 2:
        return []
    rows = _of_ranks(known.transfers, known.records, tuple(sorted(whole)), ranks)
    most = _most(rows).to_pyarrow().to_pylist()
    if not most or most[0]["volume"] < answers.settings.one_rank_share * total:
        return []
    rank, volume, spent, cost = (most[0][name] for name in ("rank", "volume", "spent", "cost"))
    own = _of_rank(rows, rank)
    return found(
        answers,
        key="one-rank-moves-all",
        seconds_lost=cost * (1 - 1 / ranks),
        spent_s=cost,
        title=f"Rank {rank} moves nearly everything",
        explanation=(
            f"It moves {percent(volume / total)} of the bytes of {ranks:,} ranks. One process has one stream to the "
            "servers, and the data crosses the network twice."
            + ("" if total == every else " (Files that were not counted whole are left out.)")
        ),
        change=(
            "Let all ranks take part: collective MPI-IO or parallel HDF5 (H5Pset_fapl_mpio); where they do, set "
            f"{of_mpiio(answers, romio='the hint cb_nodes', ompio=AGGREGATORS)} to at least the number of nodes."
        ),
        estimate=(
            "its time (in files of collective calls: that of all ranks, which wait for it), less what would remain "
            "if all ranks shared the transfers evenly"
        ),
        calls=None,
        bytes=volume,
        evidence=[
            Evidence("rank_share", "its share of all bytes", volume / total),
            Evidence("rank_bytes", "its bytes", volume),
            Evidence("spent_s", "time in its transfers and opens", spent),
        ],
        files=files_of(own),
        ranks=[rank],
        when=when(own),
    )


@question
def _of_ranks(transfers: ibis.Table, records: ibis.Table, files: tuple[int, ...], ranks: int) -> ibis.Table:
    rows = transfers.filter(_.file.isin(files)).mutate(
        rank=ibis.coalesce(_.process.cast("int64"), _.slowest_rank),
        volume=ibis.ifelse(_.process.isnull(), _.slowest_bytes, _.bytes_read + _.bytes_written),
        spent=ibis.ifelse(_.process.isnull(), _.slowest_s, _.read_s + _.write_s),
    )
    waiting = records.filter((_.module == "MPI-IO") & (_.collective_reads + _.collective_writes > 0)).aggregate(
        by="file", all_s=(_.read_s + _.write_s).sum()
    )
    rows = rows.left_join(waiting, "file").drop("file_right")
    return rows.mutate(cost=ibis.ifelse(_.all_s.notnull(), ibis.least(_.spent * ranks, _.all_s), _.spent))


@question
def _most(rows: ibis.Table) -> ibis.Table:
    sums = rows.filter(_.rank.notnull()).aggregate(
        by="rank", volume=_.volume.sum(), spent=_.spent.sum(), cost=_.cost.sum()
    )
    return sums.order_by([ibis.desc("volume"), "rank"]).limit(1)


@question
def _of_rank(rows: ibis.Table, rank: int) -> ibis.Table:
    return rows.filter((_.rank == rank) & (_.volume > 0))
