"""Storage as slow as it is meant to be, on machines of any speed; and why it was not."""

from dataclasses import replace

import pytest
from measurements import CALM, PACE, round_of

from halcyon.demo.calibration import (
    MOST_PHASE_BYTES,
    SHORTEST_PHASE_S,
    STORE_OVER_COMPUTE,
    Pace,
    bites,
    cause,
    grown,
)
from halcyon.demo.comparison_rounds import LIMIT_BITES, adjusted
from halcyon.demo.model_run import Storm

STORM = Storm()
SLICE_S = 0.1
"""What version 1 of control groups lets pass of a burst, whatever the limit."""


def stored(limit: float, storm: Storm) -> float:
    """Seconds, by the kernel's rule."""
    return max(storm.bytes_per_phase / limit - SLICE_S, 0.002)


def test_a_machine_that_is_slow_enough_keeps_its_storm() -> None:
    assert grown(STORM, SHORTEST_PHASE_S) == STORM


@pytest.mark.parametrize("times_faster", [1.5, 4, 9])
def test_a_faster_machine_gets_a_larger_storm_that_takes_long_enough(times_faster: float) -> None:
    wider = grown(STORM, SHORTEST_PHASE_S / times_faster)
    assert wider.cells[0] % 2 == wider.cells[1] % 2 == 0
    assert wider.bytes_per_phase >= times_faster * STORM.bytes_per_phase
    assert wider.spacing_m == STORM.spacing_m
    compute_s = SHORTEST_PHASE_S / times_faster * wider.bytes_per_phase / STORM.bytes_per_phase
    assert bites(stored(Pace.of(wider, compute_s).limit, wider) / compute_s)


def test_no_machine_gets_more_than_fits_into_the_image() -> None:
    nx, ny, nz = grown(STORM, 1e-6).cells
    assert 8 * 4 * (nx - 2) * (ny - 2) * nz <= MOST_PHASE_BYTES


@pytest.mark.parametrize("calibrated_s", [0.1, 0.2, 0.8, 3.0])
def test_a_limit_that_was_calibrated_wrongly_bites_after_a_few_rounds(calibrated_s: float) -> None:
    """The machine computes a phase in 0.8 s; it was busy, or asleep, when that was measured."""
    pace = Pace.of(STORM, calibrated_s)
    for _ in range(4):
        run = replace(CALM, compute_phase_s=0.8, store_s=stored(pace.limit, STORM))
        if bites(run.store_over_compute):
            return
        pace = adjusted(pace, round_of(pace, file_per_process=run))
    pytest.fail(f"store/compute is still {run.store_over_compute}")


def test_a_limit_that_bites_stays() -> None:
    assert adjusted(PACE, round_of()) is PACE


@pytest.mark.parametrize(
    ("compute_s", "store_s", "why"),
    [
        (0.4 / 2.5, 0.2, "the machine was busier at calibration than in the round"),
        (0.4, 0.4, "the storage was slower than its limit"),
        (0.4 * 2.5, 0.2, "the machine was busier in the round than at calibration"),
        (0.4, 0.004, "the limit does not bite"),
    ],
)
def test_what_is_named_as_the_cause_is_the_cause(compute_s: float, store_s: float, why: str) -> None:
    run = replace(CALM, compute_phase_s=compute_s, store_s=store_s)
    assert not bites(run.store_over_compute)
    assert why in cause(PACE, run)


def test_a_round_on_storage_that_is_not_slow_does_not_count() -> None:
    assert round_of().failures() == []
    fast = replace(CALM, store_s=STORE_OVER_COMPUTE * CALM.compute_phase_s / 50)
    assert [premise for premise, _ in round_of(file_per_process=fast).failures()] == [LIMIT_BITES]
    assert [premise for premise, _ in round_of(control=fast).failures()] == [LIMIT_BITES]
    assert round_of(None, file_per_process=fast).failures() == []


def test_collective_output_uses_the_storage_as_it_likes() -> None:
    assert round_of(collective=replace(CALM, store_s=5.0)).failures() == []


def test_a_control_far_from_1_says_so() -> None:
    disturbed = replace(CALM, visible_s=replace(CALM.visible_s, median=0.01))
    ((premise, detail),) = round_of(control=disturbed).failures()
    assert premise == "the control is near 1"
    assert "file-per-process over itself 10.0" in detail
