"""Transfers that begin off the file system's blocks, or straddle two stripes that would fit one."""

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.typical import of_same_sizes
from halcyon.observe.findings.finding import Evidence, Finding, found
from halcyon.observe.findings.mpiio_means import whole_stripes
from halcyon.observe.schema import Kind
from halcyon.quantities import seconds


def find(answers: Answers) -> list[Finding]:
    """One finding per direction."""
    return [finding for direction in (Kind.WRITE, Kind.READ) for finding in _find(answers, direction)]


def _find(answers: Answers, direction: str) -> list[Finding]:
    settings = answers.settings
    profile = answers.survey.profile
    own = [
        row
        for row in _alignable(profile, answers.survey.files, direction).to_pyarrow().to_pylist()
        if row["unaligned_calls"] >= settings.many_calls
        and row["unaligned_calls"] >= settings.unaligned_share * row["alignable"]
        and _could_be_aligned(row, settings.unaligned_share)
    ]
    if not own:
        return []
    lost, estimate = _lost(answers, direction, [row["file"] for row in own])
    if lost is None:
        own = [row for row in own if not _in_one_stream(row)]
    unaligned, calls = sum(row["unaligned_calls"] for row in own), sum(row["alignable"] for row in own)
    spent = sum(row["unaligned_duration_ns"] for row in own) / 1e9
    if not own or spent < settings.worth_share * answers.io_s or spent < settings.worth_seconds:
        return []
    return found(
        answers,
        key=f"misaligned-{direction}s",
        concerned=_unaligned(profile, direction, tuple(row["file"] for row in own)),
        seconds_lost=lost,
        spent_s=spent,
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


@question
def _alignable(profile: ibis.Table, files: ibis.Table, direction: str) -> ibis.Table:
    moves = profile.filter(_.transfer & (_.direction == direction) & _.file.notnull() & _.aligned.notnull())
    rows = moves.aggregate(
        by="file",
        alignable=_.calls.sum().cast("int64"),
        **{
            f"unaligned_{name}": ibis.ifelse(_.aligned, 0, _[name]).sum().cast("int64")
            for name in ("calls", "volume", "duration_ns", "crossing")
        },
        users=_.process.nunique(),
        consecutive=_.consecutive.sum().cast("int64"),
    )
    return rows.left_join(files.select("file", "block_bytes"), "file").order_by("file")


@question
def _unaligned(rows: ibis.Table, direction: str, files: tuple[int, ...]) -> ibis.Table:
    return rows.filter(_.transfer & (_.direction == direction) & ~_.aligned & _.file.isin(files))


@question
def _aligned(rows: ibis.Table, direction: str) -> ibis.Table:
    return rows.filter(_.transfer & (_.direction == direction) & _.aligned)


_NO_COMPARISON = "not estimated: this run has no aligned transfers of such sizes to compare with"


def _could_be_aligned(row: dict[str, int], share: float) -> bool:
    """Transfers below a block touch one in part wherever they begin: small they are, and not misaligned. Those that
    cross a stripe's border without need are."""
    calls = row["unaligned_calls"]
    return row["unaligned_volume"] >= row["block_bytes"] * calls or row["unaligned_crossing"] >= share * calls


def _in_one_stream(row: dict[str, int]) -> bool:
    """One process goes through the file, each transfer where the one before ended: caches join its parts of a block."""
    return row["users"] == 1 and 2 * row["consecutive"] >= row["alignable"]


def _lost(answers: Answers, direction: str, files: list[int]) -> tuple[float | None, str]:
    """By the aligned transfers of the same run, direction and size, where there are enough."""
    every = answers.survey.durations
    sizes = of_same_sizes(
        _unaligned(every, direction, tuple(files)), _aligned(every, direction), answers.settings.server_calls
    )
    both = [(own, usual) for own, usual in sizes if usual]
    if not both:
        return None, _NO_COMPARISON
    lost = sum(own.calls * (own.at_most_s - usual.seconds * own.bytes / usual.bytes) for own, usual in both)
    text = "their number times their median time, less that of the run's aligned transfers of such sizes: " + ", ".join(
        f"{seconds(own.seconds)} and {seconds(usual.seconds)}"
        for own, usual in sorted(both, key=lambda pair: -pair[0].calls)[:2]
    )
    return max(lost, 0.0), text
