"""Columns come back from the page as they went in."""

import base64
import zlib

import numpy as np
import pytest

from halcyon.errors import InternalError
from halcyon.observe.viewer.columns import TYPES, Values, describe, encode


def _decode(text: str, columns: list[Values]) -> list[np.ndarray]:
    """As web/src/columns.ts reads them, in the plainest way."""
    block = zlib.decompress(base64.b64decode(text))
    decoded = []
    at = 0
    for values in columns:
        kind = np.dtype(TYPES[values.type])
        count = describe(values).length
        planes = np.frombuffer(block, np.uint8, kind.itemsize * count, at).reshape(kind.itemsize, count)
        at += kind.itemsize * count
        typed = np.ascontiguousarray(planes.T).view(kind).reshape(-1)
        decoded.append(np.cumsum(typed, dtype=kind) if values.delta else typed)
    assert at == len(block)
    return decoded


def test_columns_of_all_types_come_back() -> None:
    random = np.random.default_rng(1)
    columns = [
        Values(f"{kind}-{delta}", kind, random.integers(info.min, info.max, 1000, endpoint=True, dtype=kind_), delta)
        for kind, kind_ in TYPES.items()
        for info in [np.iinfo(kind_)]
        for delta in (False, True)
    ]
    columns.append(Values("none", "i64", np.zeros(0, np.int64), True))
    for values, decoded in zip(columns, _decode(encode(columns), columns), strict=True):
        np.testing.assert_array_equal(decoded, values.array, err_msg=values.name)


def test_a_value_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InternalError, match="column call_thread has values that are no u16"):
        encode([Values("call_thread", "u16", np.array([70_000]))])


def test_starts_of_calls_cost_few_bytes() -> None:
    """What planes and differences are for: eight bytes a value become less than three."""
    starts = np.cumsum(np.random.default_rng(2).integers(0, 60_000, 100_000)) + 10**15
    assert len(encode([Values("call_start", "i64", starts, delta=True)])) < 3 * len(starts)
