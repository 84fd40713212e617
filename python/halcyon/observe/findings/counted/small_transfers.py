"""Reads and writes of 10 KiB or less, from Darshan's histograms of sizes."""

from functools import reduce
from operator import add

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.counted import SMALL, Counted
from halcyon.observe.findings.counted.records import NOT_TIMED, files_of, ranks_of, read_by_mpiio, when, worth
from halcyon.observe.findings.finding import Evidence, Finding, found
from halcyon.observe.findings.large_transfers import LARGE
from halcyon.observe.schema import Kind
from halcyon.quantities import percent


def find(answers: Answers, known: Counted) -> list[Finding]:
    return [finding for kind in (Kind.WRITE, Kind.READ) for finding in _small(answers, known, kind)]


def _small(answers: Answers, known: Counted, kind: str) -> list[Finding]:
    settings = answers.settings
    noun, spent = f"{kind}s", f"{kind}_s"
    volume = "bytes_written" if kind == Kind.WRITE else "bytes_read"
    sieved = tuple(read_by_mpiio(known)) if kind == Kind.READ else ()
    rows = _with_small_ones(known.records, noun, sieved)
    row = _sums(rows, noun, spent, volume).to_pyarrow().to_pylist()[0]
    every = int(_every(known.records, noun, sieved).to_pyarrow()["calls"][0].as_py() or 0)
    few = row["little"] or 0
    if few < settings.many_calls or few < settings.small_share * every or not worth(answers, row["spent"]):
        return []
    timed = row["alone"] >= few / 2
    return found(
        answers,
        key=f"small-{noun}",
        spent_s=row["spent"],
        seconds_lost=row["alone_s"] * max(1 - row["alone_bytes"] / row["alone"] / LARGE, 0.0) if timed else None,
        title=f"Data is {'written' if kind == Kind.WRITE else 'read'} in small pieces",
        explanation=f"{percent(few / every)} of all {noun} move 10 KiB or less. Each costs a round to the file system."
        + (" Reads that data sieving makes of files that are only written are left out." if sieved else ""),
        change=(
            "Gather data in memory and move at least 1 MiB at a time: a larger buffer, chunks of 1 MiB or more and "
            "H5Pset_alignment for HDF5, collective calls for MPI-IO."
        ),
        estimate=(
            f"at most: time of the files in which all {noun} are so small, if transfers of 1 MiB took no longer than "
            "each of these"
            if timed
            else NOT_TIMED
        ),
        calls=few,
        bytes=None,
        evidence=[
            Evidence("small_calls", f"{noun} of 10 KiB or less", few),
            Evidence("every_calls", f"all {noun}", every),
            Evidence("spent_s", f"time of all {noun} of these files", row["spent"]),
        ],
        files=files_of(rows),
        ranks=ranks_of(rows),
        when=when(rows),
    )


def _own(records: ibis.Table, sieved: tuple[int, ...]) -> ibis.Table:
    return records.filter((_.module == "POSIX") & ~_.file.isin(sieved))


@question
def _every(records: ibis.Table, noun: str, sieved: tuple[int, ...]) -> ibis.Table:
    return _own(records, sieved).aggregate(calls=_[noun].sum())


@question
def _with_small_ones(records: ibis.Table, noun: str, sieved: tuple[int, ...]) -> ibis.Table:
    little = reduce(add, (_[f"{noun}_{mark}"] for mark in SMALL))
    return _own(records, sieved).mutate(little=little).filter(_.little > 0)


@question
def _sums(rows: ibis.Table, noun: str, spent: str, volume: str) -> ibis.Table:
    return rows.aggregate(
        little=_.little.sum(),
        spent=_[spent].sum(),
        # Of files in which all are small, time and bytes are those of small ones.
        alone=ibis.ifelse(_.little == _[noun], _.little, 0).sum(),
        alone_s=ibis.ifelse(_.little == _[noun], _[spent], 0.0).sum(),
        alone_bytes=ibis.ifelse(_.little == _[noun], _[volume], 0).sum(),
    )
