"""Workloads of machines, probabilities of I/O at once, and Δ-graphs, against cases computed by hand."""

from pathlib import Path

import pytest
from model_command import swf

from halcyon.errors import ConfigError, HalcyonSystemError, UsageError
from halcyon.models.interference import Phase, concurrency, delta_graph, deltas, files
from halcyon.models.workload import Workload, read_workload


def test_a_standard_workload_is_read(tmp_path: Path) -> None:
    """0 to 10 on 8 cores, 4 to 6 on 2, 18 to 20 on 2."""
    (tmp_path / "w.swf").write_text(swf((1, 0, 0, 10, 8), (2, 1, 3, 2, 2), (3, 18, 0, 2, 2), (4, 5, -1, -1, 4)))
    told = concurrency(read_workload(tmp_path / "w.swf"), [0.1])
    assert (told.jobs, told.left_out) == (3, {"start not known": 1})
    assert told.running == pytest.approx([0.4, 0.5, 0.1])
    assert told.mean_running == pytest.approx(0.7)
    assert told.median_running == 1
    assert [(one.cores, one.of_jobs, one.of_job_time) for one in told.sizes] == [
        (2, pytest.approx(2 / 3), pytest.approx(4 / 14)),
        (8, pytest.approx(1), pytest.approx(1)),
    ]
    assert told.probabilities[0].two_or_more == pytest.approx(0.1 * 0.01)
    assert told.probabilities[0].another == pytest.approx(0.5 * 0.1 + 0.1 * 0.19)


def test_what_sacct_prints_is_read_without_its_steps(tmp_path: Path) -> None:
    (tmp_path / "jobs.txt").write_text(
        "JobID|JobName|AllocCPUS|State|Start|End\n"
        "7|a|4|COMPLETED|2026-02-28T23:59:50|2026-03-01T00:00:10\n"
        "7.batch|batch|4|COMPLETED|2026-02-28T23:59:50|2026-03-01T00:00:10\n"
        "8|b|2|RUNNING|2026-03-01T00:00:00|Unknown\n"
        "9|c|2|CANCELLED|None|2026-03-01T00:00:00\n"
        "10_1|d|2|COMPLETED|2026-03-01T00:00:00|2026-03-01T00:00:10\n"
        "11|e|2|FAILED|2026-03-01T00:00:00|2026-03-01T00:00:00\n"
    )
    told = read_workload(tmp_path / "jobs.txt")
    assert [end - start for start, end in zip(told.starts_s, told.ends_s, strict=True)] == [20, 10]
    assert told.cores == [4, 2]
    assert told.left_out == {"end not known": 1, "start not known": 1, "took no time": 1}
    assert concurrency(told, []).running == pytest.approx([0, 0.5, 0.5])


def test_times_with_a_zone_are_as_long_as_they_were(tmp_path: Path) -> None:
    """As SLURM_TIME_FORMAT can have them: here over the end of summer time."""
    (tmp_path / "jobs.txt").write_text("JobID|Start|End\n1|2026-10-25T02:30:00+02:00|2026-10-25T02:10:00+01:00\n")
    told = read_workload(tmp_path / "jobs.txt")
    assert told.ends_s[0] - told.starts_s[0] == 40 * 60


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2 3\n", "1: 3 fields; expected 18"),
        ("", "no job that ran"),
        (swf((1, 0, 0, 0, 4)), "no job that ran (took no time: 1)"),
        (swf((1, 0, 0, 5, 4)).replace(" 5 ", " five "), "2: 'five' is no number"),
        ("JobID|Start\n", "1: no column End"),
        ("JobID|Start|End\n1|yesterday|2026-01-01T00:00:00\n", "2: 'yesterday' is no time"),
        ("JobID|Start|End\n1|2026-01-02T00:00:00|2026-01-01T00:00:00\n", "lies before Start"),
    ],
)
def test_files_without_a_workload_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "w").write_text(text)
    with pytest.raises(ConfigError) as refused:
        read_workload(tmp_path / "w")
    assert message in str(refused.value)


def test_a_workload_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(HalcyonSystemError, match="No such file"):
        read_workload(tmp_path / "w")


def test_jobs_of_unknown_size_are_in_no_distribution_of_sizes() -> None:
    told = concurrency(Workload([0, 0], [5, 5], [0, 3], {}), [])
    assert [one.cores for one in told.sizes] == [3]
    assert told.running == [0, 0, 1]


def test_a_delta_graph_under_proportional_sharing() -> None:
    """B, a fifteenth of A, waits for 15 of A's shares; interrupting A costs A no more than B's time."""
    large, small = Phase(15, weight=15, cores=15), Phase(1)
    told = delta_graph(large, small, [-1.0, 0.0, 14.0, 15.0])
    assert [point.b_factor for point in told.curves["interfere"]] == pytest.approx([1, 16, 2, 1])
    assert [point.b_factor for point in told.curves["fcfs"]] == pytest.approx([1, 16, 2, 1])
    assert [point.a_s for point in told.curves["interrupt"]] == pytest.approx([15, 16, 16, 15])
    assert [point.core_seconds for point in told.curves["fcfs"]] == pytest.approx([226, 241, 227, 226])
    assert told.b_interrupts_before_s == 0


def test_delays_of_a_graph_reach_beyond_both_phases() -> None:
    chosen = deltas(Phase(10), Phase(2), 9)
    assert (chosen[0], chosen[-1]) == (pytest.approx(-4), pytest.approx(12))
    assert 0.0 in chosen
    with pytest.raises(UsageError, match="points: 1"):
        deltas(Phase(10), Phase(2), 1)
    with pytest.raises(UsageError, match="no delays"):
        delta_graph(Phase(1), Phase(1), [])


def test_logs_are_two_files_per_rank() -> None:
    one = files([4096])[0]
    assert (one.shared, one.one_per_rank, one.logs) == (1, 4096, 8192)
