"""One rank for which all others wait, again and again."""

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.stragglers import Straggler
from halcyon.observe.findings.finding import Evidence, Finding, Span, found
from halcyon.quantities import number


def find(answers: Answers) -> list[Finding]:
    """One finding per rank and kind."""
    return [finding for kind, own in answers.stragglers.items() for one in own for finding in _find(answers, kind, one)]


def _find(answers: Answers, kind: str, one: Straggler) -> list[Finding]:
    more = one.bytes_factor is not None and one.bytes_factor >= answers.settings.slow_factor
    where = f" on {one.host}" if one.host else ""
    others = max(answers.survey.ranks - 1, 1)
    phases = {phase.number: phase for phase in answers.phases_of[kind]}
    first, last, longest = (phases[number] for number in (one.first_slow, one.last_slow, one.slowest))
    return found(
        answers,
        key=f"slow-rank-{kind}",
        seconds_lost=one.seconds_lost * others,
        title=f"Rank {one.rank}{where} is slow in {one.slow_phases} of {one.phases} {kind} phases",
        explanation=(
            f"It has {number(one.bytes_factor)} times the bytes of the median rank."
            if more and one.bytes_factor is not None
            else "It has about as much to do as the others, and takes longer every time: something is wrong with "
            "its node, its "
            "network link, or the server that holds its file."
        ),
        change=(
            "Divide the work evenly, or let other ranks write part of its data (collective calls)."
            if more
            else f"Look at the node{where}: its network link, its memory, what else runs there; leave it out of "
            "the next job."
        ),
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
        ],
        ranks=[one.rank],
        when=Span(first.start_s, last.end_s, None),
        worst=Span(longest.start_s, longest.end_s, None),
    )
