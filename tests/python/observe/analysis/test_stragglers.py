"""Ranks that are slow again and again."""

import random

from halcyon.observe.analysis.phases import Phase
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.analysis.stragglers import stragglers

MIB = 1 << 20


def phases(
    slow: dict[int, float], count: int = 10, ranks: int = 8, bytes_each: dict[int, int] | None = None
) -> list[Phase]:
    """Times scatter by 10 % around a second; those of `slow` are so many times as long, in every phase."""
    chance = random.Random(1)
    result = []
    for number in range(count):
        times = {rank: chance.gauss(1.0, 0.1) * slow.get(rank, 1.0) for rank in range(ranks)}
        order = sorted(times, key=lambda rank: times[rank])
        volumes = [(bytes_each or {}).get(rank, MIB) for rank in order]
        result.append(
            Phase(number, "write", number, number + 1, sum(volumes), order, [times[r] for r in order], volumes)
        )
    return result


def test_a_rank_that_is_slow_in_every_phase_is_found() -> None:
    (found,) = stragglers(phases({5: 3.0}), {5: "n7"}, Settings())
    assert (found.rank, found.host, found.phases) == (5, "n7", 10)
    assert found.slow_phases == 10
    assert 2.5 < found.factor < 3.5
    assert found.bytes_factor == 1.0
    assert 10 < found.seconds_lost < 20


def test_scatter_alone_makes_no_straggler() -> None:
    assert stragglers(phases({}), {}, Settings()) == []


def test_one_bad_phase_makes_no_straggler() -> None:
    own = phases({}) + phases({2: 5.0}, count=1)
    assert stragglers(own, {}, Settings()) == []


def test_a_rank_with_more_to_do_says_so() -> None:
    (found,) = stragglers(phases({0: 4.0}, bytes_each={0: 4 * MIB}), {}, Settings())
    assert found.bytes_factor == 4.0


def test_two_ranks_cannot_tell_who_is_odd() -> None:
    assert stragglers(phases({1: 3.0}, ranks=2), {}, Settings()) == []
