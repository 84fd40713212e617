"""More questions about files than data from them."""

from collections import Counter
from collections.abc import Iterable, Mapping

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.metadata import at_the_door
from halcyon.observe.analysis.typical import typical
from halcyon.observe.findings.finding import Evidence, Finding, found
from halcyon.quantities import plural

_OPEN_ONCE = "Open each file once and keep it open; ask once"
_TELL_OTHERS = " and tell the other ranks (MPI_Bcast)."
_FEWER = "Use fewer and larger files: put many small ones into one (an archive, a database, HDF5)."
_FEWER_OF_ALL = (
    "Write fewer files: one for all ranks of a node or of the run (MPI-IO, HDF5); for HDF5, "
    "H5Pset_all_coll_metadata_ops and H5Pset_coll_metadata_write let one rank ask for all."
)


def find(answers: Answers) -> list[Finding]:
    """One finding at most."""
    settings, load = answers.settings, answers.metadata
    if load.calls < settings.many_calls or load.calls < settings.metadata_per_data * load.data_calls:
        return []
    if load.seconds < settings.metadata_share * answers.io_s:
        return []
    asked = _asked(answers.survey.profile)
    rows = _sums(asked).to_pyarrow().to_pylist()
    # Calls without a file (a path that is not there) repeat nothing that is known. The first question about a file may
    # take longer than all that repeat it.
    timed = _asked(answers.survey.durations)
    usual = typical(timed, "kind")
    again = sum(row["again"] * usual[row["kind"]].usual_s for row in _repeats(timed).to_pyarrow().to_pylist())
    whole = sum(one.total_s for one in usual.values())
    repeated = again >= whole / 2
    parallel = bool(answers.survey.dataset.info.ranks)
    busiest = max(load.kinds, key=lambda one: one.most_per_second or 0.0)
    return found(
        answers,
        key="metadata-storm",
        concerned=asked,
        seconds_lost=again if repeated else whole,
        spent_s=load.seconds,
        title="Opening, closing and asking about files happens more often than moving data",
        explanation=(
            f"{plural(load.calls, 'call')} open, close, ask about or name files, for {load.data_calls:,} that move data"
            + (", and most of them repeat what the same process has asked before." if repeated else ".")
        ),
        change=(
            (_OPEN_ONCE + (_TELL_OTHERS if parallel else ".")) if repeated else (_FEWER_OF_ALL if parallel else _FEWER)
        ),
        estimate=(
            "number of calls that repeat one of the same kind by the same process on the same file, times the usual "
            "time of their kind"
            if repeated
            else "at most: usual time of all these calls"
        ),
        calls=load.calls,
        bytes=None,
        evidence=[
            Evidence("metadata_calls", "metadata calls", load.calls),
            Evidence("transfer_calls", "transfers", load.data_calls),
            *([Evidence("io_share", "share of the I/O time", load.seconds / answers.io_s)] if answers.io_s else []),
            Evidence("spent_s", "time in them", load.seconds),
            Evidence(
                f"busiest_{busiest.kind}_calls_per_s",
                f"{busiest.kind} calls in the busiest second",
                busiest.most_per_second or 0.0,
            ),
        ],
        files=_by_time(rows)[:1000],
        ranks=sorted({answers.shown_ranks.get(row["process"], row["process"]) for row in rows}),
    )


_asked = question(at_the_door)


@question
def _sums(asked: ibis.Table) -> ibis.Table:
    return asked.aggregate(
        by=["kind", "process", "file"],
        calls=_.calls.sum().cast("int64"),
        duration_ns=_.duration_ns.sum().cast("int64"),
    )


@question
def _repeats(asked: ibis.Table) -> ibis.Table:
    return asked.filter(_.file.notnull()).aggregate(
        by=["kind", "process", "file"], again=_.calls.sum().cast("int64") - 1
    )


def _by_time(rows: Iterable[Mapping[str, int | None]]) -> list[int]:
    """The files, the one that took longest first."""
    spent: Counter[int] = Counter()
    for row in rows:
        if (file := row["file"]) is not None:
            spent[file] += row["duration_ns"] or 0
    return [file for file, _ns in spent.most_common()]
