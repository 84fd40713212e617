"""How much of a storage link's rate two commands used while both were in I/O."""

from collections.abc import Iterator, Sequence

from halcyon.delta.commands import Place
from halcyon.delta.io_time import Phase
from halcyon.testbed.links import Counted


def link_share(place: Place, looks: Sequence[Counted], a: Sequence[Phase], b: Sequence[Phase]) -> float | None:
    """Of the link used most, over all times in which a phase of each command went on; pauses of either do not count.
    None: nobody counts, or no two looks lie within such a time."""
    seconds = 0.0
    used_s: dict[str, float] = {}
    for begin_s, end_s in _both(a, b):
        within = [look for look in looks if begin_s <= look.time_s <= end_s]
        if len(within) < 2:
            continue
        lasted_s = within[-1].time_s - within[0].time_s
        seconds += lasted_s
        for name, share in place.link_shares(within[0], within[-1]).items():
            used_s[name] = used_s.get(name, 0.0) + share * lasted_s
    return max(used_s.values()) / seconds if used_s and seconds > 0 else None


def _both(a: Sequence[Phase], b: Sequence[Phase]) -> Iterator[tuple[float, float]]:
    """Begin and end, in seconds of CLOCK_MONOTONIC, of each time in which phases of both go on."""
    for one in a:
        for other in b:
            begin_s = max(one.begin_ns, other.begin_ns) / 1e9
            end_s = min(phase.begin_ns / 1e9 + phase.seconds for phase in (one, other))
            if begin_s < end_s:
                yield begin_s, end_s
