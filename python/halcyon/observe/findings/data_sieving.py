"""Writes through MPI-IO that read first: lock, read, write, unlock (Wright 2014, section 4.3)."""

from dataclasses import dataclass

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.volumes import READ, WRITE
from halcyon.observe.findings.finding import Evidence, Finding, found
from halcyon.observe.findings.mpiio_means import of_mpiio, without_sieving
from halcyon.observe.findings.views import piece_bytes, view_evidence, view_of
from halcyon.observe.schema import Kind, Level
from halcyon.quantities import percent, plural, seconds, size


@dataclass(frozen=True)
class _Sieved:
    """Sums over one file's MPI-IO writes and what they are made of."""

    file: int
    ranks: list[int]
    asked: int
    seconds: float
    read_calls: int
    empty_reads: int
    read_bytes: int
    read_s: float
    lock_s: float
    written: int
    write_s: float
    extent: int
    application_reads: int
    piece_bytes: int | None
    """What the view shows at a time, where it is known."""

    @property
    def new_data(self) -> bool:
        """The application wrote each byte once at most and never read it: nothing was there that had to be kept."""
        return self.asked <= self.extent and not self.application_reads

    def piece_s(self, piece_bytes: int) -> float:
        """What a piece takes now, cycles and all."""
        return self.seconds * piece_bytes / self.asked

    def alone_s(self, piece_bytes: int, call_s: float) -> float:
        """What it would take as a call of its own, at the speed at which these writes moved their bytes."""
        return call_s + (self.write_s * piece_bytes / self.written if self.written else 0.0)

    def pays(self, call_s: float) -> bool:
        """The pieces are so small that one call for each would take longer than the cycles do."""
        piece = self.piece_bytes
        return piece is not None and self.asked > 0 and self.piece_s(piece) < self.alone_s(piece, call_s)


def find(answers: Answers) -> list[Finding]:
    """One finding for files whose pieces are too small to be written one by one; of the others, one for those written
    for the first time, and one for those that are updated."""
    share = answers.settings.sieving_share
    sieved = [
        one
        for one in _sieved(answers)
        if one.read_calls >= answers.settings.sieving_reads
        and one.seconds
        and one.read_s + one.lock_s >= share * one.seconds
    ]
    small = [one for one in sieved if one.pays(answers.settings.call_s)]
    others = [one for one in sieved if one not in small]
    fresh = [one for one in others if one.new_data]
    updated = [one for one in others if not one.new_data]
    return [*_small_pieces(answers, small), *_fresh(answers, fresh), *_updated(answers, updated)]


def where_at_work(answers: Answers) -> list[str]:
    """A sentence for each file whose writes are sieved, be that a finding or none."""
    said = []
    names = {row["file"]: row["path"] for row in _paths(answers.survey.files).to_pyarrow().to_pylist()}
    for one in _sieved(answers):
        spent = (one.read_s + one.lock_s) / one.seconds if one.seconds else 0.0
        if one.read_calls < answers.settings.sieving_reads:
            continue
        view = view_of(answers, [one.file])
        pieces = f" ({view.text})" if view else ""
        said.append(
            f"Data sieving is at work in {names[one.file]}{pieces}: {size(one.asked)} in "
            f"{plural(one.read_calls, 'cycle')} of lock, read, write, unlock, whose reads and locks take "
            f"{percent(spent)} of the writes' {seconds(one.seconds)}"
        )
    return said


_WHERE = (
    " (in the MPI_Info of MPI_File_open or H5Pset_fapl_mpio, or in a file named by the environment variable "
    "ROMIO_HINTS)"
)


