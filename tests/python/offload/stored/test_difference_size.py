"""The size of a difference is exact for integers, and never overflows."""

from typing import Any

import numpy as np
import pytest

from halcyon.offload.difference_size import DifferenceSize, size_of


@pytest.mark.parametrize(
    ("kind", "a", "b", "size"),
    [
        ("int8", [-128, 5], [127, 4], DifferenceSize(255, 255 / 128)),
        ("uint64", [2**64 - 1], [0], DifferenceSize(2.0**64, 1)),
        ("int64", [2**62 + 1], [2**62], DifferenceSize(1, 2.0**-62)),
        ("int64", [-(2**63)], [2**63 - 1], DifferenceSize(2.0**64, 2)),
        ("float16", [6e4], [-6e4], DifferenceSize(120_000, 2)),
        ("float64", [1.7e308], [-1.7e308], DifferenceSize(np.inf, 2)),
        ("float64", [5e-324], [0.0], DifferenceSize(5e-324, 1)),
        ("float32", [np.nan, np.inf, 8.0], [1.0, -np.inf, 6.0], DifferenceSize(2, 0.25, endless=2)),
        ("float64", [np.inf], [0.0], DifferenceSize(0, 0, endless=1)),
        ("complex64", [3 + 4j], [0j], DifferenceSize(5, 1)),
    ],
)
def test_size_of_each_kind_of_number(kind: str, a: list[Any], b: list[Any], size: DifferenceSize) -> None:
    with np.errstate(all="raise"):
        assert size_of(np.array(a, kind), np.array(b, kind)) == size


def test_words_have_no_size() -> None:
    assert size_of(np.array([b"a"]), np.array([b"b"])) is None
    assert size_of(np.array([True]), np.array([False])) is None
