"""A sweep over stripe count and stripe size, against section 6.1 of Wright 2014."""

from pathlib import Path

import pytest

from halcyon.errors import UsageError
from halcyon.models.measurements import MeasuredStriping, read_striping
from halcyon.models.sweep import sweep


def test_table_f_1_speeds_up_49_times() -> None:
    told = sweep(480, 4, read_striping("wright:F.1"))
    assert (told.start.stripes, told.start.stripe_bytes, told.start.bytes_per_s) == (2, 1 << 20, 313.02e6)
    assert (told.best.stripes, told.best.stripe_bytes, told.best.bytes_per_s) == (160, 128 << 20, 15609.38e6)
    assert int(told.speed_up) == 49


def test_the_best_of_each_parameter_alone() -> None:
    """The text says 4,075 and 395 MB/s; the cells of the table are these."""
    told = sweep(480, 4, read_striping("wright:F.1"))
    assert (told.best_by_count.stripes, told.best_by_count.bytes_per_s) == (160, 4074.45e6)
    assert told.best_by_size is not None
    assert (told.best_by_size.stripe_bytes, told.best_by_size.bytes_per_s) == (64 << 20, 398.92e6)


def test_what_to_request_weighs_the_best_size_of_each_count() -> None:
    told = sweep(480, 4, read_striping("wright:F.1"), accepted_loss=0.5).recommendation
    assert (told.chosen.measured.request, told.chosen.measured.bytes_per_s) == (64, 8005.93e6)
    assert told.chosen.expected.load == pytest.approx(1.224, abs=0.0005)


def test_the_start_may_be_named() -> None:
    told = sweep(480, 4, read_striping("wright:F.1"), (1, 256 << 20))
    assert told.start.bytes_per_s == 192.05e6
    with pytest.raises(UsageError, match="--start: 3 stripes of 1 MiB were not measured"):
        sweep(480, 4, read_striping("wright:F.1"), (3, 1 << 20))


def test_without_sizes_there_is_no_best_size(tmp_path: Path) -> None:
    """Runs of one point are averaged; the first point is the start."""
    path = tmp_path / "measurements.csv"
    path.write_text("run,striping_factor,cb_nodes,bytes_per_s\n1,2,1,100\n2,2,1,140\n3,8,1,300\n4,8,4,360\n5,16,1,\n")
    points = read_striping(path)
    assert points == [MeasuredStriping(2, None, 120.0), MeasuredStriping(8, None, 360.0)]
    told = sweep(16, 2, points)
    assert (told.best_by_size, told.speed_up) == (None, 3.0)


def test_nothing_measured_is_refused() -> None:
    with pytest.raises(UsageError, match="no measured point"):
        sweep(4, 1, [])
