"""Costs are those of usual calls: a few that something delayed change nothing."""

from collections.abc import Callable

import pytest
from observe.analysis import scenarios
from observe.analysis.conftest import Ask, finding_of, is_found
from observe.synthetic import Trace

from halcyon.observe.analysis.settings import Settings


def held_up(run: Callable[[], Trace], kind: str, times: int = 3, seconds: float = 8.0) -> Trace:
    """The run, of which a few calls of a kind, spread over it, were delayed by something else."""
    trace = run()
    own = [call for call in trace.calls if call.kind == kind]
    for call in own[:: len(own) // times][:times]:
        call.duration_ns += round(seconds * 1e9)
    return trace


@pytest.mark.parametrize(
    ("run", "kind", "key"),
    [
        (scenarios.misaligned, "write", "misaligned-writes"),
        (scenarios.small_writes, "write", "small-writes"),
        (scenarios.frequent_sync, "sync", "frequent-sync"),
        (scenarios.all_read_the_same, "read", "redundant-reads"),
        (scenarios.metadata_storm, "open", "metadata-storm"),
        (scenarios.slow_server, "write", "slow-server"),
    ],
)
def test_calls_that_something_held_up_do_not_change_the_cost(
    ask: Ask, run: Callable[[], Trace], kind: str, key: str
) -> None:
    settings = Settings(worth_share=0.001, metadata_share=0.0)
    calm = finding_of(ask(run(), settings), key)
    assert finding_of(ask(held_up(run, kind), settings), key).seconds_lost == pytest.approx(calm.seconds_lost, rel=0.05)


def test_a_server_that_was_held_up_a_few_times_is_not_slow(ask: Ask) -> None:
    trace = scenarios.slow_server()
    for call in trace.calls:
        call.duration_ns = 10_000_000
    own = [call for call in trace.calls if trace.files[call.file or 0]["servers"] == ["ost1"]]
    for call in own[::12]:
        call.duration_ns += 1_000_000_000
    assert not is_found(ask(trace), "slow-server")
