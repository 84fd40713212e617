"""What the findings of counters have in common."""

import ibis
from ibis import _

from halcyon.database import Rows, question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.counted import Counted
from halcyon.observe.findings.finding import Span, severity

NOT_TIMED = "not estimated: the counters do not tell how long these calls took"


def worth(answers: Answers, spent: float) -> bool:
    """Whether calls that took so long, in seconds, would be worth a line if all of it were lost."""
    return severity(answers, spent) is not None


def read_by_mpiio(known: Counted, least: int = 1) -> list[int]:
    """Files that MPI-IO was asked only to write, and that were read all the same, `least` times: by its data sieving.

    Of these, `reads` are none of the application's own.
    """
    files: list[int] = _read_by_mpiio(known.records, least).to_pyarrow().column("file").to_pylist()
    return files


@question
def _read_by_mpiio(records: ibis.Table, least: int) -> ibis.Table:
    each = records.aggregate(
        by="file",
        asked=ibis.ifelse(_.module == "MPI-IO", _.writes, 0).sum(),
        answered=ibis.ifelse(_.module == "MPI-IO", _.reads, 0).sum(),
        reads=ibis.ifelse(_.module == "POSIX", _.reads, 0).sum(),
    )
    own = each.filter((_.asked > 0) & (_.answered == 0) & (_.reads >= least))
    return own.select("file").order_by("file")


def when(rows: Rows) -> Span | None:
    """From the first to the last transfer of these records."""
    row = _ends(rows).to_pyarrow().to_pylist()[0]
    return None if row["first"] is None or row["last"] is None else Span(row["first"], row["last"], None)


@question
def _ends(rows: ibis.Table) -> ibis.Table:
    return rows.aggregate(
        first=ibis.least(_.read_from.min(), _.write_from.min()), last=ibis.greatest(_.read_to.max(), _.write_to.max())
    )


def files_of(rows: Rows) -> list[int]:
    """The numbers of their files, at most 1000."""
    return sorted(_files(rows).to_pyarrow().column("file").to_pylist())[:1000]


@question
def _files(rows: ibis.Table) -> ibis.Table:
    return rows.select("file").distinct()


def ranks_of(rows: Rows) -> list[int]:
    """Of records of single ranks; a record of all of them names none."""
    return sorted(_processes(rows).to_pyarrow()[0].to_pylist())


@question
def _processes(rows: ibis.Table) -> ibis.Table:
    return rows.filter(_.process.notnull()).select("process").distinct()
