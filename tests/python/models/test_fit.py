"""Expected numbers of targets by their stripes, and their spread."""

import random
from itertools import pairwise

import pytest

from halcyon.models.fit import fit, spread_of_histogram
from halcyon.models.histogram import MOST_CLASSES, classes_of
from halcyon.models.measurements import read_targets
from halcyon.models.placed import placed_as


def test_the_spread_is_that_of_placements_at_random() -> None:
    """All placements of files with 2 and 1 stripes on 3 targets: 3 × 3 of equal chance."""
    placements = [[0, 1], [0, 2], [1, 2]]
    counts = []
    for pair in placements:
        for single in range(3):
            on = [sum(target in file for file in (pair, [single])) for target in range(3)]
            counts.append([on.count(k) for k in range(3)])
    for k, own in enumerate(zip(*counts, strict=True)):
        mean = sum(own) / 9
        variance = sum((count - mean) ** 2 for count in own) / 9
        assert spread_of_histogram(3, [2, 1], 3)[k] == pytest.approx(variance**0.5)


def test_a_made_placement_at_random_lies_within_its_spread() -> None:
    """Seeded; 5 standard deviations."""
    choose = random.Random(7)
    on = [0] * 64
    for _ in range(100):
        for target in choose.sample(range(64), 3):
            on[target] += 1
    told = fit(64, [3] * 100, [on.count(k) for k in range(max(on) + 1)])
    assert told.spread is not None
    assert abs(told.deviation_in_use) < 5
    for actual, expected, spread in zip(told.actual, told.expected, told.spread, strict=True):
        assert abs(actual - expected) <= 5 * spread + 1


def test_the_most_and_the_scatter_of_table_6_5() -> None:
    """The text: most targets have 10 to 23 files; experiment 1 has one with 30."""
    told = placed_as("wright:6.5/1", read_targets("wright:6.5/1")).fit
    assert told.most_stripes == 30
    assert told.mean_stripes == pytest.approx(17.067, abs=0.0005)
    assert told.expected_scatter == pytest.approx((17.0667 * (1 - 2 / 480)) ** 0.5, abs=0.001)
    assert sum(told.actual[10:24]) > 400


def test_many_numbers_of_stripes_become_classes() -> None:
    on = [900, 1000, 1100, 1000]
    actual = [on.count(k) for k in range(1101)]
    told = fit(4, [1] * 4000, actual)
    assert told.spread is None
    classes = classes_of(told)
    assert len(classes) <= MOST_CLASSES
    assert sum(each.actual for each in classes) == 4
    assert sum(each.expected for each in classes) == pytest.approx(4, abs=0.2)
    assert all(one.last + 1 == other.first for one, other in pairwise(classes))
