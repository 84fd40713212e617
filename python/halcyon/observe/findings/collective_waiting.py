"""Time that ranks lose to one another in collective MPI-IO calls: waiting for the last one, and exchanging data."""

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.collectives import Collective
from halcyon.observe.call_table import mpiio_transfers
from halcyon.observe.findings.finding import Evidence, Finding, Span, found
from halcyon.observe.findings.mpiio_means import collective_methods, of_mpiio
from halcyon.observe.mpi_library import AGGREGATORS, COLLECTIVE_METHOD
from halcyon.observe.schema import Kind


def find(answers: Answers) -> list[Finding]:
    """One finding at most for waiting, one for the exchange."""
    every = answers.collectives.all
    return [*_waiting(answers, every), *_exchange(answers, every)]


def _waiting(answers: Answers, every: list[Collective]) -> list[Finding]:
    share = answers.settings.waiting_share
    own = [one for one in every if one.waited_s >= share * one.seconds]
    if not own:
        return []
    waited, spent = sum(one.waited_s for one in own), sum(one.seconds for one in own)
    worst = max(own, key=lambda one: one.waited_s)
    one_rank = worst.last_share >= answers.settings.one_rank_share
    return found(
        answers,
        key="collective-wait",
        seconds_lost=waited,
        spent_s=spent,
        title="Ranks wait in collective calls for the last one to come",
        explanation=(
            "A collective call cannot begin before all ranks have made it. "
            + (
                f"In {worst.function}, nearly all waiting is for rank {worst.last_rank}, which is in other I/O or "
                "computing until then."
                if one_rank
                else "It is not always the same rank that comes last: the work before the calls is uneven."
            )
        ),
        change=(
            f"Find out what rank {worst.last_rank} does before it comes: more work, work that it does alone, a slow "
            "node. Let it do that afterwards, or share it out."
            if one_rank
            else "Balance the work between the calls; or let ranks go on while others come: MPI_File_iwrite_all, "
            "or a core that is dedicated to I/O."
        ),
        estimate=(
            "from each rank's begin of such a call to the last rank's, less what of it the last rank spent in other "
            "MPI-IO calls on this file (it is not late then, but still busy), less the error of the clocks"
        ),
        calls=sum(one.calls for one in own),
        bytes=sum(one.bytes for one in own) or None,
        evidence=[
            Evidence("waited_share", "share of these calls' time", waited / spent),
            Evidence("spent_s", "time in them", spent),
            Evidence("own_s", "of it, not in calls below", sum(one.communicate_s for one in own)),
            Evidence("met_count", "times that ranks met", sum(one.turns for one in own)),
            Evidence("longest_waited_s", f"most waiting, in {worst.function}", worst.waited_s),
        ],
        files=sorted({one.file for one in own}),
        ranks=[worst.last_rank] if one_rank else [],
        when=Span(min(one.start_s for one in own), max(one.end_s for one in own), None),
        worst=Span(worst.worst_start_s, worst.worst_end_s, worst.file),
    )


def _exchange(answers: Answers, every: list[Collective]) -> list[Finding]:
    share = answers.settings.exchange_share
    own = [one for one in every if one.bytes and one.exchange_s >= share * one.seconds]
    if not own:
        return []
    exchange, spent = sum(one.exchange_s for one in own), sum(one.seconds for one in own)
    worst = max(own, key=lambda one: one.exchange_s)
    volume, calls = sum(one.bytes for one in own), sum(one.calls for one in own)
    more = 2 * max(len({host for host in answers.hosts.values() if host is not None}), 1)
    direction = Kind.READ if worst.function in mpiio_transfers(Kind.READ) else Kind.WRITE
    return found(
        answers,
        key="collective-exchange",
        seconds_lost=exchange,
        spent_s=spent,
        title="Collective calls take longer to exchange data between ranks than to move it",
        explanation=(
            "Two-phase I/O sends all data to a few aggregators first. While all ranks were there, for most of the time "
            "none of them was in a read or write of the file."
        ),
        change=(
            "Try "
            + of_mpiio(
                answers,
                romio=f"more aggregators (cb_nodes={more}: two for each node) with larger buffers "
                f"(cb_buffer_size={_LARGE_BUFFER}), which need fewer rounds; where each rank's part is large and "
                f"contiguous, independent calls, or romio_cb_{direction}=disable, which exchange nothing",
                ompio=f"more aggregators ({AGGREGATORS}={more}: two for each node) or another method "
                f"({', '.join(collective_methods(answers))}); where each rank's part is large and contiguous, "
                f"independent calls, or {COLLECTIVE_METHOD}=individual, which exchange nothing",
            )
            + ". `halcyon advise --try` measures it."
        ),
        estimate=(
            "at most: from the begin of the last rank to each one's end, or to the end of all less the longest time of "
            "a rank in calls below, whichever is shorter"
        ),
        calls=calls,
        bytes=volume,
        evidence=[
            Evidence("exchange_share", "share of these calls' time", exchange / spent),
            Evidence("spent_s", "time in them", spent),
            Evidence("mean_bytes", "mean size of a rank's call", volume / calls),
            Evidence("longest_exchange_s", f"most exchange, in {worst.function}", worst.exchange_s),
        ],
        files=sorted({one.file for one in own}),
        when=Span(min(one.start_s for one in own), max(one.end_s for one in own), None),
        worst=Span(worst.start_s, worst.end_s, worst.file),
    )


_LARGE_BUFFER = 64 << 20
"""Bytes: four times what ROMIO takes by itself."""
