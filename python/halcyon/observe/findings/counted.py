"""What counters alone tell to be wrong, for sources that kept no calls: only what follows from them with certainty."""

from dataclasses import dataclass
from functools import reduce
from operator import add

import ibis
from ibis import _

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.counted import SMALL, Counted
from halcyon.observe.findings.finding import Evidence, Finding, Span, found, severity
from halcyon.observe.findings.large_transfers import LARGE
from halcyon.observe.schema import Kind
from halcyon.quantities import number, percent, plural, seconds, size

_NOT_TIMED = "not estimated: the counters do not tell how long these calls took"


def find(answers: Answers) -> list[Finding]:
    """All that there are; none where there are calls, which the other modules look at."""
    known = answers.counted
    if known is None:
        return []
    return [
        *(finding for kind in (Kind.WRITE, Kind.READ) for finding in _small(answers, known, kind)),
        *_misaligned(answers, known),
        *_sieving(answers, known),
        *_metadata(answers, known),
        *_one_rank(answers, known),
        *_slow_rank(answers, known),
    ]


def _worth(answers: Answers, spent: float) -> bool:
    """Whether calls that took so long would be worth a line if all of it were lost."""
    return severity(answers, spent) is not None


def _when(rows: ibis.Table) -> Span | None:
    ends = rows.aggregate(
        first=ibis.least(_.read_from.min(), _.write_from.min()), last=ibis.greatest(_.read_to.max(), _.write_to.max())
    )
    row = ends.to_pyarrow().to_pylist()[0]
    return None if row["first"] is None or row["last"] is None else Span(row["first"], row["last"], None)


def _small(answers: Answers, known: Counted, kind: str) -> list[Finding]:
    settings = answers.settings
    noun, spent = f"{kind}s", f"{kind}_s"
    volume = "bytes_written" if kind == Kind.WRITE else "bytes_read"
    posix = known.records.filter(_.module == "POSIX").mutate(
        little=reduce(add, (_[f"{noun}_{mark}"] for mark in SMALL))
    )
    rows = posix.filter(_.little > 0)
    sums = rows.aggregate(
        little=_.little.sum(),
        spent=_[spent].sum(),
        # Of files in which all are small, time and bytes are those of small ones.
        alone=ibis.ifelse(_.little == _[noun], _.little, 0).sum(),
        alone_s=ibis.ifelse(_.little == _[noun], _[spent], 0.0).sum(),
        alone_bytes=ibis.ifelse(_.little == _[noun], _[volume], 0).sum(),
    )
    row = sums.to_pyarrow().to_pylist()[0]
    every = sum(one.reads if kind == Kind.READ else one.writes for one in known.volumes if one.level == "posix")
    few = row["little"] or 0
    if few < settings.many_calls or few < settings.small_share * every or not _worth(answers, row["spent"]):
        return []
    timed = row["alone"] >= few / 2
    return found(
        answers,
        key=f"small-{noun}",
        seconds_lost=row["alone_s"] * max(1 - row["alone_bytes"] / row["alone"] / LARGE, 0.0) if timed else None,
        title=f"Data is {'written' if kind == Kind.WRITE else 'read'} in small pieces",
        explanation=f"{percent(few / every)} of all {noun} move 10 KiB or less. Each costs a round to the file system.",
        change=(
            "Gather data in memory and move at least 1 MiB at a time: a larger buffer, chunks of 1 MiB or more and "
            "H5Pset_alignment for HDF5, collective calls for MPI-IO."
        ),
        estimate=(
            f"at most: time of the files in which all {noun} are so small, if transfers of 1 MiB took no longer than "
            "each of these"
            if timed
            else _NOT_TIMED
        ),
        calls=few,
        bytes=None,
        evidence=[
            Evidence(f"{noun} of 10 KiB or less", f"{plural(few, 'call')} of {every:,}"),
            Evidence(f"time of all {noun} of these files", seconds(row["spent"])),
        ],
        files=_files(rows),
        ranks=_ranks(rows),
        when=_when(rows),
    )


def _files(rows: ibis.Table) -> list[int]:
    return sorted(rows.select("file").distinct().to_pyarrow().column("file").to_pylist())[:1000]


def _ranks(rows: ibis.Table) -> list[int]:
    """Of records of single ranks; a record of all of them names none."""
    return sorted(rows.filter(_.process.notnull()).select("process").distinct().to_pyarrow()[0].to_pylist())


