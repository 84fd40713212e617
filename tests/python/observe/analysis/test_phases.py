"""Phases, and how evenly ranks get through them (Dorier 2014, figure 2.3)."""

import random

import numpy as np
import pytest
from observe.analysis import scenarios
from observe.analysis.conftest import Ask
from observe.synthetic import MIB, Trace

from halcyon.intervals import merge
from halcyon.observe.analysis.phases import Phase, variability


def bursts(pauses_ms: list[float], ranks: int = 4, *, within_ms: float = 1.0) -> Trace:
    """Bursts of three writes of each rank; rank r takes 10 (r + 1) ms for each."""
    trace = Trace(ranks)
    file = trace.file("/scratch/shared")
    now = 0.0
    for pause in [0.0, *pauses_ms]:
        now += pause
        for rank in range(ranks):
            at = now
            for piece in range(3):
                trace.write(rank, file, (rank * 3 + piece) * MIB, MIB, at, 10 * (rank + 1))
                at += 10 * (rank + 1) + within_ms
        now += 3 * (10 * ranks + within_ms)
    return trace


@pytest.mark.parametrize(
    "pauses",
    [
        pytest.param([1000.0] * 5, id="regular"),
        pytest.param([700.0, 1300.0, 1000.0, 900.0, 1700.0], id="irregular"),
        pytest.param([600_000.0, 1000.0, 1000.0, 1000.0, 1000.0], id="after a long start"),
    ],
)
def test_pauses_part_phases(ask: Ask, pauses: list[float]) -> None:
    answers = ask(bursts(pauses))
    assert answers.phases.split.count == len(pauses) + 1
    assert [phase.bytes for phase in answers.phases_of["write"]] == [12 * MIB] * (len(pauses) + 1)


def test_pauses_within_bursts_part_nothing(ask: Ask) -> None:
    answers = ask(bursts([2000.0] * 3, within_ms=30.0))
    assert answers.phases.split.count == 4


def test_pauses_of_one_sort_part_nothing(ask: Ask) -> None:
    assert ask(bursts([14.0, 18.0, 25.0, 16.0])).phases.split.count == 1


def test_a_run_of_one_burst_is_one_phase(ask: Ask) -> None:
    assert ask(bursts([])).phases.split.count == 1


def test_log_lines_between_bursts_are_no_phases(ask: Ask) -> None:
    trace = bursts([1000.0] * 5)
    log = trace.file("/scratch/log")
    for line in range(60):
        trace.write(0, log, line * 80, 80, 45 + line * 110.0, 0.001)
    split = ask(trace).phases.split
    assert split.count == 6
    assert split.minor_bursts > 0


def test_a_phase_is_a_picture_of_its_ranks(ask: Ask) -> None:
    phase = ask(bursts([1000.0])).phases_of["write"][1]
    assert phase.ranks == [0, 1, 2, 3]
    assert phase.seconds == pytest.approx([0.03, 0.06, 0.09, 0.12])
    assert phase.normalised == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert phase.throughput == pytest.approx(12 * MIB / 0.12)
    assert phase.bytes_each == [3 * MIB] * 4
    assert phase.variation == pytest.approx(np.std([1, 2, 3, 4]) / 2.5)
    assert phase.max_over_median == pytest.approx(4 / 2.5)


def test_time_is_that_of_the_applications_own_calls(ask: Ask) -> None:
    trace = Trace(1)
    file = trace.file("/scratch/shared")
    outer = trace.mpi_write(0, file, 0, MIB, 0, 50)
    trace.write(0, file, 0, MIB, 5, 20, inside=outer)
    trace.add(0, "posix", "fsync", "sync", 60, 10, file=file)
    trace.add(0, "posix", "stat", "stat", 75, 5, file=file)
    answers = ask(trace)
    assert answers.phases_of["write"][0].seconds == pytest.approx([0.060])
    assert answers.phases_of["all"][0].seconds == pytest.approx([0.065])
    assert answers.phases_of["read"] == []


