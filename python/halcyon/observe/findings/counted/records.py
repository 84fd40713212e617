"""What the findings of counters have in common."""

import ibis
from ibis import _

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
    each = known.records.aggregate(
        by="file",
        asked=ibis.ifelse(_.module == "MPI-IO", _.writes, 0).sum(),
        answered=ibis.ifelse(_.module == "MPI-IO", _.reads, 0).sum(),
        reads=ibis.ifelse(_.module == "POSIX", _.reads, 0).sum(),
    )
    own = each.filter((_.asked > 0) & (_.answered == 0) & (_.reads >= least))
    files: list[int] = own.select("file").order_by("file").to_pyarrow().column("file").to_pylist()
    return files


def when(rows: ibis.Table) -> Span | None:
    """From the first to the last transfer of these records."""
    ends = rows.aggregate(
        first=ibis.least(_.read_from.min(), _.write_from.min()), last=ibis.greatest(_.read_to.max(), _.write_to.max())
    )
    row = ends.to_pyarrow().to_pylist()[0]
    return None if row["first"] is None or row["last"] is None else Span(row["first"], row["last"], None)


def files_of(rows: ibis.Table) -> list[int]:
    """The numbers of their files, at most 1000."""
    return sorted(rows.select("file").distinct().to_pyarrow().column("file").to_pylist())[:1000]


def ranks_of(rows: ibis.Table) -> list[int]:
    """Of records of single ranks; a record of all of them names none."""
    return sorted(rows.filter(_.process.notnull()).select("process").distinct().to_pyarrow()[0].to_pylist())
