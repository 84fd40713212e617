"""Published tables by name, in the columns of a user's CSV file."""

import re

import pytest

from halcyon.errors import ConfigError, UsageError
from halcyon.models.measured_rows import read_rows
from halcyon.models.measurements import read_loads, read_logs, read_measured, read_striping, read_targets, read_writers
from halcyon.models.published import collisions, named
from halcyon.models.stripes import MeasuredRequest


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("wright:6.2", 20), ("wright:6.3", 5), ("wright:6.5", 5), ("wright:F.1", 81), ("wright:F.2", 16),
        ("wright:G", 45), ("wright:G.6", 5), ("wright:G.9", 9), ("Wright:g.9", 9),
    ],
)  # fmt: skip
def test_a_name_has_the_rows_of_its_table(name: str, rows: int) -> None:
    assert len(read_rows(name).rows) == rows


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UsageError) as refused:
        read_rows("wright:6.9")
    assert "wright:6.9: no such published table; known: wright:6.2, wright:6.3, " in str(refused.value)
    for name in re.findall(r"wright:[\w./]*\w", str(refused.value))[1:]:
        assert read_rows(name).rows


def test_a_table_without_the_column_says_which_it_has() -> None:
    with pytest.raises(
        ConfigError, match=r"^wright:6\.3: no column 'writers'; found: jobs, request, in_use, striping_f"
    ):
        read_writers("wright:6.3")


def test_cells_are_those_of_the_tables() -> None:
    assert read_measured("wright:6.3")[1] == MeasuredRequest(64, 3910507000.0)
    first = read_striping("wright:F.1")[0]
    assert (first.stripes, first.stripe_bytes, first.bytes_per_s) == (2, 1 << 20, 313.02e6)
    two = read_writers("wright:F.2")[1]
    assert (two.bytes_per_s, two.low_bytes_per_s, two.high_bytes_per_s) == (90777000, 76506000, 105049000)
    last = read_logs("wright:G.9")[-1]
    assert (last.ranks, last.shared_bytes_per_s, last.logs_bytes_per_s) == (4096, 16917112000, 3069054000)


@pytest.mark.parametrize("experiment", range(1, 6))
def test_histograms_and_targets_in_use_of_a_table_agree(experiment: int) -> None:
    for name, ranks in named._RANKS.items():
        told = read_targets(f"wright:{name}/{experiment}")
        assert told.targets == collisions(ranks, experiment)
        point = read_loads(f"wright:{name}")[experiment - 1]
        assert (point.jobs, point.request, point.in_use) == (ranks, 2, 480 - told.targets[0])
