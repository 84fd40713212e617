"""MPI-IO reads or writes whose time is not in the calls that they make."""

from typing import Any

from ibis import _

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.decomposition import FunctionShares
from halcyon.observe.analysis.mpiio_own import MpiIoOwn
from halcyon.observe.call_table import collective_transfers, mpiio_transfers
from halcyon.observe.findings.counted import records
from halcyon.observe.findings.finding import Evidence, Finding, found
from halcyon.observe.findings.mpiio_calls import calls_of, files_of
from halcyon.observe.findings.mpiio_means import of_mpiio, other_component
from halcyon.observe.mpi_library import MpiIo
from halcyon.observe.schema import Kind, Level
from halcyon.quantities import percent, seconds


def find(answers: Answers) -> list[Finding]:
    """One finding per direction. Where ranks' clocks can be compared, collective calls have findings of their own
    (collective_waiting.py)."""
    directions = (Kind.WRITE, Kind.READ)
    return [found for one in directions for found in (*_of_functions(answers, one), *_of_files(answers, one))]


def _of_functions(answers: Answers, direction: str) -> list[Finding]:
    names = mpiio_transfers(direction)
    every = [one for one in answers.functions if one.level == Level.MPIIO and one.function in names]
    own = [one for one in every if not (one.function in collective_transfers() and answers.collectives.comparable)]
    spent, inside = sum(one.seconds for one in own), sum(_inside(answers, one) for one in own)
    if not spent or inside < answers.settings.own_share * spent:
        return []
    worst = max(own, key=lambda one: _inside(answers, one))
    collective = worst.function in collective_transfers()
    mine = calls_of(answers.survey.profile, tuple(one.function for one in own))
    files = files_of(mine).to_pyarrow().column("file").to_pylist()
    return _finding(
        answers,
        direction,
        spent,
        inside,
        below_s=spent - inside,
        moving_s=sum(_moving(one) for one in own),
        below="calls that it makes",
        why="Ranks wait for one another or exchange data; the clocks of this run do not tell which."
        if collective
        else "It takes apart datatypes and views, copies pieces, or waits for a lock of a shared file pointer.",
        change=_change(answers, direction, worst.function, collective),
        calls=sum(one.calls for one in own),
        longest=Evidence("longest_own_s", f"most, in {worst.function}", _inside(answers, worst)),
        concerned=mine,
        files=sorted(files),
    )


def _of_files(answers: Answers, direction: str) -> list[Finding]:
    """The same where the source does not tell which call made which."""
    every = [one for one in answers.mpiio_own if one.direction == direction]
    spent, inside = sum(one.spent_s for one in every), sum(one.own_s for one in every)
    if not spent or inside < answers.settings.own_share * spent:
        return []
    below, worst = sum(one.below_s for one in every), max(every, key=lambda one: one.own_s)
    return _finding(
        answers,
        direction,
        spent,
        inside,
        below_s=below,
        moving_s=below,
        below="reads and writes of the files",
        why="Ranks may wait for one another there, or exchange data; this source does not tell which."
        if worst.collective
        else "It takes apart datatypes and views, copies pieces, or waits for locks this source does not record.",
        change=_change(answers, direction, "", worst.collective),
        calls=sum(one.calls for one in every),
        longest=Evidence("longest_own_s", "most, in one file", worst.own_s),
        files=sorted(one.file for one in every),
        **_where(answers, every),
    )


def _finding(
    answers: Answers,
    direction: str,
    spent: float,
    inside: float,
    *,
    below_s: float,
    moving_s: float,
    below: str,
    why: str,
    change: str,
    calls: int,
    longest: Evidence,
    **where: Any,
) -> list[Finding]:
    """In seconds: `spent` in these calls, `inside` of it MPI-IO's own, `below_s` in the calls that `below` names."""
    return found(
        answers,
        key=f"mpiio-overhead-{direction}",
        seconds_lost=inside,
        spent_s=spent,
        title=f"MPI-IO {direction}s take far longer than moving their data",
        explanation=f"{percent(inside / spent)} of the {seconds(spent)} in these calls passes inside of the MPI "
        f"library, not in the {below}, which take {seconds(below_s)}. {why}",
        change=change,
        estimate=_ESTIMATE,
        calls=calls,
        bytes=None,
        evidence=[
            Evidence("own_share", "share of MPI-IO's own in these calls' time", inside / spent),
            Evidence("spent_s", "time in these calls", spent),
            Evidence("below_s", "time in the calls that they make", below_s),
            Evidence("moving_s", "of it, in reads and writes of the file", moving_s),
            longest,
        ],
        **where,
    )


def _where(answers: Answers, every: list[MpiIoOwn]) -> dict[str, Any]:
    """Ranks and times."""
    files = [one.file for one in every]
    if answers.counters is not None and every[0].counted:
        rows = answers.counters.records.filter((_.module == "MPI-IO") & _.file.isin(files))
        return {"ranks": records.ranks_of(rows), "when": records.when(rows)}
    calls = answers.survey.profile.filter((_.level == Level.MPIIO) & _.file.isin(files))
    return {"concerned": calls.filter(_.direction == every[0].direction)}


_ESTIMATE = (
    "time of these calls that is in none of the calls they make (of collective ones: of each rank, beyond the longest "
    "time that one rank spent in those)"
)


def _inside(answers: Answers, one: FunctionShares) -> float:
    """Time of its own. In a collective call, ranks rightly wait while another one moves their data: for each rank, at
    most what goes beyond the longest time that a rank spent in calls below."""
    if one.function not in collective_transfers():
        return one.communicate_s
    each = [own for own in answers.functions_per_rank if (own.level, own.function) == (one.level, one.function)]
    longest = max((own.seconds - own.communicate_s for own in each), default=0.0)
    return sum(max(own.seconds - longest, 0.0) for own in each)


def _moving(one: FunctionShares) -> float:
    return one.read_s + one.write_s


def _change(answers: Answers, direction: str, function: str, collective: bool) -> str:
    if "_shared" in function:
        return (
            "Write at offsets that each rank computes (MPI_Exscan of the sizes, then MPI_File_write_at_all): a shared "
            "file pointer is locked for each call."
        )
    if collective:
        return (
            f"Try MPI_File_{direction}_at with large contiguous pieces in place of the collective call, or "
            + of_mpiio(
                answers,
                romio=f"the MPI-IO hint romio_cb_{direction}=disable, which exchanges nothing",
                ompio=other_component(answers),
            )
            + ". `halcyon advise --try` measures it."
        )
    means = "a view whose blocks are contiguous, MPI_Pack before the call, or a collective call"
    used = answers.mpiio_used.implementation
    if used != MpiIo.ROMIO:
        where = "" if used == MpiIo.OMPIO else "with Open MPI's own MPI-IO, "
        means += f"; or {where}set {other_component(answers)}, and let `halcyon advise --try` measure it"
    return f"Give MPI-IO fewer and longer pieces: {means}."
