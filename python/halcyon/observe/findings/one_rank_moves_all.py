"""One rank, usually rank 0, that reads or writes for all others."""

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.call_table import collective_transfers
from halcyon.observe.findings.finding import Evidence, Finding, found
from halcyon.observe.findings.mpiio_means import aggregators
from halcyon.observe.schema import Kind, Level
from halcyon.quantities import percent


def find(answers: Answers) -> list[Finding]:
    """One finding per direction."""
    if (answers.survey.dataset.info.ranks or 0) < 2:
        return []
    return [finding for direction in (Kind.WRITE, Kind.READ) for finding in _find(answers, direction)]


def _find(answers: Answers, direction: str) -> list[Finding]:
    rows = _transfers(answers.survey.profile, direction)
    each = _sums(rows).to_pyarrow().to_pylist()
    total = sum(row["volume"] for row in each)
    if not total:
        return []
    most = max(each, key=lambda row: row["volume"])
    hosts = {answers.hosts.get(rank) for rank in answers.hosts}
    if most["volume"] < answers.settings.one_rank_share * total or (most["gathered"] and len(hosts) < 2):
        return []  # one aggregator per node is what collective buffering should have
    rank, ranks = answers.shown_ranks.get(most["process"], most["process"]), answers.survey.ranks
    if rank < 0:  # the launcher
        return []
    spent = most["duration_ns"] / 1e9
    verb, done = ("writes", "written") if direction == Kind.WRITE else ("reads", "read")
    return found(
        answers,
        key=f"one-rank-{verb}",
        concerned=_of_process(rows, most["process"]),
        spent_s=spent,
        seconds_lost=spent * (1 - 1 / (len(hosts) if most["gathered"] else ranks)),
        title=f"Rank {rank} {verb} nearly everything",
        explanation=(
            f"It moves {percent(most['volume'] / total)} of the bytes {done} by {ranks} ranks. One process has "
            "one stream "
            "to the servers, and the data crosses the network twice."
        ),
        change=(
            f"Set {aggregators(answers, len(hosts))} (one for each node) or more."
            if most["gathered"]
            else "Let all ranks take part: collective MPI-IO or parallel HDF5 (H5Pset_fapl_mpio), or one file per node."
        ),
        estimate="its time, less its part if all ranks (for aggregators: one per node) shared the transfers evenly",
        calls=most["calls"],
        bytes=most["volume"],
        evidence=[
            Evidence("rank_share", f"its share of the bytes {done}", most["volume"] / total),
            Evidence("rank_bytes", "its bytes", most["volume"]),
            Evidence("rank_calls", "its transfers", most["calls"]),
            Evidence("spent_s", "time in them", spent),
        ],
        files=sorted(file for file in most["files"] or [] if file is not None),
        ranks=[rank],
    )


@question
def _transfers(profile: ibis.Table, direction: str) -> ibis.Table:
    """Data sieving's reads for a write are none of the application's."""
    other = Kind.WRITE if direction == Kind.READ else Kind.READ
    sieved = (_.parent_level == Level.MPIIO) & _.parent_call.re_search(str(other))
    return profile.filter(_.transfer & (_.direction == direction) & ~sieved.fill_null(False))


@question
def _sums(rows: ibis.Table) -> ibis.Table:
    return rows.aggregate(
        by="process",
        calls=_.calls.sum().cast("int64"),
        volume=_.volume.sum().cast("int64"),
        duration_ns=_.duration_ns.sum().cast("int64"),
        gathered=_.parent_call.isin(sorted(collective_transfers())).fill_null(False).any(),
        files=_.file.collect(distinct=True),
    )


@question
def _of_process(rows: ibis.Table, process: int) -> ibis.Table:
    return rows.filter(_.process == process)
