"""Numbers of runs, against values computed by hand, and against plain Python over invented tables."""

from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import ibis
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_runs import write_counts, write_manifest

from halcyon.offload.comparison import open_comparison
from halcyon.offload.metrics import metrics_of
from halcyon.offload.report.figures import Picture
from halcyon.offload.report.figures.iteration_time import iteration_time
from halcyon.offload.run_directory import FILE_COLUMNS, PHASE_COLUMNS, Run, open_run
from halcyon.offload.run_files import Manifest
from halcyon.offload.run_statistics import statistics_of, visible_seconds

TwoRanks = Callable[..., Path]


def test_phases_by_hand(hand_run: Path) -> None:
    numbers = statistics_of(open_run(hand_run))
    assert [phase.slowest_s for phase in numbers.phases] == pytest.approx([0.3, 0.2, 0.4])
    assert [phase.mean_s for phase in numbers.phases] == pytest.approx([0.2, 0.2, 0.25])
    assert [phase.throughput for phase in numbers.phases] == pytest.approx([40e6, 60e6, 30e6])
    assert numbers.visible_s is not None
    assert numbers.rank_spread_s is not None
    spread = numbers.visible_s
    assert (spread.low, spread.median, spread.mean, spread.high) == pytest.approx((0.2, 0.3, 0.3, 0.4))
    assert spread.width == pytest.approx(0.2)
    assert (numbers.rank_spread_s.median, numbers.rank_spread_s.high) == pytest.approx((0.2, 0.3))
    assert numbers.visible_total_s == pytest.approx(0.9)
    assert numbers.blocked_s == pytest.approx(0.05)


def test_times_bytes_and_throughput_by_hand(hand_run: Path) -> None:
    numbers = statistics_of(open_run(hand_run))
    assert numbers.run_s == 5.0
    assert numbers.compute_s == pytest.approx(1.0 + 1.1 + 1.0)
    assert (numbers.bytes, numbers.raw_bytes, numbers.stored_bytes) == (36_000_000, 36_000_000, 27_000_000)
    assert numbers.simulation_throughput == pytest.approx(36e6 / 0.9)
    assert numbers.server_throughput == pytest.approx(36e6 / (0.5 + 0.5 + 0.8))
    assert numbers.store_over_compute == pytest.approx((0.5 + 0.5 + 0.7) / 3.1)


def test_times_said_by_the_application_go_before_those_of_run_json(hand_run: Path) -> None:
    (hand_run / "app.json").write_text('{"run_s": 5.5, "compute_s": 4.5}')
    numbers = statistics_of(open_run(hand_run))
    assert (numbers.run_s, numbers.compute_s) == (5.5, 4.5)
    (hand_run / "app.json").write_text('{"run_s": "long"}')
    assert statistics_of(open_run(hand_run)).run_s == 5.0


def test_server_time_by_hand_adds_up_to_the_run(hand_run: Path) -> None:
    work = statistics_of(open_run(hand_run)).work
    assert [item.compress_s for item in work] == pytest.approx([0.1, 0.1, 0.2])
    assert [item.write_s for item in work] == pytest.approx([0.4, 0.4, 0.5])
    assert [item.slot_wait_s for item in work] == pytest.approx([0.0, 0.1, 0.0])
    assert [item.other_s for item in work] == pytest.approx([0.0, 0.0, 0.1], abs=1e-9)
    assert [item.idle_s for item in work] == pytest.approx([1.4, 0.8, 0.9])


def test_the_share_of_output_is_one_number_wherever_it_is_said(hand_run: Path) -> None:
    comparison = open_comparison([hand_run])
    assert comparison.entries[0].numbers.output_share == pytest.approx(0.7 / 5.0)  # rank 0 spends most in output
    picture = iteration_time(comparison)
    assert isinstance(picture, Picture)
    assert picture.title == "Output takes 14 % of the run time"
    (row,) = [metric for metric in metrics_of(comparison) if metric.name == "visible time, all"]
    assert row.values == ["900 ms (14 %)"]


def test_opening_and_closing_are_apart_from_computing(hand_run: Path) -> None:
    assert statistics_of(open_run(hand_run)).open_close_s is None
    write_manifest(hand_run, run_s=5.0, compute_s=3.0, open_s=0.25, close_s=0.5)
    assert statistics_of(open_run(hand_run)).open_close_s == 0.75
    (hand_run / "app.json").write_text('{"open_s": 0.5, "close_s": 0.75}')
    assert statistics_of(open_run(hand_run)).open_close_s == 1.25


def test_busy_share_is_what_servers_counted(hand_run: Path) -> None:
    write_counts(hand_run, busy_ns=1, idle_ns=3)
    assert statistics_of(open_run(hand_run)).server_busy == 0.25


def test_busy_share_comes_from_files_when_a_server_left_no_counts(hand_run: Path) -> None:
    (hand_run / "counts-n0000.json").unlink()
    assert statistics_of(open_run(hand_run)).server_busy == pytest.approx(1.8 / 5.0)


