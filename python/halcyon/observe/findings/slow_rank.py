"""One rank for which all others wait, again and again."""

from dataclasses import dataclass

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.open_modes import tells_flags
from halcyon.observe.analysis.rank_work import RankWork, usual
from halcyon.observe.analysis.stragglers import Straggler
from halcyon.observe.findings.finding import Evidence, Finding, Span, found
from halcyon.quantities import number, percent, plural


def find(answers: Answers) -> list[Finding]:
    """One finding per rank and kind."""
    return [finding for kind, own in answers.stragglers.items() for one in own for finding in _find(answers, kind, one)]


@dataclass(frozen=True)
class _Reason:
    """Why a rank takes longer, as far as its calls tell, and what helps."""

    explanation: str
    change: str


def _find(answers: Answers, kind: str, one: Straggler) -> list[Finding]:
    where = f" on {one.host}" if one.host else ""
    others = max(answers.survey.ranks - 1, 1)
    phases = {phase.number: phase for phase in answers.phases_of[kind]}
    first, last, longest = (phases[number] for number in (one.first_slow, one.last_slow, one.slowest))
    works = answers.rank_work[kind]
    rest = [work for rank, work in works.items() if rank != one.rank and rank >= 0]
    own, peers = works.get(one.rank), usual(rest) if rest else None
    reason = _other_work(answers, kind, one, own, peers) or _its_node(answers, where)
    return found(
        answers,
        key=f"slow-rank-{kind}",
        seconds_lost=one.seconds_lost * others,
        spent_s=one.slow_s * others,
        title=f"Rank {one.rank}{where} is slow in {one.slow_phases} of {one.phases} {kind} phases",
        explanation=reason.explanation,
        change=reason.change,
        estimate="per slow phase: its time less the slowest usual rank's, times the ranks that wait for it",
        calls=None,
        bytes=None,
        evidence=[
            Evidence("time_factor", "its time over the median rank's", one.factor),
            Evidence("longer_s", "phases made longer by", one.seconds_lost),
            *(
                [Evidence("bytes_factor", "its bytes over the median rank's", one.bytes_factor)]
                if one.bytes_factor
                else []
            ),
            *_work_evidence(own, peers),
        ],
        ranks=[one.rank],
        when=Span(first.start_s, last.end_s, None),
        worst=Span(longest.start_s, longest.end_s, None),
    )


def _its_node(answers: Answers, where: str) -> _Reason:
    """Nothing that it does tells it from the others."""
    node = f"the node{where}: its network link, its memory, what else runs there"
    if tells_flags(answers.survey):
        return _Reason(
            "It has about as much to do as the others, in as many calls and with the same flags, and takes longer "
            "every time: something is wrong with its node, its network link, or the server that holds its file.",
            f"Look at {node}; leave it out of the next job.",
        )
    return _Reason(
        "It has about as much to do as the others, in as many calls, and takes longer every time. With which flags it "
        "opened its files is not known.",
        f"See whether it opens its files with O_SYNC, O_DSYNC or O_DIRECT. If it does not, look at {node}.",
    )


def _other_work(
    answers: Answers, kind: str, one: Straggler, own: RankWork | None, peers: RankWork | None
) -> _Reason | None:
    """What it does that the others do not; None: nothing."""
    factor = answers.settings.slow_factor
    if own is not None and peers is not None:
        if own.synchronous_share > peers.synchronous_share + _OTHERWISE:
            return _Reason(
                f"It made {percent(own.synchronous_share)} of its writes through files that it opened with O_SYNC or "
                f"O_DSYNC, which return when the data is on the device; of the other ranks, the median made "
                f"{percent(peers.synchronous_share)} so.",
                "Open the file without O_SYNC and O_DSYNC, as the other ranks do, and call fdatasync once after the "
                "last write.",
            )
        if own.direct_share > peers.direct_share + _OTHERWISE:
            return _Reason(
                f"It moved {percent(own.direct_share)} of its transfers past the cache (O_DIRECT); of the other ranks, "
                f"the median did so with {percent(peers.direct_share)}.",
                "Open the file without O_DIRECT, as the other ranks do; or let all ranks move 1 MiB and more at a time "
                "with it.",
            )
    if one.bytes_factor is not None and one.bytes_factor >= factor:
        return _Reason(
            f"It has {number(one.bytes_factor)} times the bytes of the median rank.",
            "Divide the work evenly, or let other ranks write part of its data (collective calls).",
        )
    if own is not None and peers is not None:
        if own.syncs >= max(factor * peers.syncs, peers.syncs + one.slow_phases):
            return _Reason(
                f"It syncs {own.syncs:,} times, the median of the other ranks {peers.syncs:,} times.",
                "Sync once, after the last write of a phase, as the other ranks do.",
            )
        if peers.calls and own.calls >= factor * peers.calls:
            return _Reason(
                f"It makes {plural(own.calls, 'call')} for its bytes, the median of the other ranks {peers.calls:,}.",
                f"Gather its data in memory and {kind} it in as few calls as the other ranks do.",
            )
    return None


_OTHERWISE = 0.5
"""A rank that differs from the median by more than this share of its transfers works in another way."""


def _work_evidence(own: RankWork | None, peers: RankWork | None) -> list[Evidence]:
    if own is None or peers is None:
        return []
    return [
        Evidence("rank_calls", "its transfers", own.calls),
        Evidence("peers_calls", "the median rank's transfers", peers.calls),
        Evidence("synchronous_share", "its writes that wait for the device (O_SYNC, O_DSYNC)", own.synchronous_share),
        Evidence("direct_share", "its transfers past the cache (O_DIRECT)", own.direct_share),
    ]