def _small_pieces(answers: Answers, sieved: list[_Sieved]) -> list[Finding]:
    if not sieved:
        return []
    call_s = answers.settings.call_s
    worst = max(sieved, key=lambda one: one.seconds)
    piece = worst.piece_bytes or 0
    return _finding(
        answers,
        sieved,
        key="data-sieving-small-pieces",
        title="Small pieces are written in cycles of lock, read, write, unlock",
        explanation=(
            f"A cycle writes {worst.asked / piece / worst.read_calls:,.0f} pieces of {piece:,} bytes at once, "
            f"{seconds(worst.piece_s(piece))} for each; a call for each would take about "
            f"{seconds(worst.alone_s(piece, call_s))}. Data sieving is right for such pieces (a call for "
            "each would be slower); writing them together is better than both."
        ),
        change=(
            "Write collectively (MPI_File_write_all, H5FD_MPIO_COLLECTIVE), so that no holes remain between the pieces "
            "and nothing has to be read; or gather pieces in memory and write longer ones."
            + of_mpiio(
                answers,
                romio=" Where the program cannot be changed, a larger ind_wr_buffer_size makes fewer cycles.",
                ompio="",
            )
        ),
    )


def _fresh(answers: Answers, sieved: list[_Sieved]) -> list[Finding]:
    empty = sum(one.empty_reads for one in sieved)
    reads = sum(one.read_calls for one in sieved)
    return _finding(
        answers,
        sieved,
        key="data-sieving-new-data",
        title="Data sieving reads what nobody has written yet",
        explanation=(
            "MPI-IO writes are made in cycles of lock, read, write, unlock, to keep what lies between the "
            "pieces. But these files "
            f"are written for the first time: {plural(empty, 'read')} of {reads:,} found the end of the file, the "
            "others "
            "holes that other ranks left."
        ),
        change=(
            f"Set {without_sieving(answers, _WHERE)}; or write collectively, so that no holes remain between the "
            "pieces. `halcyon advise --try` measures it: pieces of a few bytes can be slower one by one."
        ),
    )


def _updated(answers: Answers, sieved: list[_Sieved]) -> list[Finding]:
    return _finding(
        answers,
        sieved,
        key="data-sieving",
        title="Small updates through MPI-IO read before they write",
        explanation=(
            "Independent, non-contiguous writes are made in cycles of lock, read, write, unlock. In a file that "
            "is updated, "
            "this can be right when pieces lie close together; here the reads and locks take a large part of the time."
        ),
        change=(
            "Write collectively (MPI_File_write_all, H5FD_MPIO_COLLECTIVE)"
            + of_mpiio(answers, romio=" with romio_cb_write=enable", ompio="")
            + f"; where pieces are far apart: set {without_sieving(answers, _WHERE)}"
            + of_mpiio(answers, romio="; where they are close, a larger ind_wr_buffer_size", ompio="")
            + "."
        ),
    )


def _finding(
    answers: Answers, sieved: list[_Sieved], *, key: str, title: str, explanation: str, change: str
) -> list[Finding]:
    if not sieved:
        return []
    total = sum(one.seconds for one in sieved)
    read_s, lock_s = sum(one.read_s for one in sieved), sum(one.lock_s for one in sieved)
    surplus_s = sum(max(one.written - one.asked, 0) / one.written * one.write_s for one in sieved if one.written)
    asked, written = sum(one.asked for one in sieved), sum(one.written for one in sieved)
    return found(
        answers,
        key=key,
        concerned=_reads_inside_writes(answers.survey.profile, tuple(one.file for one in sieved)),
        seconds_lost=read_s + lock_s + surplus_s,
        spent_s=total,
        title=title,
        explanation=explanation,
        change=change,
        estimate=(
            "time of the reads, locks and unlocks inside these writes, and of the share of bytes that were "
            "written beyond "
            "those asked for; writing pieces one by one may cost some of it again"
        ),
        calls=sum(one.read_calls for one in sieved),
        bytes=sum(one.read_bytes for one in sieved),
        evidence=[
            Evidence("read_calls", "reads inside writes", sum(one.read_calls for one in sieved)),
            Evidence("empty_read_calls", "of these returned nothing", sum(one.empty_reads for one in sieved)),
            Evidence("read_bytes", "bytes read inside writes", sum(one.read_bytes for one in sieved)),
            Evidence("asked_bytes", "bytes asked to write", asked),
            Evidence("written_bytes", "bytes written", written),
            Evidence("read_share", "share of reads in the writes' time", read_s / total),
            Evidence("lock_share", "share of locks in the writes' time", lock_s / total),
            Evidence("spent_s", "time in these writes", total),
            *view_evidence(answers, [one.file for one in sieved]),
        ],
        files=sorted(one.file for one in sieved),
        ranks=sorted({rank for one in sieved for rank in one.ranks}),
    )