def test_parts_of_an_iteration_count_as_one_file(hand_run: Path) -> None:
    file = hand_run / "server-n0000.csv"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines) + lines[3].replace("2,2,0,", "2,2,1,", 1))
    work = statistics_of(open_run(hand_run)).work
    assert [(item.first_iteration, item.write_s) for item in work] == [
        (0, pytest.approx(0.4)),
        (1, pytest.approx(0.4)),
        (2, pytest.approx(1.0)),
    ]


def test_run_without_phases_has_no_numbers_and_no_failure(tmp_path: Path) -> None:
    write_manifest(tmp_path, approach="none", ended_ns=None, started_ns=None)
    numbers = statistics_of(open_run(tmp_path))
    assert (numbers.phases, numbers.run_s, numbers.visible_s, numbers.simulation_throughput) == ([], None, None, None)
    assert (numbers.server_busy, numbers.store_over_compute, numbers.stored_bytes) == (None, None, None)


def test_phases_of_zero_seconds_have_no_throughput(phases_of_two_ranks: TwoRanks) -> None:
    numbers = statistics_of(open_run(phases_of_two_ranks("zero", [(0, 0), (0, 0)])))
    assert [phase.throughput for phase in numbers.phases] == [None, None]
    assert numbers.simulation_throughput is None
    assert numbers.visible_total_s == 0


def test_inline_clients_are_not_servers(hand_run: Path) -> None:
    (hand_run / "counts-n0000.json").unlink()
    (hand_run / "server-n0000.csv").rename(hand_run / "server-c00000.csv")
    write_manifest(hand_run, approach="halcyon-inline", writers=["c00000"])
    numbers = statistics_of(open_run(hand_run))
    assert (numbers.work, numbers.server_busy, numbers.store_over_compute) == ([], None, None)
    assert numbers.stored_bytes == 27_000_000


def table(columns: tuple[str, ...], rows: list[dict[str, int]]) -> Any:
    schema = pa.schema([("writer", pa.string()), *((name, pa.int64()) for name in columns)])
    return ibis.memtable(pa.Table.from_pylist([{"writer": "n0000", **row} for row in rows], schema))


def run_of(phases: list[dict[str, int]], files: list[dict[str, int]]) -> Run:
    manifest = Manifest(format=1, approach="halcyon", ranks=4, started_ns=1)
    return Run(Path("invented"), manifest, table(PHASE_COLUMNS, phases), table(FILE_COLUMNS, files), {}, {}, ())


TIMES = st.integers(0, 10**12)
PHASE_ROWS = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 3)), st.tuples(TIMES, TIMES, st.integers(0, 10**10)), max_size=20
)


@settings(max_examples=25, deadline=None)
@given(PHASE_ROWS)
def test_phase_statistics_are_those_of_plain_python(drawn: dict[tuple[int, int], tuple[int, int, int]]) -> None:
    rows = [
        {
            "iteration": iteration,
            "rank": rank,
            "begin_ns": 1,
            "visible_ns": visible,
            "blocked_ns": 0,
            "compute_ns": compute,
            "bytes": size,
        }
        for (iteration, rank), (visible, compute, size) in drawn.items()
    ]
    run = run_of(rows, [])
    numbers = statistics_of(run)
    by_phase: dict[int, list[dict[str, int]]] = {}
    for row in rows:
        by_phase.setdefault(row["iteration"], []).append(row)
    durations = [max(row["visible_ns"] for row in by_phase[iteration]) * 1e-9 for iteration in sorted(by_phase)]
    assert [phase.iteration for phase in numbers.phases] == sorted(by_phase)
    assert [phase.slowest_s for phase in numbers.phases] == pytest.approx(durations)
    assert numbers.bytes == sum(row["bytes"] for row in rows)
    assert visible_seconds(run).tolist() == pytest.approx(sorted(row["visible_ns"] * 1e-9 for row in rows))
    if durations:
        assert numbers.visible_s is not None
        assert numbers.visible_s.median == pytest.approx(median(durations))
        assert numbers.visible_s.low <= numbers.visible_s.mean * (1 + 1e-9)
    for phase in numbers.phases:
        assert phase.fastest_s <= phase.mean_s * (1 + 1e-9)
        assert phase.mean_s <= phase.slowest_s * (1 + 1e-9)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), min_size=1, max_size=12))
def test_time_of_storing_is_the_union_of_intervals(intervals: list[tuple[int, int]]) -> None:
    second = 10**9
    rows = [
        dict.fromkeys(FILE_COLUMNS, 0)
        | {"first_iteration": i, "begin_ns": begin * second, "end_ns": (begin + length) * second, "raw_bytes": 100}
        for i, (begin, length) in enumerate(intervals)
    ]
    seconds_covered = len({tick for begin, length in intervals for tick in range(begin, begin + length)})
    throughput = statistics_of(run_of([], rows)).server_throughput
    if seconds_covered:
        assert throughput == pytest.approx(100 * len(intervals) / seconds_covered)
    else:
        assert throughput is None