def test_every_call_belongs_to_its_phase(ask: Ask) -> None:
    chance = random.Random(5)
    trace = bursts([chance.uniform(500, 5000) for _ in range(12)], ranks=5)
    answers = ask(trace)
    split = answers.phases.split
    for phase in answers.phases_of["write"]:
        begin, end = split.begin_ns[phase.number], split.end_ns[phase.number]
        for rank, seconds in zip(phase.ranks, phase.seconds, strict=True):
            own = sum(
                call.duration_ns for call in trace.calls if call.process == rank and begin <= call.start_ns <= end
            )
            assert seconds == pytest.approx(own / 1e9)
    total = sum(sum(phase.seconds) for phase in answers.phases_of["write"])
    assert total == pytest.approx(sum(call.duration_ns for call in trace.calls) / 1e9)


def test_variability_over_ranks_and_phases() -> None:
    def phase(number: int, seconds: list[float]) -> Phase:
        return Phase(number, "write", number, number + 0.5, 100, [0, 1], seconds, [50, 50])

    found = variability([phase(0, [1.0, 1.0]), phase(1, [1.0, 3.0])])
    assert found is not None
    assert found.across_ranks == pytest.approx((0 + 0.5) / 2)
    assert found.across_phases == pytest.approx(np.std([1, 3]) / 2)
    assert found.waited_s == pytest.approx(2.0)
    assert variability([]) is None


def test_processes_without_mpi_are_not_compared(ask: Ask) -> None:
    trace = scenarios.slow_rank()
    trace.mpi = False
    answers = ask(trace)
    assert answers.stragglers == {"write": [], "read": []}
    for one in answers.variability:
        assert (one.across_ranks, one.max_over_median, one.waited_s) == (None, None, None)
    assert [one.across_phases is not None for one in answers.variability if one.kind == "write"] == [True]


def test_durations_of_calls_are_cumulated_per_function(ask: Ask) -> None:
    trace = bursts([1000.0])
    (found,) = ask(trace).call_durations
    assert found.name == "pwrite"
    for bound, share in zip(found.seconds, found.share, strict=True):
        own = sum(call.duration_ns / 1e9 < bound for call in trace.calls) / len(trace.calls)
        assert share == pytest.approx(own)


def test_merged_intervals_cover_the_same_points() -> None:
    chance = np.random.default_rng(3)
    for gap in (0, 4):
        begin = chance.integers(0, 300, 40)
        end = begin + chance.integers(0, 12, 40)
        first, last = merge(begin, end, gap)
        covered = {point for a, b in zip(begin, end, strict=True) for point in range(a, b)}
        merged = {point for a, b in zip(first, last, strict=True) for point in range(a, b)}
        assert covered <= merged
        assert all(a - b > gap for a, b in zip(first[1:], last[:-1], strict=True))
        if gap == 0:
            assert merged == covered


def test_a_launcher_is_no_rank(ask: Ask) -> None:
    trace = bursts([1000.0], ranks=4)
    trace.launchers = 1
    answers = ask(trace, ranks=3)
    assert answers.phases_of["write"][0].ranks == [0, 1, 2]
    assert answers.phases_of["write"][0].seconds == pytest.approx([0.06, 0.09, 0.12])
    assert answers.files[0].ranks == [0, 1, 2]
    assert [one.rank for one in answers.ranks] == [-1, 0, 1, 2]


@pytest.mark.parametrize(("pause_ms", "phases"), [(20.0, 1), (50.0, 6)])
def test_short_pauses_separate_where_they_are_plainly_longer_than_the_least(
    ask: Ask, pause_ms: float, phases: int
) -> None:
    trace = Trace(1)
    file = trace.file("/scratch/out")
    for burst in range(6):
        trace.write(0, file, burst * MIB, MIB, burst * (pause_ms + 30), 30)
    assert len(ask(trace).phases.of()) == phases
