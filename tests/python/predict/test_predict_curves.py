"""Curves of many values in few points."""

import numpy as np
import pytest

from halcyon.predict.curves import MOST_POINTS, Sliding, Thinned


def thinned(values: list[float] | np.ndarray[tuple[int], np.dtype[np.float64]], pieces: int = 1) -> Thinned:
    made = Thinned("curve", len(values))
    step = -(-len(values) // (made.bin * pieces)) * made.bin
    for first in range(0, len(values), step):
        made.add(first, np.asarray(values[first : first + step], np.float64))
    return made


def test_a_dip_of_one_call_stays() -> None:
    values = np.ones(100_000)
    values[54_321] = 0.25
    curve = thinned(values).curve()
    assert curve.y[curve.x.index(54_322)] == 0.25
    assert min(curve.y) == 0.25


def test_points_are_bounded_whatever_the_values() -> None:
    values = np.random.default_rng(2).random(123_457)
    curve = thinned(values).curve()
    assert MOST_POINTS / 2 < len(curve.x) <= MOST_POINTS
    assert curve.x == sorted(curve.x)
    assert min(curve.y) == pytest.approx(values.min(), rel=1e-3)
    assert max(curve.y) == pytest.approx(values.max(), rel=1e-3)


def test_of_a_level_stretch_its_ends_stay() -> None:
    curve = thinned([0, 1, 1, 1, 1, 0]).curve()
    assert (curve.x, curve.y) == ([1, 2, 5, 6], [0, 1, 1, 0])


def test_what_has_no_value_is_left_out() -> None:
    curve = thinned([1, np.nan, np.nan, 3]).curve()
    assert (curve.x, curve.y) == ([1, 4], [1, 3])


def test_pieces_make_the_same_curve() -> None:
    values = np.random.default_rng(3).random(10_000)
    assert thinned(values, 7).curve() == thinned(values).curve()


def test_sliding_means_go_on_over_pieces() -> None:
    values = np.random.default_rng(4).random(50)
    values[20:33] = np.nan
    whole = Sliding(5).of(values)
    sliding = Sliding(5)
    pieces = np.concatenate([sliding.of(values[at : at + 7]) for at in range(0, 50, 7)])
    np.testing.assert_allclose(pieces, whole, atol=1e-6)
    assert whole[0] == pytest.approx(values[0], abs=1e-6)
    assert whole[10] == pytest.approx(values[6:11].mean(), abs=1e-6)
    assert np.isnan(whole[30])
