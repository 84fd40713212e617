"""Transfers that begin off the file system's blocks, or straddle two stripes that would fit one."""

import ibis
from ibis import _

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.findings.finding import Evidence, Finding, found
from halcyon.observe.findings.mpiio_means import whole_stripes
from halcyon.observe.schema import Kind
from halcyon.quantities import rate


def find(answers: Answers) -> list[Finding]:
    """One finding per direction."""
    return [finding for direction in (Kind.WRITE, Kind.READ) for finding in _find(answers, direction)]


def _find(answers: Answers, direction: str) -> list[Finding]:
    settings = answers.settings
    moves = answers.survey.profile.filter(_.transfer & (_.direction == direction) & _.file.notnull())
    rows = moves.filter(_.aligned.notnull()).aggregate(
        by="file",
        alignable=_.calls.sum().cast("int64"),
        **{
            f"unaligned_{name}": ibis.ifelse(_.aligned, 0, _[name]).sum().cast("int64")
            for name in ("calls", "volume", "duration_ns", "crossing")
        },
    )
    own = [
        row
        for row in rows.order_by("file").to_pyarrow().to_pylist()
        if row["unaligned_calls"] >= settings.many_calls
        and row["unaligned_calls"] >= settings.unaligned_share * row["alignable"]
    ]
    unaligned, calls = sum(row["unaligned_calls"] for row in own), sum(row["alignable"] for row in own)
    spent = sum(row["unaligned_duration_ns"] for row in own) / 1e9
    if not own or spent < settings.worth_share * answers.io_s or spent < settings.worth_seconds:
        return []
    lost, estimate = _lost(answers, direction, own)
    return found(
        answers,
        key=f"misaligned-{direction}s",
        concerned=moves.filter(~_.aligned & _.file.isin([row["file"] for row in own])),
        seconds_lost=lost,
        title=f"{'Writes' if direction == Kind.WRITE else 'Reads'} begin off the file system's blocks",
        explanation=(
            "A block that is touched in part is locked as a whole and, for a write, read before; processes that "
            "share one wait for one another."
        ),
        change=(
            f"H5Pset_alignment with the block or stripe size for HDF5, {whole_stripes(answers)}; else begin each "
            "rank's part at a multiple of the block."
        ),
        estimate=estimate,
        calls=unaligned,
        bytes=sum(row["unaligned_volume"] for row in own),
        evidence=[
            Evidence("misaligned_calls", "misaligned transfers", unaligned),
            Evidence("misaligned_share", "share of these files' transfers", unaligned / calls),
            Evidence(
                "crossing_calls",
                "across a stripe's border without need",
                sum(row["unaligned_crossing"] for row in own),
            ),
            Evidence("mean_bytes", "mean size", sum(row["unaligned_volume"] for row in own) / unaligned),
            Evidence("spent_s", "time in them", spent),
        ],
        files=[row["file"] for row in own],
    )


def _lost(answers: Answers, direction: str, own: list[dict[str, int]]) -> tuple[float | None, str]:
    """By the aligned transfers of the same run and direction, where there are enough."""
    aligned = answers.survey.profile.filter(_.transfer & (_.direction == direction) & _.aligned).aggregate(
        calls=_.calls.sum().cast("int64"),
        duration_ns=_.duration_ns.sum().cast("int64"),
        volume=_.volume.sum().cast("int64"),
    )
    row = aligned.to_pyarrow().to_pylist()[0]
    if not row["calls"] or row["calls"] < answers.settings.server_calls or not row["duration_ns"]:
        return None, "not estimated: this run has no aligned transfers to compare with"
    measured = row["volume"] / (row["duration_ns"] / 1e9)
    spent, volume = sum(one["unaligned_duration_ns"] for one in own) / 1e9, sum(one["unaligned_volume"] for one in own)
    text = f"their time less that of their bytes at {rate(measured)}, which this run's aligned transfers reach"
    return max(spent - volume / measured, 0.0), text
