"""Many small reads or writes."""

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.findings.finding import Evidence, Finding, found
from halcyon.observe.findings.large_transfers import saving, small_ones, sums_of_pairs
from halcyon.observe.schema import Kind
from halcyon.quantities import percent


def find(answers: Answers) -> list[Finding]:
    """One finding per direction."""
    return [finding for direction in (Kind.WRITE, Kind.READ) for finding in _find(answers, direction)]


def _find(answers: Answers, direction: str) -> list[Finding]:
    settings = answers.settings
    little = small_ones(answers.survey.profile, direction, settings.small_bytes)
    own = sums_of_pairs(little).to_pyarrow().to_pylist()
    calls, volume = sum(row["calls"] for row in own), sum(row["volume"] for row in own)
    spent = sum(row["duration_ns"] for row in own) / 1e9
    if calls < settings.many_calls:
        return []
    every = int(_every(answers.survey.profile, direction).to_pyarrow()["calls"][0].as_py() or 0)
    if calls < settings.small_share * every:
        return []
    saved = saving(answers, direction, small_ones(answers.survey.durations, direction, settings.small_bytes))
    verb, noun = ("written", "writes") if direction == Kind.WRITE else ("read", "reads")
    return found(
        answers,
        key=f"small-{noun}",
        concerned=little,
        seconds_lost=saved.seconds,
        spent_s=spent,
        title=f"Data is {verb} in small pieces",
        explanation=(
            f"{percent(calls / every)} of all {noun} move less than {settings.small_bytes / 1024:g} KiB. Each costs a "
            "round to the "
            "file system, whatever its size."
        ),
        change=(
            "Gather data in memory and move at least 1 MiB at a time: a larger buffer (setvbuf for stdio), chunks of "
            "1 MiB or more and H5Pset_alignment for HDF5, collective calls for MPI-IO."
        ),
        estimate=saved.estimate,
        calls=calls,
        bytes=volume,
        evidence=[
            Evidence("small_calls", f"small {noun}", calls),
            Evidence("mean_bytes", "mean size", volume / calls),
            Evidence("spent_s", "time in them", spent),
        ],
        files=sorted({row["file"] for row in own if row["file"] is not None}),
        ranks=sorted({answers.shown_ranks.get(row["process"], row["process"]) for row in own}),
    )


@question
def _every(profile: ibis.Table, direction: str) -> ibis.Table:
    return profile.filter(_.transfer & (_.direction == direction)).aggregate(calls=_.calls.sum())
