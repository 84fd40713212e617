"""Collective MPI-IO calls, taken together over the ranks that made them: who waits for whom, how long they exchange.

A collective call of a rank has time of its own (Wright 2014, figure 4.8: communicate). Here it is divided: waiting for
the last rank to begin, which nothing inside MPI-IO can mend; and the exchange of data between ranks and aggregators.
A rank that comes last because it was still in calls of MPI-IO on the same file is not waited for: an aggregator writes
on for ranks that have handed over their data and are in the next collective call already. Other I/O of it is waited for
like what it computes.
"""

from dataclasses import dataclass
from functools import cache, cached_property

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis import passes
from halcyon.observe.analysis.survey import Survey
from halcyon.observe.call_table import collective_functions, spellings_of
from halcyon.observe.schema import Level

UNWATCHED = ("MPI_File_set_info", "MPI_File_set_atomicity", "MPI_File_seek_shared")
"""Collective functions in which ranks need not meet."""


@cache
def meeting_functions() -> list[str]:
    """Functions that all ranks of a file's communicator call, and in which they wait for one another."""
    return sorted(collective_functions() - spellings_of(*UNWATCHED))


@dataclass(frozen=True)
class Collective:
    """All calls of one function on one file; times in sum over ranks unless said otherwise."""

    function: str
    file: int
    calls: int
    turns: int
    """How often the ranks called it together."""
    ranks: int
    seconds: float
    communicate_s: float
    """Time of its own, in which no call below was under way."""
    waited_s: float
    """Of that: for the last rank to begin, as long as that rank was in no call of MPI-IO on this file."""
    exchange_s: float
    """From the begin of the last rank to each rank's end, but at most to the end of all less the longest time that one
    rank spent in calls below."""
    bytes: int
    start_s: float
    end_s: float
    worst_start_s: float
    """Of the turn in which ranks waited longest (of several, the first) …"""
    worst_end_s: float
    last_rank: int
    """… the rank that began last in most turns, by what was waited for it."""
    last_share: float
    """The share of `waited_s` that was for this rank."""


class Collectives:
    """Groups of collective calls, by at most settings.examined_calls calls of MPI-IO, collective or not.

    Whole files, those first whose collective calls took longest.
    """

    def __init__(self, survey: Survey) -> None:
        self.survey = survey

    @cached_property
    def _files(self) -> ibis.Table:
        return self.survey.keep("collective_files", _collective_files(self.survey.profile))

    @cached_property
    def comparable(self) -> bool:
        """Whether the begins of different ranks can be compared: on one node, or with clocks of a known error."""
        row = _known_of_clocks(self.survey.processes).to_pyarrow().to_pylist()[0]
        return bool(not row["unknown"] or (row["hosts"] == 1 and not row["unsaid"]))

    @cached_property
    def all(self) -> list[Collective]:
        """The longest first; none where clocks cannot be compared, or of one rank."""
        if Level.MPIIO not in self.survey.levels:
            return []
        files = _chosen(self._files, self.survey.settings.examined_calls).to_pyarrow().column("file").to_pylist()
        if not self.comparable or not files:
            return []
        every = _of_mpiio(self.survey.rows, tuple(files))
        clocks = _clocks(self.survey.dataset.processes)
        turns = self.survey.keep("turns", passes.collectives(_meetings(every), every, clocks))
        return [_collective(row) for row in _sums(turns, self.survey.processes).to_pyarrow().to_pylist()]


@question
def _collective_files(profile: ibis.Table) -> ibis.Table:
    rows = profile.filter((_.level == Level.MPIIO) & _.file.notnull())
    collective = _.call.isin(meeting_functions()) & _.self_ns.notnull()
    each = rows.aggregate(
        by="file", calls=_.calls.sum().cast("int64"), spent=_.duration_ns.sum(where=collective)
    ).filter(_.spent.notnull())
    order = ibis.cumulative_window(order_by=[ibis.desc("spent"), "file"])
    return each.mutate(so_far=_.calls.sum().over(order).cast("int64"))


@question
def _known_of_clocks(processes: ibis.Table) -> ibis.Table:
    return processes.filter(_.rank.notnull()).aggregate(
        hosts=_.host.nunique(), unsaid=_.host.isnull().any(), unknown=_.clock_error_ns.isnull().any()
    )


@question
def _chosen(files: ibis.Table, most: int) -> ibis.Table:
    return files.filter(_.so_far <= most).select("file")


@question
def _of_mpiio(calls: ibis.Table, files: tuple[int, ...]) -> ibis.Table:
    return calls.filter((_.level == Level.MPIIO) & _.file.isin(files))


@question
def _meetings(calls: ibis.Table) -> ibis.Table:
    return calls.filter(_.call.isin(meeting_functions()))


@question
def _clocks(processes: ibis.Table) -> ibis.Table:
    return processes.select(clock_process="process", clock_error_ns=_.clock_error_ns.fill_null(0))


@question
def _sums(every: ibis.Table, processes: ibis.Table) -> ibis.Table:
    turns = every.filter(_.processes > 1)
    for_whom = turns.aggregate(by=["file", "call", "last"], waited=_.waited_ns.sum())
    own = ibis.window(group_by=["file", "call"])
    for_whom = for_whom.mutate(most=_.waited.max().over(own)).filter(_.waited == _.most)
    for_whom = for_whom.aggregate(by=["file", "call"], last=_.last.min(), most=_.most.max())
    turns = turns.mutate(worst=_.waited_ns == _.waited_ns.max().over(own))
    sums = turns.aggregate(
        by=["file", "call"],
        turns=_.count(),
        calls=_.processes.sum(),
        ranks=_.processes.max(),
        **{name: _[name].sum().cast("int64") for name in _SUMMED},
        begin_ns=_.begin_ns.min(),
        end_ns=_.left_ns.max(),
        worst_begin_ns=_.begin_ns.min(where=_.worst),
        worst_end_ns=_.left_ns.min(where=_.worst),
    )
    rows = sums.join(for_whom, ["file", "call"])
    named = rows.join(processes.select(last="process", last_rank="shown_rank"), "last")
    return named.order_by([ibis.desc("duration_ns"), "file", "call"])


_SUMMED = ("duration_ns", "own_ns", "waited_ns", "exchange_ns", "volume")


def _collective(row: dict) -> Collective:  # type: ignore[type-arg]
    return Collective(
        function=row["call"],
        file=row["file"],
        calls=row["calls"],
        turns=row["turns"],
        ranks=row["ranks"],
        seconds=row["duration_ns"] / 1e9,
        communicate_s=row["own_ns"] / 1e9,
        waited_s=row["waited_ns"] / 1e9,
        exchange_s=row["exchange_ns"] / 1e9,
        bytes=row["volume"],
        start_s=row["begin_ns"] / 1e9,
        end_s=row["end_ns"] / 1e9,
        worst_start_s=row["worst_begin_ns"] / 1e9,
        worst_end_s=row["worst_end_ns"] / 1e9,
        last_rank=row["last_rank"],
        last_share=row["most"] / row["waited_ns"] if row["waited_ns"] else 0.0,
    )
