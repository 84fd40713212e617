"""The bench figure of the small application, from data of a study; all data here is invented."""

from dataclasses import asdict
from pathlib import Path

import pytest
from delta_studies import SMALL_BYTES, STUDIES
from invented_studies import alone, both
from small_factor import report

from halcyon.delta.data_file import DataFile
from halcyon.delta.runs import Run, Setup
from halcyon.testbed.place import MOUNTS

S = 10**9
A_S, B_S = 9.2, 1.4


def runs_with(uncoordinated: float, policies: tuple[str, ...] = ("none", "fcfs", "interrupt", "dynamic")) -> list[Run]:
    b_s = {"none": uncoordinated * B_S, "fcfs": 10.0, "interrupt": 1.05 * B_S, "dynamic": 1.1 * B_S}
    times = [one for _ in range(3) for one in (alone("A", A_S), alone("B", B_S, SMALL_BYTES))]
    return [*times, *(both(name, round(0.46 * S), A_S + 1.4, b_s[name]) for name in policies for _ in range(3))]


def figures(folder: Path, runs: list[Run], capsys: pytest.CaptureFixture[str]) -> list[str]:
    study = STUDIES["small"]
    a, b = study.applications(study.pairs[""])
    setup = Setup(a.command, b.command, str(MOUNTS), a.arrive, b.arrive)
    with DataFile(folder / "small.jsonl", setup, asdict(study.plan)) as file:
        for run in runs:
            file.add(run)
    report(folder / "small.jsonl")
    return capsys.readouterr().out.splitlines()


def test_the_factor_under_dynamic_stands_beside_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert figures(tmp_path, runs_with(7.0), capsys) == [
        "coordinate.small_factor 1.1 ratio",
        "coordinate.small_factor_uncoordinated 7 ratio",
        "coordinate.small_factor_fcfs 7.14286 ratio",
        "coordinate.small_factor_interrupt 1.05 ratio",
        "coordinate.small_factor_half_width 0 ratio",
    ]


def test_without_enough_to_calm_it_is_not_met(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = figures(tmp_path, runs_with(5.0), capsys)
    assert line == "unmet coordinate.small_factor uncoordinated, its factor is 5.00, below 6"


def test_a_policy_that_was_not_measured_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = figures(tmp_path, runs_with(7.0, ("none", "dynamic")), capsys)
    assert "no run of fcfs, interrupt counts" in line
    assert "`make study-delta-small`" in line


def test_without_data_the_study_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report(tmp_path / "small.jsonl")
    assert "data is missing: `make study-delta-small`" in capsys.readouterr().out
