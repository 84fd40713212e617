"""Interleaved small accesses of many ranks to one file, which collective buffering would gather into few large ones."""

from dataclasses import dataclass

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.call_table import collective_transfers
from halcyon.observe.findings.finding import Evidence, Finding, found
from halcyon.observe.findings.large_transfers import LARGE, saving
from halcyon.observe.findings.mpiio_means import collective_methods, hint, of_mpiio, other_component
from halcyon.observe.findings.views import view_evidence
from halcyon.observe.mpi_library import AGGREGATORS
from halcyon.observe.schema import Kind, Level


@dataclass(frozen=True)
class _Interleaved:
    file: int
    processes: list[int]
    calls: int
    bytes: int
    seconds: float
    overlap: float
    """Sum of the processes' extents over that of all of them."""
    collective: bool
    """Made by collective MPI-IO calls, most of them."""


def find(answers: Answers) -> list[Finding]:
    """One finding per direction."""
    return [finding for direction in (Kind.WRITE, Kind.READ) for finding in _find(answers, direction)]


def _find(answers: Answers, direction: str) -> list[Finding]:
    interleaved = _interleaved(answers, direction)
    if not interleaved:
        return []
    calls, volume = sum(one.calls for one in interleaved), sum(one.bytes for one in interleaved)
    spent = sum(one.seconds for one in interleaved)
    files = [one.file for one in interleaved]
    saved = saving(answers, direction, _pieces_of(answers.survey.durations, direction, tuple(files)))
    collective = all(one.collective for one in interleaved)
    verb = "write" if direction == Kind.WRITE else "read"
    methods = " or ".join(collective_methods(answers))
    return found(
        answers,
        key=f"collective-buffering-{verb}",
        concerned=_pieces_of(answers.survey.profile, direction, tuple(files)),
        seconds_lost=saved.seconds,
        spent_s=spent,
        title=f"Ranks {verb} interleaved pieces of a shared file, each on its own",
        explanation=(
            "The calls are collective, but each rank still moves its own small pieces: collective buffering is off."
            if collective
            else "The calls are independent. Servers see small pieces from many ranks in turn, and locks change "
            "hands for each."
        ),
        change=(
            f"Set {hint(answers, f'romio_cb_{verb}=enable', ompio=methods)}. Best is a number of aggregators "
            f"({of_mpiio(answers, romio='cb_nodes', ompio=AGGREGATORS)}) that divides the file's number of servers, or "
            "is a multiple of it."
            if collective
            else f"Use collective calls (MPI_File_{verb}_all, H5FD_MPIO_COLLECTIVE)"
            + of_mpiio(answers, romio=f" and the MPI-IO hint romio_cb_{verb}=enable", ompio="")
            + "; where the program cannot be changed and a call has several pieces, "
            + of_mpiio(
                answers,
                romio=f"the MPI-IO hint romio_ds_{verb}=enable (data sieving)",
                ompio=f"{other_component(answers)}, whose data sieving joins them",
            )
            + "."
        ),
        estimate=saved.estimate,
        calls=calls,
        bytes=volume,
        evidence=[
            Evidence("interleaved_calls", "interleaved transfers", calls),
            Evidence("mean_bytes", "mean size", volume / calls),
            Evidence(
                "overlap_factor",
                "extents of ranks over extent of the file",
                max(one.overlap for one in interleaved),
            ),
            Evidence("spent_s", "time in them", spent),
            *view_evidence(answers, files),
        ],
        files=sorted(files),
        ranks=sorted({answers.shown_ranks.get(p, p) for one in interleaved for p in one.processes}),
    )


def _pieces(calls: ibis.Table, direction: str) -> ibis.Table:
    """The transfers of MPI-IO's reads, or writes: reads inside writes are data sieving's (data_sieving.py)."""
    rows = calls.filter(_.transfer & (_.direction == direction) & (_.parent_level == Level.MPIIO) & _.file.notnull())
    return rows.filter(_.parent_call.lower().contains(direction))


def _interleaved(answers: Answers, direction: str) -> list[_Interleaved]:
    if Level.MPIIO not in answers.survey.levels:
        return []
    settings = answers.settings
    sums = _sums(answers.survey.profile, direction, settings.many_calls, settings.overlap)
    return [
        _Interleaved(
            file=row["file"],
            processes=row["processes"],
            calls=row["calls"],
            bytes=row["volume"],
            seconds=row["duration_ns"] / 1e9,
            overlap=row["extents"] / row["extent"],
            collective=row["collective"] > row["calls"] / 2,
        )
        for row in sums.to_pyarrow().to_pylist()
    ]


@question
def _pieces_of(calls: ibis.Table, direction: str, files: tuple[int, ...]) -> ibis.Table:
    return _pieces(calls, direction).filter(_.file.isin(files))


@question
def _sums(profile: ibis.Table, direction: str, many_calls: int, overlap: float) -> ibis.Table:
    rows = _pieces(profile, direction)
    all_call = _.parent_call.isin(sorted(collective_transfers()))
    each = rows.aggregate(
        by=["file", "process"],
        calls=_.calls.sum().cast("int64"),
        volume=_.volume.sum().cast("int64"),
        duration_ns=_.duration_ns.sum().cast("int64"),
        collective=ibis.ifelse(all_call, _.calls, 0).sum().cast("int64"),
        low=_.low.min(),
        high=_.high.max(),
    )
    sums = each.aggregate(
        by="file",
        processes=_.process.collect(),
        users=_.process.nunique(),
        calls=_.calls.sum().cast("int64"),
        volume=_.volume.sum().cast("int64"),
        duration_ns=_.duration_ns.sum().cast("int64"),
        collective=_.collective.sum().cast("int64"),
        extents=(_.high - _.low).sum().cast("int64"),
        extent=_.high.max() - _.low.min(),
    )
    sums = sums.filter(
        (_.users > 1)
        & (_.calls >= many_calls)
        & (_.extents >= overlap * _.extent)
        & (_.volume < _.calls * (LARGE // 2))
    )
    return sums.order_by("file")
