"""Transfers off the file system's blocks."""

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.counted import Counted
from halcyon.observe.findings.counted.records import NOT_TIMED, ranks_of, read_by_mpiio, when, worth
from halcyon.observe.findings.finding import Evidence, Finding, found
from halcyon.observe.findings.mpiio_means import whole_stripes


def find(answers: Answers, known: Counted) -> list[Finding]:
    settings = answers.settings
    # Data sieving reads and writes more than the application's pieces, so that their places are not those of its own.
    posix = _on_blocks(known.records, known.survey.files, tuple(read_by_mpiio(known, settings.sieving_reads)))
    own = [
        row
        for row in _sums(posix).to_pyarrow().to_pylist()
        if row["unaligned"] >= settings.many_calls and row["unaligned"] >= settings.unaligned_share * row["calls"]
    ]
    spent = sum(row["spent"] for row in own)
    if not own or not worth(answers, spent):
        return []
    unaligned, calls = sum(row["unaligned"] for row in own), sum(row["calls"] for row in own)
    rows = _of_files(posix, tuple(row["file"] for row in own))
    return found(
        answers,
        key="misaligned-transfers",
        seconds_lost=None,
        spent_s=spent,
        title="Reads and writes begin off the file system's blocks",
        explanation="A block that is touched in part is locked as a whole and, for a write, read before.",
        change=(
            f"H5Pset_alignment with the block or stripe size for HDF5, {whole_stripes(answers)}; else begin each "
            "rank's part at a multiple of the block."
        ),
        estimate=NOT_TIMED,
        calls=unaligned,
        bytes=None,
        evidence=[
            Evidence("misaligned_calls", "misaligned transfers", unaligned),
            Evidence("misaligned_share", "share of these files' transfers", unaligned / calls),
            Evidence("spent_s", "time of all transfers of these files", spent),
        ],
        files=[row["file"] for row in own],
        ranks=ranks_of(rows),
        when=when(rows),
    )


@question
def _on_blocks(records: ibis.Table, files: ibis.Table, sieved: tuple[int, ...]) -> ibis.Table:
    posix = records.filter((_.module == "POSIX") & ~_.file.isin(sieved))
    return posix.semi_join(files.filter(_.block_bytes > 0), "file")


@question
def _sums(rows: ibis.Table) -> ibis.Table:
    return rows.aggregate(
        by="file",
        unaligned=_.unaligned.sum(),
        calls=(_.reads + _.writes).sum(),
        spent=(_.read_s + _.write_s).sum(),
    ).order_by("file")


@question
def _of_files(rows: ibis.Table, files: tuple[int, ...]) -> ibis.Table:
    return rows.filter(_.file.isin(files))
