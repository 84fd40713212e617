"""Files that MPI-IO was asked only to write, and that were read all the same."""

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.counted import Counted
from halcyon.observe.findings.counted.records import ranks_of, read_by_mpiio, when
from halcyon.observe.findings.finding import Evidence, Finding, found
from halcyon.observe.findings.mpiio_means import of_mpiio, without_sieving
from halcyon.quantities import plural, size


def find(answers: Answers, known: Counted) -> list[Finding]:
    """Files that MPI-IO was asked only to write, and that were read all the same."""
    asked = _sums(known.records, tuple(read_by_mpiio(known, answers.settings.sieving_reads)))
    share = answers.settings.sieving_share
    own = [
        row
        for row in asked.to_pyarrow().to_pylist()
        if row["bytes_written"] > row["mpi_bytes_written"] and row["read_s"] > share * row["write_s"]
    ]
    if not own:
        return []
    surplus = sum((1 - row["mpi_bytes_written"] / row["bytes_written"]) * row["write_s"] for row in own)
    written, wanted = sum(row["bytes_written"] for row in own), sum(row["mpi_bytes_written"] for row in own)
    rows = _of_posix(known.records, tuple(row["file"] for row in own))
    return found(
        answers,
        key="data-sieving",
        seconds_lost=sum(row["read_s"] for row in own) + surplus,
        spent_s=sum(row["read_s"] + row["write_s"] for row in own),
        title="MPI-IO reads and writes more than it was asked to write",
        explanation=(
            f"The application only writes {plural(len(own), 'file')}, {size(wanted)} in all. Data sieving reads what "
            f"lies between the pieces, and writes it again: {size(written)}."
        ),
        change=(
            f"Set {without_sieving(answers)}; or write collectively"
            + of_mpiio(answers, romio=" with romio_cb_write=enable", ompio="")
            + ", so that no holes remain between the pieces; `halcyon advise --try` measures which is faster."
        ),
        estimate=(
            "time of the reads, and of the share of the bytes that were written beyond those asked for; locks, which "
            "the counters do not tell, come on top"
        ),
        calls=sum(row["reads"] for row in own),
        bytes=sum(row["bytes_read"] for row in own),
        evidence=[
            Evidence("read_calls", "reads of files that are only written", sum(row["reads"] for row in own)),
            Evidence("asked_bytes", "bytes asked to write", wanted),
            Evidence("written_bytes", "bytes written", written),
            Evidence("read_s", "time in these reads", sum(row["read_s"] for row in own)),
        ],
        files=[row["file"] for row in own],
        ranks=ranks_of(rows),
        when=when(rows),
    )


@question
def _sums(records: ibis.Table, files: tuple[int, ...]) -> ibis.Table:
    names = ("reads", "writes", "bytes_read", "bytes_written", "read_s", "write_s")
    return (
        records.filter(_.module.isin(["POSIX", "MPI-IO"]) & _.file.isin(files))
        .aggregate(
            by="file",
            **{f"mpi_{name}": ibis.ifelse(_.module == "MPI-IO", _[name], 0).sum() for name in names},
            **{name: ibis.ifelse(_.module == "POSIX", _[name], 0).sum() for name in names},
        )
        .order_by("file")
    )


@question
def _of_posix(records: ibis.Table, files: tuple[int, ...]) -> ibis.Table:
    return records.filter((_.module == "POSIX") & _.file.isin(files))
