"""Entropies and best forecasts of sequences for which they are known."""

import numpy as np
import pytest

from halcyon.predict.bounds import Bound, bounds

PERIOD = np.array([0, 1, 1, 2])
NO_SIZES = np.full(401, -1)


def test_one_symbol_that_goes_on_in_two_ways_leaves_a_bit() -> None:
    symbols = np.concatenate([np.tile(PERIOD, 100), PERIOD[:1]])
    first, second, third, fourth = bounds(symbols, NO_SIZES)
    # Half of all symbols are a 1, after which 1 and 2 come equally often.
    assert first == Bound("the last call site", 400, pytest.approx(0.5), pytest.approx(0.75))
    assert all((one.entropy_bits, one.best) == (0, 1) for one in (second, third, fourth))


def test_sizes_follow_from_call_sites_and_from_those_before() -> None:
    symbols = np.tile([7, 8], 500)
    # Site 7 always writes 64 bytes, site 8 by turns 100 and 200; some calls transfer nothing.
    sizes = np.where(symbols == 7, 64, np.where(np.arange(1000) % 4 == 1, 100, 200))
    sizes[:2] = -1
    by_site, with_before = bounds(symbols, sizes)[-2:]
    assert by_site.calls == 998
    assert by_site.entropy_bits == pytest.approx(0.5, abs=0.01)
    assert by_site.best == pytest.approx(0.75, abs=0.01)
    assert with_before.entropy_bits == pytest.approx(0, abs=0.01)
    assert with_before.best == 1


def test_noise_has_the_entropy_of_its_alphabet() -> None:
    symbols = np.random.default_rng(1).integers(0, 4, 1 << 18)
    first = bounds(symbols, np.full(len(symbols), -1))[0]
    assert first.entropy_bits == pytest.approx(2, abs=0.01)
    assert first.best == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_short_sequences_have_fewer_bounds(count: int) -> None:
    symbols = np.arange(count)
    assert len(bounds(symbols, np.full(count, -1))) == max(0, count - 1)
