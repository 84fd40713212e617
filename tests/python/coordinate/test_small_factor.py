"""The bench figure of the small application, from data of a study; all data here is invented."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest
from delta_studies import SMALL_BYTES, STUDIES
from invented_studies import alone, both
from premises import setup_of
from small_factor import report

from halcyon.delta.data_file import DataFile
from halcyon.delta.runs import Key, Run

S = 10**9
A_S, B_S = 9.2, 1.4
AT_NS = round(0.46 * S)


def runs_with(
    uncoordinated: float, policies: tuple[str, ...] = ("none", "fcfs", "interrupt", "dynamic"), at_half: float = 1.2
) -> list[Run]:
    """`at_half`: the factor under dynamic where B starts in the middle of A's time."""
    b_s = {"none": uncoordinated * B_S, "fcfs": 10.0, "interrupt": 1.05 * B_S, "dynamic": 1.1 * B_S}
    study = STUDIES["small"]
    delays_ns = [dt_ns for dt_ns in study.delays.ns(A_S, B_S) if 0 < dt_ns < A_S * S]
    times = [one for _ in range(3) for one in (alone("A", A_S), alone("B", B_S, SMALL_BYTES))]
    soon = [both(name, AT_NS, A_S + 1.4, b_s[name]) for name in policies for _ in range(3)]
    later = [both("dynamic", at, A_S + 1.4, (at_half if at == A_S * S / 2 else 1.1) * B_S) for at in delays_ns[1:]]
    assert delays_ns[0] == AT_NS
    return [*times, *soon, *[both("none", 0, A_S + 1.4, max(uncoordinated, 7.0) * B_S)] * 3, *later * 3]


def figures(folder: Path, runs: list[Run], capsys: pytest.CaptureFixture[str], smaller: float = 1.0) -> list[str]:
    study = STUDIES["small"]
    with DataFile(folder / "small.jsonl", setup_of(study, study.pairs[""], smaller), asdict(study.plan)) as file:
        for run in runs:
            file.add(run)
    report(folder / "small.jsonl")
    return capsys.readouterr().out.splitlines()


def test_the_factor_under_dynamic_stands_beside_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert figures(tmp_path, runs_with(7.0), capsys) == [
        "coordinate.small_factor 1.1 ratio",
        "coordinate.small_factor_not_counted 0 runs",
        "coordinate.small_factor_uncoordinated 7 ratio",
        "coordinate.small_factor_uncoordinated_not_counted 0 runs",
        "coordinate.small_factor_fcfs 7.14286 ratio",
        "coordinate.small_factor_fcfs_not_counted 0 runs",
        "coordinate.small_factor_interrupt 1.05 ratio",
        "coordinate.small_factor_interrupt_not_counted 0 runs",
        "coordinate.small_factor_half_width 0 ratio",
        "coordinate.small_factor_worst 1.2 ratio",
        "coordinate.small_factor_worst_of 4 delays",
    ]


def test_a_point_with_too_few_runs_or_too_wide_an_interval_of_its_factor_is_not_met(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = runs_with(7.0)
    runs.remove(both("fcfs", AT_NS, A_S + 1.4, 10.0))
    # Each time has an interval within 5 %; the factor, which has that of the time alone in it as well, has not.
    runs = [one for one in runs if one.key.alone != "B" and one.key != Key("dynamic", AT_NS)]
    spread = (-0.022, 0.0, 0.022)
    runs += [alone("B", B_S * (1 + 0.75 * by), SMALL_BYTES) for by in spread]
    runs += [both("dynamic", AT_NS, A_S + 1.4, 1.1 * B_S * (1 + 0.75 * by)) for by in spread]
    line, _ = figures(tmp_path, runs, capsys)
    assert "fcfs, B 0.46 s after A: 2 of 3 runs: `make study-delta-small` goes on" in line
    assert "dynamic, B 0.46 s after A: too wide an interval" in line


def test_runs_that_do_not_count_are_told_and_many_of_a_point_are_too_many(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = replace(both("dynamic", AT_NS, A_S + 1.4, B_S), problem="late")
    assert "coordinate.small_factor_not_counted 1 runs" in figures(tmp_path, [*runs_with(7.0), late], capsys)
    line, _ = figures(tmp_path, [late], capsys)
    assert line == ("unmet coordinate.small_factor dynamic, B 0.46 s after A: 2 of 5 runs do not count, above 25%")


def test_a_trial_with_less_data_never_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line, _ = figures(tmp_path, runs_with(7.0), capsys, smaller=2.0)
    assert "unmet coordinate.small_factor its file is of another measurement than the table of studies: a" in line


def test_a_large_application_that_is_no_longer_large_is_no_measurement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [one for one in runs_with(7.0) if one.key.alone != "A"] + [alone("A", 4.0)] * 3
    line, *_ = figures(tmp_path, runs, capsys)
    assert "the larger application is in I/O for 4.00 s, not 5 to 10" in line


def test_the_worst_factor_needs_all_its_delays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [one for one in runs_with(7.0) if one.key != Key("dynamic", round(A_S * S / 2))]
    said = figures(tmp_path, runs, capsys)
    assert "coordinate.small_factor 1.1 ratio" in said
    assert said[-1] == "unmet coordinate.small_factor_worst B starts +4.60 s: no run under dynamic counts"


def test_without_enough_to_calm_it_is_not_met(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line, _ = figures(tmp_path, runs_with(5.0), capsys)
    assert line == "unmet coordinate.small_factor uncoordinated, its factor is 5.00, below 6"


def test_a_policy_that_was_not_measured_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line, _ = figures(tmp_path, runs_with(7.0, ("none", "dynamic")), capsys)
    assert "no run of fcfs, interrupt counts" in line
    assert "`make study-delta-small`" in line


def test_without_data_the_study_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report(tmp_path / "small.jsonl")
    assert "data is missing: `make study-delta-small`" in capsys.readouterr().out
