"""More opens and stats than transfers."""

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.counted import Counted
from halcyon.observe.findings.counted.records import files_of, ranks_of, when
from halcyon.observe.findings.finding import Evidence, Finding, found
from halcyon.quantities import plural


def find(answers: Answers, known: Counted) -> list[Finding]:
    settings = answers.settings
    low = [one for one in known.volumes if one.level != "mpiio"]
    asked, data = sum(one.opens + one.stats for one in low), sum(one.reads + one.writes for one in low)
    spent = sum(one.metadata_s for one in low)
    if asked < settings.many_calls or asked < settings.metadata_per_data * data:
        return []
    if spent < settings.metadata_share * answers.io_s:
        return []
    rows = _asking(known.transfers)
    files = _files(rows).to_pyarrow()["files"][0].as_py()
    return found(
        answers,
        key="metadata-storm",
        seconds_lost=spent,
        spent_s=spent,
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
            Evidence("metadata_calls", "opens and stats", asked),
            Evidence("transfer_calls", "transfers", data),
            Evidence("file_count", "files", files),
            Evidence("spent_s", "time in metadata calls", spent),
        ],
        files=files_of(rows),
        ranks=ranks_of(rows),
        when=when(rows),
    )


@question
def _asking(records: ibis.Table) -> ibis.Table:
    return records.filter(_.opens + _.stats > 0)


@question
def _files(rows: ibis.Table) -> ibis.Table:
    return rows.aggregate(files=_.file.nunique())
