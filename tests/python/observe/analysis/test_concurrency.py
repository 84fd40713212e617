"""Calls in progress at once (Wright 2014, figure 5.1)."""

import pytest
from observe.analysis.conftest import Ask
from observe.analysis.random_trace import random_trace
from observe.synthetic import MIB, Trace

from halcyon.observe.analysis.settings import Settings


def test_queued_writes_show_as_steps(ask: Ask) -> None:
    """Four writes begin together and end one after the other: 4, 3, 2, 1 in progress."""
    trace = Trace(4)
    file = trace.file("/scratch/shared")
    for rank in range(4):
        trace.write(rank, file, rank * MIB, MIB, 0, 10 * (rank + 1))
    (series,) = ask(trace, Settings(concurrency_bins=4)).concurrency.series
    assert (series.level, series.kind) == ("posix", "write")
    assert series.mean[:4] == pytest.approx([4, 3, 2, 1])
    assert series.most == pytest.approx(4)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("exact_calls", [1000, 0])
def test_means_are_those_of_an_obvious_implementation(ask: Ask, seed: int, exact_calls: int) -> None:
    """Exactly, even where times are merged in steps."""
    trace = random_trace(seed)
    found = ask(trace, Settings(exact_calls=exact_calls, time_bins=700, concurrency_bins=50)).concurrency
    width = found.bin_s * 1e9
    for series in found.series:
        own = [call for call in trace.calls if (call.level, call.kind) == (series.level, series.kind)]
        for number, mean in enumerate(series.mean):
            low, high = number * width, (number + 1) * width
            inside = sum(max(0.0, min(call.end_ns, high) - max(call.start_ns, low)) for call in own)
            assert mean == pytest.approx(inside / width, abs=1e-6)
