"""One server that is slower than its peers, or that has most of the work."""

from statistics import median

from ibis import _

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.servers import Server
from halcyon.observe.findings.finding import Evidence, Finding, Span, found, time_spent
from halcyon.observe.findings.mpiio_means import striping
from halcyon.quantities import number, rate


def find(answers: Answers) -> list[Finding]:
    """One finding per slow server, and one for an uneven load."""
    if answers.servers.counted:  # loads are estimates there
        return []
    return [*_slow(answers), *_uneven(answers)]


def _slow(answers: Answers) -> list[Finding]:
    settings = answers.settings
    rated = [
        (one, one.bandwidth_per_call)
        for one in answers.servers.servers
        if one.bandwidth_per_call and one.alone_calls >= settings.server_calls
    ]
    if len(rated) < 3:  # of two, nobody knows which one is the odd one
        return []
    result = []
    for server, own in rated:
        usual = median(each for other, each in rated if other is not server)
        if own * settings.server_factor > usual:
            continue
        # The median byte may be slower than the mean one.
        spent = min(server.alone_s, server.alone_bytes / own)
        result += found(
            answers,
            key="slow-server",
            seconds_lost=spent * (1 - own / usual),
            spent_s=server.alone_s,
            title=f"Server {server.name} is slower than the others",
            explanation=f"Transfers that it serves alone reach {rate(own)}, those of its peers {rate(usual)}.",
            change=(
                "Tell the operators. Until it is mended, create files without it (lfs setstripe with a list of "
                f"targets, or a pool{striping(answers, 'start_iodevice', 'striping_factor')})."
            ),
            estimate=(
                "time of the bytes that it served alone at its usual bandwidth (at most the time that they took), less "
                "that at its peers'"
            ),
            calls=server.alone_calls,
            bytes=server.alone_bytes,
            evidence=[
                Evidence("server_bytes_per_s", "bandwidth per call", own),
                Evidence("peers_bytes_per_s", "median of its peers", usual),
                Evidence("server_calls", "transfers", server.alone_calls),
            ],
            when=_in_use(server, answers.servers.bin_s),
        )
    return result


def _uneven(answers: Answers) -> list[Finding]:
    known = answers.servers
    if len(known.servers) < 2 or known.imbalance is None or known.imbalance < answers.settings.server_factor:
        return []
    busiest = max(known.servers, key=lambda one: one.bytes)
    total = sum(one.bytes for one in known.servers)
    data_s = time_spent(answers.survey.profile.filter(_.transfer))
    share = busiest.bytes / total
    return found(
        answers,
        key="uneven-servers",
        seconds_lost=data_s * share * (1 - 1 / known.imbalance),
        spent_s=data_s,
        title=f"Server {busiest.name} has {number(known.imbalance)} times its even share of the bytes",
        explanation="While one server works, the others idle: the run is as fast as the busiest one.",
        change=(
            "Stripe large files over more servers (lfs setstripe -c"
            f"{striping(answers, 'striping_factor', 'striping_unit')}), and do not let all files begin on the same one "
            f"(lfs setstripe -i -1{striping(answers, 'start_iodevice')})."
        ),
        estimate="time of the transfers in proportion to its bytes, less what an even load would leave it",
        calls=None,
        bytes=busiest.bytes,
        evidence=[
            Evidence("server_bytes", "its bytes", busiest.bytes),
            Evidence("server_share", "share of all bytes", share),
            Evidence("used_server_count", "servers in use", sum(1 for one in known.servers if one.bytes)),
        ],
        when=_in_use(busiest, known.bin_s),
    )


def _in_use(server: Server, bin_s: float) -> Span:
    """From the first to the last step of its load over time in which it had anything to do."""
    busy = [step for step, both in enumerate(zip(server.read, server.written, strict=True)) if any(both)]
    return Span(busy[0] * bin_s, (busy[-1] + 1) * bin_s, None)
