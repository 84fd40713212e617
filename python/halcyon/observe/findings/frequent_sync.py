"""Syncs that block writers again and again."""

from ibis import _

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.typical import typical
from halcyon.observe.findings.finding import Evidence, Finding, found, time_spent
from halcyon.observe.schema import Kind, Level


def find(answers: Answers) -> list[Finding]:
    """One finding at most."""
    settings = answers.settings
    low = answers.survey.profile.filter(_.level.isin([Level.POSIX, Level.STDIO]))
    syncs = low.filter((_.kind == Kind.SYNC) & (_.level == Level.POSIX))
    each = syncs.aggregate(
        by=["file", "process"], calls=_.calls.sum().cast("int64"), duration_ns=_.duration_ns.sum().cast("int64")
    )
    rows = each.to_pyarrow().to_pylist()
    calls, spent = sum(row["calls"] for row in rows), sum(row["duration_ns"] for row in rows) / 1e9
    if calls < settings.sync_calls:
        return []
    writes = low.filter(_.transfer & (_.direction == Kind.WRITE))
    write_s = time_spent(writes)
    written = int(writes.calls.sum().to_pyarrow().as_py() or 0)
    if calls < settings.syncs_per_write * written or spent < settings.sync_share * (spent + write_s):
        return []
    # One sync at the end of a checkpoint is what it should be.
    timed = answers.survey.durations.filter((_.kind == Kind.SYNC) & (_.level == Level.POSIX))
    usual = typical(timed, "file")
    again = timed.aggregate(by=["file", "process"], calls=_.calls.sum().cast("int64")).to_pyarrow().to_pylist()
    lost = sum((row["calls"] - 1) * usual[row["file"]].usual_s for row in again)
    return found(
        answers,
        key="frequent-sync",
        concerned=syncs,
        seconds_lost=lost,
        spent_s=spent,
        title="Writers wait for the storage again and again",
        explanation=(
            "fsync and its kin return when the data is on the device. After every few writes, nothing can be "
            "gathered on "
            "the way there."
        ),
        change=(
            "Sync once, after the last write to a file (and before the old checkpoint is removed); without "
            "H5Fflush and "
            "MPI_File_sync in between; let a thread of its own sync where the application can go on."
        ),
        estimate="number of all syncs but one per process and file, times the usual time of the file's syncs",
        calls=calls,
        bytes=None,
        evidence=[
            Evidence("sync_calls", "syncs", calls),
            Evidence("write_calls", "writes", written),
            Evidence("spent_s", "time in syncs", spent),
            Evidence(
                "sync_share",
                "share of the time of writes and syncs",
                spent / (spent + write_s) if spent + write_s else 0.0,
            ),
        ],
        files=sorted({row["file"] for row in rows if row["file"] is not None}),
        ranks=sorted({answers.shown_ranks.get(row["process"], row["process"]) for row in rows}),
    )