def _misaligned(answers: Answers, known: Counted) -> list[Finding]:
    settings = answers.settings
    files = known.survey.files.filter(_.block_bytes > 0).select("file")
    posix = known.records.filter(_.module == "POSIX").semi_join(files, "file")
    each = posix.aggregate(
        by="file",
        unaligned=_.unaligned.sum(),
        calls=(_.reads + _.writes).sum(),
        spent=(_.read_s + _.write_s).sum(),
    )
    own = [
        row
        for row in each.order_by("file").to_pyarrow().to_pylist()
        if row["unaligned"] >= settings.many_calls and row["unaligned"] >= settings.unaligned_share * row["calls"]
    ]
    spent = sum(row["spent"] for row in own)
    if not own or not _worth(answers, spent):
        return []
    unaligned, calls = sum(row["unaligned"] for row in own), sum(row["calls"] for row in own)
    rows = posix.filter(_.file.isin([row["file"] for row in own]))
    return found(
        answers,
        key="misaligned-transfers",
        seconds_lost=None,
        title="Reads and writes begin off the file system's blocks",
        explanation="A block that is touched in part is locked as a whole and, for a write, read before.",
        change=(
            "H5Pset_alignment with the block or stripe size for HDF5, the hints striping_unit and (for Lustre) "
            "romio_cb_write=enable for MPI-IO; else begin each rank's part at a multiple of the block."
        ),
        estimate=_NOT_TIMED,
        calls=unaligned,
        bytes=None,
        evidence=[
            Evidence("misaligned transfers", f"{plural(unaligned, 'call')}, {percent(unaligned / calls)}"),
            Evidence("time of all transfers of these files", seconds(spent)),
        ],
        files=[row["file"] for row in own],
        ranks=_ranks(rows),
        when=_when(rows),
    )


def _sieving(answers: Answers, known: Counted) -> list[Finding]:
    """Files that MPI-IO was asked only to write, and that were read all the same."""
    names = ("reads", "writes", "bytes_read", "bytes_written", "read_s", "write_s")
    each = known.records.filter(_.module.isin(["POSIX", "MPI-IO"])).aggregate(
        by="file",
        **{f"mpi_{name}": ibis.ifelse(_.module == "MPI-IO", _[name], 0).sum() for name in names},
        **{name: ibis.ifelse(_.module == "POSIX", _[name], 0).sum() for name in names},
    )
    asked = each.filter((_.mpi_writes > 0) & (_.mpi_reads == 0)).order_by("file").to_pyarrow().to_pylist()
    share = answers.settings.sieving_share
    own = [
        row
        for row in asked
        if row["reads"] >= 10
        and row["bytes_written"] > row["mpi_bytes_written"]
        and row["read_s"] > share * row["write_s"]
    ]
    if not own:
        return []
    surplus = sum((1 - row["mpi_bytes_written"] / row["bytes_written"]) * row["write_s"] for row in own)
    written, wanted = sum(row["bytes_written"] for row in own), sum(row["mpi_bytes_written"] for row in own)
    rows = known.records.filter((_.module == "POSIX") & _.file.isin([row["file"] for row in own]))
    return found(
        answers,
        key="data-sieving",
        seconds_lost=sum(row["read_s"] for row in own) + surplus,
        title="MPI-IO reads and writes more than it was asked to write",
        explanation=(
            f"The application only writes {plural(len(own), 'file')}, {size(wanted)} in all. Data sieving reads what "
            f"lies between the pieces, and writes it again: {size(written)}."
        ),
        change=(
            "Set the MPI-IO hint romio_ds_write=disable, or write collectively with romio_cb_write=enable, so that no "
            "holes remain between the pieces; `halcyon advise --try` measures which is faster."
        ),
        estimate=(
            "time of the reads, and of the share of the bytes that were written beyond those asked for; locks, which "
            "the counters do not tell, come on top"
        ),
        calls=sum(row["reads"] for row in own),
        bytes=sum(row["bytes_read"] for row in own),
        evidence=[
            Evidence("reads of files that are only written", plural(sum(row["reads"] for row in own), "call")),
            Evidence("bytes asked to write", size(wanted)),
            Evidence("bytes written", size(written)),
            Evidence("time in these reads", seconds(sum(row["read_s"] for row in own))),
        ],
        files=[row["file"] for row in own],
        ranks=_ranks(rows),
        when=_when(rows),
    )


def _metadata(answers: Answers, known: Counted) -> list[Finding]:
    settings = answers.settings
    low = [one for one in known.volumes if one.level != "mpiio"]
    asked, data = sum(one.opens + one.stats for one in low), sum(one.reads + one.writes for one in low)
    spent = sum(one.metadata_s for one in low)
    if asked < settings.many_calls or asked < settings.metadata_per_data * data:
        return []
    if spent < settings.metadata_share * answers.io_s:
        return []
    rows = known.transfers.filter(_.opens + _.stats > 0)
    files = rows.file.nunique().to_pyarrow().as_py()
    return found(
        answers,
        key="metadata-storm",
        seconds_lost=spent,
        title="The metadata servers are asked more often than the data servers",
        explanation=f"{plural(asked, 'call')} open files or ask about them, for {data:,} that move data.",
        change=(
            "Open each file once and keep it open, ask once and tell the other ranks (MPI_Bcast); write fewer files: "
            "one for all ranks of a node or of the run (MPI-IO, HDF5)."
        ),
        estimate="at most: time of all opens, closes, stats and seeks",
        calls=asked,
        bytes=None,
        evidence=[
            Evidence("opens and stats per transfer", number(asked / data) if data else "no transfers"),
            Evidence("files", f"{files:,}"),
            Evidence("time in metadata calls", seconds(spent)),
        ],
        files=_files(rows),
        ranks=_ranks(rows),
        when=_when(rows),
    )


