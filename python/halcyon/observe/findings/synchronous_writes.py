"""Writes to files that were opened with O_SYNC or O_DSYNC: each waits until its data is on the device."""

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.typical import of_same_sizes
from halcyon.observe.analysis.volumes import WRITE
from halcyon.observe.findings.finding import Evidence, Finding, found, time_spent
from halcyon.observe.findings.large_transfers import sums_of_pairs


def find(answers: Answers) -> list[Finding]:
    """One finding at most."""
    settings = answers.settings
    writes = _writes(answers.survey.profile)
    own = _waiting(writes, answers.open_modes)
    rows = sums_of_pairs(own).to_pyarrow().to_pylist()
    calls, spent = sum(row["calls"] for row in rows), sum(row["duration_ns"] for row in rows) / 1e9
    if calls < settings.sync_calls:
        return []
    every_s = time_spent(writes)
    if spent < settings.sync_share * every_s:
        return []
    files = sorted({row["file"] for row in rows})
    lost, estimate = _lost(answers)
    return found(
        answers,
        key="synchronous-writes",
        concerned=own,
        seconds_lost=lost,
        spent_s=spent,
        title="Each write waits until its data is on the device",
        explanation=(
            "The files were opened with O_SYNC or O_DSYNC. Each write is then a write and a sync: nothing can be "
            "gathered on the way to the storage."
        ),
        change=(
            "Open without O_SYNC and O_DSYNC, and call fdatasync once after the last write of a checkpoint; where each "
            "record has to be durable, gather several records for each write."
        ),
        estimate=estimate,
        calls=calls,
        bytes=sum(row["volume"] for row in rows),
        evidence=[
            Evidence("synchronous_calls", "writes that wait for the device", calls),
            Evidence("mean_bytes", "mean size", sum(row["volume"] for row in rows) / calls),
            Evidence("spent_s", "time in them", spent),
            Evidence("write_share", "share of the time of all writes", spent / every_s if every_s else 0.0),
        ],
        files=files,
        ranks=sorted({answers.shown_ranks.get(row["process"], row["process"]) for row in rows}),
    )


def _lost(answers: Answers) -> tuple[float, str]:
    """By the run's other writes of such sizes, where it has some."""
    every, modes = _writes(answers.survey.durations), answers.open_modes
    sizes = of_same_sizes(_waiting(every, modes), _not_waiting(every, modes), answers.settings.large_calls)
    lost = sum(own.calls * max(own.usual_s - (usual.usual_s if usual else 0.0), 0.0) for own, usual in sizes)
    if all(usual for _own, usual in sizes):
        return lost, "their usual time, less that of the run's other writes of such sizes"
    return lost, "at most: their usual time, as if writes that do not wait took no time"


@question
def _writes(rows: ibis.Table) -> ibis.Table:
    return rows.filter(_.transfer & (_.direction == WRITE) & _.file.notnull())


@question
def _waiting(writes: ibis.Table, modes: ibis.Table) -> ibis.Table:
    return writes.semi_join(modes.filter(_.synchronous), ["process", "file"])


@question
def _not_waiting(writes: ibis.Table, modes: ibis.Table) -> ibis.Table:
    return writes.anti_join(modes.filter(_.synchronous), ["process", "file"])
