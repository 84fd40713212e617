"""Syncs that block writers again and again."""

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.typical import typical
from halcyon.observe.findings.finding import Evidence, Finding, found, time_spent
from halcyon.observe.findings.large_transfers import sums_of_pairs
from halcyon.observe.schema import Kind, Level


def find(answers: Answers) -> list[Finding]:
    """One finding at most."""
    settings = answers.settings
    syncs = _syncs(answers.survey.profile)
    rows = sums_of_pairs(syncs).to_pyarrow().to_pylist()
    calls, spent = sum(row["calls"] for row in rows), sum(row["duration_ns"] for row in rows) / 1e9
    if calls < settings.sync_calls:
        return []
    writes = _writes(answers.survey.profile)
    write_s = time_spent(writes)
    written = int(_calls(writes).to_pyarrow()["calls"][0].as_py() or 0)
    if calls < settings.syncs_per_write * written or spent < settings.sync_share * (spent + write_s):
        return []
    # One sync at the end of a checkpoint is what it should be.
    timed = _syncs(answers.survey.durations)
    usual = typical(timed, "file")
    again = sums_of_pairs(timed).to_pyarrow().to_pylist()
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


@question
def _syncs(rows: ibis.Table) -> ibis.Table:
    return rows.filter((_.kind == Kind.SYNC) & (_.level == Level.POSIX))


@question
def _writes(profile: ibis.Table) -> ibis.Table:
    low = profile.filter(_.level.isin([Level.POSIX, Level.STDIO]))
    return low.filter(_.transfer & (_.direction == Kind.WRITE))


@question
def _calls(rows: ibis.Table) -> ibis.Table:
    return rows.aggregate(calls=_.calls.sum())
