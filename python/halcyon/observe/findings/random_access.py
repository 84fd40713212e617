"""Small reads or writes in random order."""

import ibis
import pyarrow as pa
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.findings.finding import Evidence, Finding, found
from halcyon.observe.findings.large_transfers import saving
from halcyon.observe.schema import Kind


def find(answers: Answers) -> list[Finding]:
    """One finding per direction."""
    return [finding for direction in (Kind.WRITE, Kind.READ) for finding in _find(answers, direction)]


def _find(answers: Answers, direction: str) -> list[Finding]:
    own = _random(answers, direction)
    if not own:
        return []
    calls, volume = sum(row["calls"] for row in own), sum(row["volume"] for row in own)
    files = sorted({row["file"] for row in own})
    columns = {name: pa.array([row[name] for row in own], pa.int32()) for name in ("process", "file")}
    random = ibis.memtable(pa.table(columns))
    saved = saving(answers, direction, _of(answers.survey.durations, direction, random))
    spent = sum(row["duration_ns"] for row in own) / 1e9
    noun = f"{direction}s"
    return found(
        answers,
        key=f"random-{noun}",
        concerned=_of(answers.survey.profile, direction, random),
        seconds_lost=saved.seconds,
        spent_s=spent,
        title=f"Small {noun} are in random order",
        explanation=(
            "Each process goes forward and back by distances that hardly repeat. "
            + (
                "The file system cannot read ahead, and what it reads ahead all the same is in vain."
                if direction == Kind.READ
                else "The file system cannot gather neighbours, and disks seek for each."
            )
        ),
        change=(
            "Sort the accesses by offset and merge neighbours before making them; "
            + (
                "read larger blocks into memory and pick from there; where the order cannot be known, "
                "posix_fadvise(POSIX_FADV_RANDOM) ends read-ahead; "
                if direction == Kind.READ
                else "collect updates in memory and write them in the order of the file; "
            )
            + "with MPI-IO, one collective call over a view that shows all pieces."
        ),
        estimate=saved.estimate,
        calls=calls,
        bytes=volume,
        evidence=[
            Evidence("random_calls", f"{noun} in random order", calls),
            Evidence("backward_share", "share of steps that lead back", sum(row["backward"] for row in own) / calls),
            Evidence("forward_share", "share of steps that lead forward", sum(row["forward"] for row in own) / calls),
            Evidence(
                "consecutive_share", "share of steps to the next byte", sum(row["consecutive"] for row in own) / calls
            ),
            Evidence("mean_bytes", "mean size", volume / calls),
            Evidence("spent_s", "time in them", spent),
        ],
        files=files,
        ranks=sorted({answers.shown_ranks.get(row["process"], row["process"]) for row in own}),
    )


def _random(answers: Answers, direction: str) -> list[dict[str, int]]:
    """Sums per file and process of those that are random."""
    survey, settings = answers.survey, answers.settings
    found = _random_pairs(survey.profile, survey.disordered, direction, settings.many_calls)
    rows: list[dict[str, int]] = found.to_pyarrow().to_pylist()
    return rows


@question
def _of(rows: ibis.Table, direction: str, pairs: ibis.Table) -> ibis.Table:
    return rows.filter(_.transfer & (_.direction == direction)).semi_join(pairs, ["process", "file"])


@question
def _random_pairs(profile: ibis.Table, disordered: ibis.Table, direction: str, many: int) -> ibis.Table:
    sums = profile.filter(_.transfer & (_.direction == direction) & _.file.notnull()).aggregate(
        by=["file", "process"],
        **{
            name: _[name].sum().cast("int64")
            for name in ("calls", "volume", "duration_ns", "consecutive", "forward", "backward")
        },
    )
    jumps = sums.semi_join(disordered.filter(_.direction == direction), ["file", "process"])
    return jumps.filter(_.calls >= many).order_by(["file", "process"])
