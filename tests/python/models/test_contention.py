"""Writers on one target beside an ideal one (Wright 2014, figure 6.3 and table F.2)."""

import pytest

from halcyon.errors import UsageError
from halcyon.models import published
from halcyon.models.contention import ABOVE, BELOW, WITHIN, contention
from halcyon.models.measurements import MeasuredWriters, read_writers


def test_the_ideal_band_is_that_of_table_f_2() -> None:
    told = contention("wright:F.2", read_writers("wright:F.2"))
    for row, step in zip(published.table("bandwidth_per_task_under_contention"), told.steps, strict=True):
        low, high = map(float, row["ideal_ci95"].strip("()").split(","))
        assert step.ideal_bytes_per_s == pytest.approx(float(row["ideal_MBps"]) * 1e6, abs=1100)
        assert step.ideal_low_bytes_per_s == pytest.approx(low * 1e6, abs=1100)
        assert step.ideal_high_bytes_per_s == pytest.approx(high * 1e6, abs=1100)


def test_all_intervals_of_table_f_2_meet_the_ideal_band() -> None:
    told = contention("wright:F.2", read_writers("wright:F.2"))
    assert {step.standing for step in told.steps} == {WITHIN}
    assert told.first_loss is None


def measured(*steps: tuple[int, float, float]) -> list[MeasuredWriters]:
    """Writers, lowest and highest."""
    return [MeasuredWriters(writers, (low + high) / 2, low, high) for writers, low, high in steps]


def test_an_interval_off_the_band_is_below_or_above() -> None:
    told = contention("made", measured((1, 95, 105), (2, 40, 45), (4, 27, 28), (8, 12, 13)))
    assert [step.standing for step in told.steps] == [WITHIN, BELOW, ABOVE, WITHIN]
    assert told.first_loss is told.steps[1]


def test_less_than_five_percent_is_no_loss() -> None:
    told = contention("made", measured((1, 99.9, 100.1), (2, 48.9, 49.1)))
    assert told.steps[1].standing == BELOW
    assert told.first_loss is None


def test_without_one_writer_there_is_no_ideal() -> None:
    with pytest.raises(UsageError, match="made: no line of 1 writer"):
        contention("made", measured((2, 1, 2)))
