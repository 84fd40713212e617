"""No finding costs more than the time of the calls that it is about."""

import math
import os
import random
from collections.abc import Callable
from inspect import signature

import pytest
from observe.analysis import scenarios
from observe.analysis.conftest import Ask, finding_of, is_found, pick
from observe.analysis.random_trace import random_trace
from observe.synthetic import MIB, Call, Trace

from halcyon.errors import InternalError
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.findings import Finding, findings
from halcyon.observe.findings.finding import found

KIB = 1024
SENSITIVE = Settings(
    worth_seconds=0.0, worth_share=0.0, worth_run_share=0.0, many_calls=10, metadata_share=0.0, sync_share=0.0,
    sieving_share=0.01, server_calls=5, random_share=0.1, own_share=0.1, exchange_share=0.1, waiting_share=0.05,
)  # fmt: skip


def spent_s(finding: Finding) -> float:
    return next(each.value for each in finding.evidence if each.key == "spent_s")


def test_writes_that_wait_are_not_charged_for_other_ranks_writes_to_the_file(ask: Ask) -> None:
    trace = Trace(2)
    file = trace.file("/scratch/log")
    for rank, flags in enumerate((os.O_DSYNC, 0)):
        trace.add(rank, "posix", "open", "open", 0.0, 0.1, file=file, argument=os.O_WRONLY | os.O_CREAT | flags)
        for number in range(100):
            size = (64, 256)[rank] * KIB
            trace.write(rank, file, rank * 100 * MIB + number * size, size, 1 + number * 130.0, (60, 125)[rank])
    one = finding_of(ask(trace), "synchronous-writes")
    assert spent_s(one) == pytest.approx(6.0)
    assert one.seconds_lost == pytest.approx(6.0)


def test_random_reads_are_not_charged_for_other_ranks_reads_of_the_file(ask: Ask) -> None:
    trace = Trace(2)
    file = trace.file("/scratch/table")
    chance = random.Random(1)
    for number in range(1600):
        trace.read(0, file, chance.randrange(100_000) * 4 * KIB, 4 * KIB, number * 60.0, 5)
        trace.read(1, file, number * 4 * KIB, 4 * KIB, number * 60.0, 35)
    one = finding_of(ask(trace), "random-reads")
    assert one.ranks == [0]
    assert one.seconds_lost == pytest.approx(8.0 * (1 - 4 * KIB / MIB))


def test_a_median_above_the_mean_does_not_make_misalignment_cost_more_than_it_took(ask: Ask) -> None:
    trace = scenarios.misaligned()
    for call in trace.calls:
        if call.process == 1 or call.offset < 48 * MIB:
            call.duration_ns = 1_000_000
    one = finding_of(ask(trace), "misaligned-writes")
    assert one.seconds_lost is not None
    assert one.seconds_lost <= spent_s(one)


def test_a_slow_server_costs_no_more_than_its_transfers_took(ask: Ask) -> None:
    trace = scenarios.slow_server()
    own = [call for call in trace.calls if trace.files[call.file or 0]["servers"] == ["ost2"]]
    for call in own[: len(own) * 2 // 5]:
        call.duration_ns //= 1000
    one = finding_of(ask(trace), "slow-server")
    assert one.seconds_lost is not None
    assert one.seconds_lost <= sum(call.duration_ns for call in own) / 1e9


def without_times(trace: Trace, kind: str) -> Trace:
    """The same from a source that does not say when, and for how long, calls of this kind were made."""
    for call in trace.calls:
        if call.kind == kind:
            call.timed = False
    return trace


def test_syncs_without_times_are_no_finding(ask: Ask) -> None:
    every = findings(ask(without_times(scenarios.frequent_sync(), "sync"), SENSITIVE))
    assert pick(every, "frequent-sync").seconds_lost == 0.0
    assert not is_found(ask(without_times(scenarios.frequent_sync(), "sync")), "frequent-sync")


@pytest.mark.parametrize("kind", ["stat", "open"])
def test_a_kind_of_questions_without_times_costs_nothing(ask: Ask, kind: str) -> None:
    whole = finding_of(ask(scenarios.metadata_storm(), SENSITIVE), "metadata-storm")
    part = finding_of(ask(without_times(scenarios.metadata_storm(), kind), SENSITIVE), "metadata-storm")
    assert whole.seconds_lost is not None
    assert part.seconds_lost == pytest.approx(whole.seconds_lost - 4 * 49 * {"stat": 0.002, "open": 0.004}[kind])


def test_an_estimate_above_the_time_spent_is_a_fault_of_ours(ask: Ask) -> None:
    answers = ask(scenarios.small_writes())
    with pytest.raises(InternalError, match="finding 'invented' loses 2 s of 1 s"):
        found(answers, key="invented", seconds_lost=2.0, spent_s=1.0)


def generated(run: Callable[[], Trace], seed: int) -> Trace:
    """The scenario with other durations, processes and sources of times, at random."""
    trace, chance = run(), random.Random(seed)
    outer = {id(call.inside) for call in trace.calls if call.inside is not None}
    for call in trace.calls:
        if id(call) in outer:
            continue
        _shorten(call, 10 ** -chance.choice([0, 0, 0, 1, 3]))
        if call.inside is None and call.level == "posix":
            if chance.random() < 0.3:
                call.process = chance.randrange(trace.ranks)
            call.timed = chance.random() < 0.95
    return trace


def _shorten(call: Call, factor: float) -> None:
    """It ends earlier; the call that makes it goes on as long, in work of its own."""
    before, call.duration_ns = call.duration_ns, max(round(call.duration_ns * factor), 1)
    if call.inside is not None:
        call.inside.children_ns -= before - call.duration_ns


SCENARIOS = [
    run
    for run in vars(scenarios).values()
    if callable(run)
    and getattr(run, "__module__", "") == scenarios.__name__
    and all(one.default is not one.empty for one in signature(run).parameters.values())
]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("run", [*SCENARIOS, lambda: random_trace(5)], ids=lambda run: run.__name__)
def test_no_finding_of_a_generated_run_costs_more_than_the_time_spent(
    ask: Ask, run: Callable[[], Trace], seed: int
) -> None:
    trace = generated(run, seed)
    whole = trace.ranks * max(call.end_ns for call in trace.calls) / 1e9
    for one in findings(ask(trace, SENSITIVE)):  # which raises where an estimate is above its calls' time
        if one.seconds_lost is None:
            continue
        own = [each.value for each in one.evidence if each.key == "spent_s"]
        bound = min([whole, *own])
        assert 0 <= one.seconds_lost <= bound or math.isclose(one.seconds_lost, bound), one.key


@pytest.mark.parametrize("run", [scenarios.time_inside_mpiio, scenarios.sieving, scenarios.late_rank])
def test_mpiios_own_time_is_not_above_its_calls_where_nobody_relates_them(ask: Ask, run: Callable[[], Trace]) -> None:
    trace = generated(run, 1)
    trace.related = False
    one = finding_of(ask(trace, SENSITIVE), "mpiio-overhead-write")
    upper = sum(call.duration_ns for call in trace.calls if call.level == "mpiio") / 1e9
    assert one.seconds_lost is not None
    assert 0 < one.seconds_lost <= spent_s(one) <= upper * (1 + 1e-9)
