"""bt-io: the bytes of the BT benchmark with I/O, from any partition and by every way."""

import numpy as np
import pytest
from mini_apps import MiniApps

POINTS, WRITES = 7, 3
"""7 does not divide by 2 or 3."""
SETTINGS = {"points": POINTS, "writes": WRITES, "check": 1}


def expected() -> np.ndarray:
    index = np.arange(POINTS**3 * 5, dtype="f8")
    return np.concatenate([write * 1e10 + index for write in range(WRITES)])


@pytest.mark.parametrize("ranks", [1, 4, 9])
@pytest.mark.parametrize("way", ["full", "simple"])
def test_the_file_is_the_same_from_any_partition(mini_apps: MiniApps, way: str, ranks: int) -> None:
    run = mini_apps.run("bt-io", ranks, **SETTINGS, way=way)
    np.testing.assert_array_equal(np.fromfile(run / "bt-io"), expected())


def test_a_file_for_each_rank_has_each_value_once(mini_apps: MiniApps) -> None:
    run = mini_apps.run("bt-io", 4, **SETTINGS, way="own")
    values = np.concatenate([np.fromfile(run / f"bt-io.{rank:04d}") for rank in range(4)])
    np.testing.assert_array_equal(np.sort(values), expected())


def test_a_class_says_how_much(mini_apps: MiniApps) -> None:
    run = mini_apps.run("bt-io", 4)
    assert (run / "bt-io").stat().st_size == 12**3 * 5 * 8 * 12


def test_words_that_make_no_sense_are_refused(mini_apps: MiniApps) -> None:
    for ranks, words, reason in (
        (2, {}, "expected a square number"),
        (4, {"class": "X"}, "expected S, W, A, B, C, D or E"),
        (4, {"way": "epio"}, "expected full, simple or own"),
    ):
        ends = mini_apps.start("bt-io", ranks, **words)
        assert ends.returncode != 0
        assert reason in ends.stdout + ends.stderr
