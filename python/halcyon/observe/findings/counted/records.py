"""What the findings of counters have in common."""

import ibis
from ibis import _

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.findings.finding import Span, severity

NOT_TIMED = "not estimated: the counters do not tell how long these calls took"


def worth(answers: Answers, spent: float) -> bool:
    """Whether calls that took so long, in seconds, would be worth a line if all of it were lost."""
    return severity(answers, spent) is not None


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
