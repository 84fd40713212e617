"""Time in MPI-IO is what the transfers of all processes cover together."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from halcyon.observe.advise.mpiio_time import union_ns

SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=12)


@given(SPANS)
def test_overlaps_count_once(spans: list[tuple[int, int]]) -> None:
    rows = np.array([(start, start + length) for start, length in spans], dtype=np.int64).reshape(-1, 2)
    covered = {moment for start, end in rows for moment in range(start, end)}
    assert union_ns(rows) == len(covered)