def _one_rank(answers: Answers, known: Counted) -> list[Finding]:
    """What a rank moved at least: in files of its own, and in shared ones whose slowest rank it was.

    Of files whose transfers were counted whole; these must hold most of the run's bytes.
    """
    ranks = answers.survey.dataset.info.ranks or 0
    whole, every = known.whole_files
    total = sum(whole.values())
    if ranks < 2 or not total or total < every / 2:
        return []
    rows = known.transfers.filter(_.file.isin(sorted(whole))).mutate(
        rank=ibis.coalesce(_.process.cast("int64"), _.slowest_rank),
        volume=ibis.ifelse(_.process.isnull(), _.slowest_bytes, _.bytes_read + _.bytes_written),
        spent=ibis.ifelse(_.process.isnull(), _.slowest_s, _.read_s + _.write_s),
    )
    waiting = known.records.filter((_.module == "MPI-IO") & (_.collective > 0)).aggregate(
        by="file", all_s=(_.read_s + _.write_s).sum()
    )
    rows = rows.left_join(waiting, "file").drop("file_right")
    rows = rows.mutate(cost=ibis.ifelse(_.all_s.notnull(), ibis.least(_.spent * ranks, _.all_s), _.spent))
    sums = rows.filter(_.rank.notnull()).aggregate(
        by="rank", volume=_.volume.sum(), spent=_.spent.sum(), cost=_.cost.sum()
    )
    most = sums.order_by([ibis.desc("volume"), "rank"]).limit(1).to_pyarrow().to_pylist()
    if not most or most[0]["volume"] < answers.settings.one_rank_share * total:
        return []
    rank, volume, spent, cost = (most[0][name] for name in ("rank", "volume", "spent", "cost"))
    own = rows.filter((_.rank == rank) & (_.volume > 0))
    return found(
        answers,
        key="one-rank-moves-all",
        seconds_lost=cost * (1 - 1 / ranks),
        title=f"Rank {rank} moves nearly everything",
        explanation=(
            f"It moves {percent(volume / total)} of the bytes of {ranks:,} ranks. One process has one stream to the "
            "servers, and the data crosses the network twice."
            + ("" if total == every else " (Files that were not counted whole are left out.)")
        ),
        change=(
            "Let all ranks take part: collective MPI-IO or parallel HDF5 (H5Pset_fapl_mpio); where they do, set the "
            "hint cb_nodes to at least the number of nodes."
        ),
        estimate=(
            "its time (in files of collective calls: that of all ranks, which wait for it), less what would remain "
            "if all ranks shared the transfers evenly"
        ),
        calls=None,
        bytes=volume,
        evidence=[
            Evidence("its share of all bytes", percent(volume / total)),
            Evidence("its bytes", size(volume)),
            Evidence("time in its transfers and opens", seconds(spent)),
        ],
        files=_files(own),
        ranks=[rank],
        when=_when(own),
    )


@dataclass(frozen=True)
class _Slow:
    """The slowest rank of one shared file."""

    rank: int
    file: int
    spent: float
    others: float
    """Mean of the others."""


def _slow_rank(answers: Answers, known: Counted) -> list[Finding]:
    """Ranks that stand alone, with no more to do, in shared files: their time, the mean and the variance tell."""
    ranks = answers.survey.dataset.info.ranks or 0
    if ranks < 3:  # of two, nobody knows which one is the odd one
        return []
    shared = known.own.filter(_.process.isnull() & (_.slowest_s > 0) & (_.bytes_read + _.bytes_written > 0))
    found_ones = [_alone(row, ranks, answers) for row in shared.order_by("file").to_pyarrow().to_pylist()]
    slow: dict[int, list[_Slow]] = {}
    for one in found_ones:
        if one is not None:
            slow.setdefault(one.rank, []).append(one)
    return [finding for rank, own in slow.items() for finding in _slow_finding(answers, shared, rank, own, ranks)]


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


def _slow_finding(answers: Answers, shared: ibis.Table, rank: int, own: list[_Slow], ranks: int) -> list[Finding]:
    lost = sum(one.spent - one.others for one in own)
    files = sorted(one.file for one in own)
    return found(
        answers,
        key="slow-rank",
        seconds_lost=lost * (ranks - 1),
        title=f"Rank {rank} is slower than all others in {plural(len(own), 'shared file')}",
        explanation="It has no more to do than the others, who scatter less than it is apart from them.",
        change="Look at its node: its network link, its memory, what else runs there; leave it out of the next job.",
        estimate="its time less the others' mean, times the ranks that wait for it",
        calls=None,
        bytes=None,
        evidence=[
            Evidence("its time", seconds(sum(one.spent for one in own))),
            Evidence("mean of the others", seconds(sum(one.others for one in own))),
        ],
        files=files,
        ranks=[rank],
        when=_when(shared.filter(_.file.isin(files))),
    )