@question
def _paths(files: ibis.Table) -> ibis.Table:
    return files.select("file", "path")


@question
def _reads_inside_writes(profile: ibis.Table, files: tuple[int, ...]) -> ibis.Table:
    return _inside_writes(profile).filter((_.direction == READ) & _.file.isin(files))


def _inside_writes(profile: ibis.Table) -> ibis.Table:
    """What MPI-IO's writes are made of."""
    writers = profile.filter((_.level == Level.MPIIO) & (_.direction == WRITE)).select("call").distinct()
    below = profile.filter((_.parent_level == Level.MPIIO) & _.file.notnull())
    return below.semi_join(writers, profile.parent_call == writers.call)


def _sieved(answers: Answers) -> list[_Sieved]:
    if Level.MPIIO not in answers.survey.levels:
        return []
    pieces = piece_bytes(answers)
    return [
        _Sieved(
            file=row["file"],
            ranks=sorted({answers.shown_ranks.get(process, process) for process in row["processes"] or []}),
            asked=row["asked"],
            seconds=row["duration_ns"] / 1e9,
            read_calls=row["read_calls"],
            empty_reads=row["empty_reads"],
            read_bytes=row["read_bytes"],
            read_s=row["read_ns"] / 1e9,
            lock_s=row["lock_ns"] / 1e9,
            written=row["written"],
            write_s=row["write_ns"] / 1e9,
            extent=row["extent"] or 0,
            application_reads=row["application_reads"],
            piece_bytes=pieces.get(row["file"]),
        )
        for row in _sums(answers.survey.profile).to_pyarrow().to_pylist()
    ]


@question
def _sums(profile: ibis.Table) -> ibis.Table:
    outer = (_.level == Level.MPIIO) & (_.parent_level != Level.MPIIO).fill_null(True)
    below = _inside_writes(profile)

    def total(condition: ibis.Deferred, column: str) -> ibis.Value:
        return ibis.ifelse(condition, _[column], 0).sum().cast("int64")

    reads, writes = (_.transfer & (_.direction == READ)), (_.transfer & (_.direction == WRITE))
    locks = _.kind.isin([Kind.LOCK, Kind.UNLOCK])
    parts = below.aggregate(
        by="file",
        read_calls=total(_.direction == READ, "calls"),
        empty_reads=total(_.direction == READ, "empty"),
        read_bytes=total(reads, "volume"),
        read_ns=total(reads, "duration_ns"),
        lock_ns=total(locks, "duration_ns"),
        written=total(writes, "volume"),
        write_ns=total(writes, "duration_ns"),
        extent=ibis.ifelse(writes, _.high, ibis.null("int64")).max()
        - ibis.ifelse(writes, _.low, ibis.null("int64")).min(),
        processes=ibis.ifelse(reads, _.process, ibis.null("int32")).collect(distinct=True),
    ).filter(_.read_calls > 0)
    asked = profile.filter(outer & _.file.notnull()).aggregate(
        by="file",
        asked=total(_.direction == WRITE, "volume"),
        duration_ns=total(_.direction == WRITE, "duration_ns"),
        application_reads=total(_.direction == READ, "calls"),
    )
    return parts.join(asked, "file").order_by("file")
