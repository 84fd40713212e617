"""Bytes that are read again though nobody wrote in between."""

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.typical import typical
from halcyon.observe.analysis.volumes import READ
from halcyon.observe.findings.finding import Evidence, Finding, examined, found, time_spent

_TELL_RANKS = "Let one rank (per node) read and tell the others: MPI_Bcast, MPI_File_read_all, H5FD_MPIO_COLLECTIVE."


def find(answers: Answers) -> list[Finding]:
    """One finding at most."""
    rereads = answers.revisits.rereads
    if not rereads:
        return []
    read = {one.file: one for one in answers.files}
    own = sum(one.own_bytes for one in rereads)
    others = sum(one.others_bytes for one in rereads)
    # What was not examined may still be known from the files' extents.
    again = {one.file: max(one.own_bytes + one.others_bytes, one.at_least or 0) for one in rereads}
    total = sum(read[file].bytes_read for file in again if file in read)
    every = sum(one.bytes_read for one in answers.files)
    if not total or sum(again.values()) < answers.settings.again_share * every:
        return []
    of_these = tuple(sorted(again))
    reads = _reads(answers.survey.profile, of_these)
    usual = typical(_reads(answers.survey.durations, of_these), "file")
    lost = sum(
        usual[file].total_s * volume / read[file].bytes_read
        for file, volume in again.items()
        if file in usual and read[file].bytes_read
    )
    spent = time_spent(reads)
    mostly_others = others >= own
    return found(
        answers,
        key="redundant-reads",
        concerned=reads,
        seconds_lost=lost,
        spent_s=spent,
        title="The same bytes are read again and again",
        explanation=(
            f"Several {'ranks' if answers.mpi else 'processes'} read the same parts of a file, each for itself."
            if mostly_others
            else "Processes read parts of a file again that they had read before."
        ),
        change=(
            _TELL_RANKS
            if mostly_others and answers.mpi
            else "Let one process read and hand it on to the others."
            if mostly_others
            else "Keep what was read: read once into memory; for HDF5 a chunk cache that holds the chunks in use "
            "(H5Pset_chunk_cache), and chunks shaped like the reads."
        ),
        estimate="bytes read again, at the usual time of the same file's reads",
        calls=sum(one.calls for one in rereads),
        bytes=sum(again.values()),
        evidence=[
            Evidence("again_bytes", "bytes read again", sum(again.values())),
            Evidence("again_share", "share of all bytes read", sum(again.values()) / every),
            Evidence("others_bytes", "read again after another process", others),
            Evidence("own_bytes", "read again by the same process", own),
            *examined(answers),
            Evidence("spent_s", "time of these files' reads", spent),
        ],
        files=sorted(again),
        ranks=sorted({rank for file in again if file in read for rank in read[file].ranks}),
    )


@question
def _reads(rows: ibis.Table, files: tuple[int, ...]) -> ibis.Table:
    return rows.filter(_.transfer & (_.direction == READ) & _.file.isin(files))
