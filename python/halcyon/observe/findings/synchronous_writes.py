"""Writes to files that were opened with O_SYNC or O_DSYNC: each waits until its data is on the device."""

from ibis import _

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.typical import typical
from halcyon.observe.analysis.volumes import WRITE
from halcyon.observe.findings.finding import Evidence, Finding, found


def find(answers: Answers) -> list[Finding]:
    """One finding at most."""
    settings = answers.settings
    writes = answers.survey.profile.filter(_.transfer & (_.direction == WRITE) & _.file.notnull())
    waiting = answers.open_modes.filter(_.synchronous).select("process", "file")
    own = writes.semi_join(waiting, ["process", "file"])
    rows = own.aggregate(
        by=["file", "process"], calls=_.calls.sum().cast("int64"), volume=_.volume.sum().cast("int64"),
        duration_ns=_.duration_ns.sum().cast("int64"),
    ).to_pyarrow().to_pylist()  # fmt: skip
    calls, spent = sum(row["calls"] for row in rows), sum(row["duration_ns"] for row in rows) / 1e9
    every_s = float(writes.duration_ns.sum().to_pyarrow().as_py() or 0) / 1e9
    if calls < settings.sync_calls or spent < settings.sync_share * every_s:
        return []
    files = sorted({row["file"] for row in rows})
    lost, estimate = _lost(answers, files)
    return found(
        answers,
        key="synchronous-writes",
        concerned=own,
        seconds_lost=lost,
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


def _lost(answers: Answers, files: list[int]) -> tuple[float, str]:
    """By the run's other writes of such sizes, where it has some."""
    every = answers.survey.durations.filter(_.transfer & (_.direction == WRITE))
    own = typical(every.filter(_.file.isin(files)), "size_class")
    usual = typical(every.filter(~_.file.isin(files)), "size_class")
    compared = {
        size: usual[size].usual_s for size in own if size in usual and usual[size].calls >= answers.settings.large_calls
    }
    lost = sum(one.calls * max(one.usual_s - compared.get(size, 0.0), 0.0) for size, one in own.items())
    if len(compared) == len(own):
        return lost, "their usual time, less that of the run's other writes of such sizes"
    return lost, "at most: their usual time, as if writes that do not wait took no time"
