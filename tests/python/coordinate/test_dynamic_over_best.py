"""The bench figures that studies' data gives, and what is said where data is missing."""

from pathlib import Path

import pytest
from delta_studies import STUDIES
from dynamic_over_best import report
from invented_studies import both, proportional, write_studies
from over_best import METRICS, measured
from rule import Figures

from halcyon.delta.graph import Applications, graph_of
from halcyon.models.interference import Phase


@pytest.fixture(autouse=True)
def build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HALCYON_BUILD", str(tmp_path))


def figures_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, float], dict[str, str]]:
    """Those that are counted, and why others are not met."""
    report(folder)
    figures, counted = Figures(), {}
    for line in capsys.readouterr().out.splitlines():
        assert figures.feed(line), line
        if not line.startswith("unmet"):
            name, value, _ = line.split()
            counted[name.removeprefix("coordinate.")] = float(value)
    return counted, {name.removeprefix("coordinate."): why for name, why in figures.unmet.items()}


def test_without_data_every_study_is_named_that_has_to_be_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counted, unmet = figures_of(tmp_path, capsys)
    assert counted == {}
    assert set(unmet) == {f"dynamic_over_best_{by}_{of.figure}" for by in ("replay", "bed") for of in METRICS}
    for study, of in STUDIES.items():
        assert (f"`make study-delta-{study}` (" in unmet["dynamic_over_best_replay_factors"]) == of.one_phase
        on_bed = "dynamic" in of.policies
        assert any(f"`make study-delta-{study}` (" in unmet[f"dynamic_over_best_bed_{one.figure}"] for one in METRICS) \
            == on_bed  # fmt: skip


def test_one_study_that_is_missing_is_named_alone_and_the_others_are_quoted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_studies(tmp_path, without=["small"])
    counted, unmet = figures_of(tmp_path, capsys)
    why = unmet["dynamic_over_best_replay_factors"]
    assert why.count("make study-delta-") == 1
    assert "`make study-delta-small` (small: " in why
    assert "so far" in why
    assert not any(name.startswith("dynamic_over_best_replay") for name in counted)


def test_invented_data_of_proportional_sharing_meets_both_bars(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_studies(tmp_path)
    counted, unmet = figures_of(tmp_path, capsys)
    assert unmet == {}
    for of in METRICS:
        assert counted[f"dynamic_over_best_replay_{of.figure}"] <= 1.02
        assert counted[f"dynamic_over_best_replay_{of.figure}_mean_interfere"] > 1.05
    assert counted["dynamic_over_best_bed_factors"] <= 1.0 + 1e-9
    assert counted["dynamic_over_best_bed_factors_fcfs"] > 1.0
    assert counted["dynamic_over_best_bed_factors_upper_end"] <= 1.0 + 1e-9


def test_a_study_that_lacks_runs_of_a_point_is_no_measurement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_studies(tmp_path)
    lines = (tmp_path / "equal.jsonl").read_text().splitlines()
    kept = [line for line in lines if not ('"fcfs"' in line and '"dt_ns": 2000000000' in line)]
    assert len(kept) == len(lines) - 3
    (tmp_path / "equal.jsonl").write_text("\n".join(kept) + "\n")
    _, unmet = figures_of(tmp_path, capsys)
    assert list(unmet) == ["dynamic_over_best_bed_factors"]
    assert "fcfs, B starts +2.00 s: no run was made" in unmet["dynamic_over_best_bed_factors"]


def test_the_upper_end_on_the_bed_is_of_the_interval_of_the_ratio() -> None:
    fixed = proportional(Phase(8.0), Phase(4.0), [0.0], ["none", "fcfs", "set-10"], 4)
    scattered = [both("dynamic", 0, 12.0 + by, 4.0) for by in (-0.5, -0.1, 0.1, 0.5)]
    graph = graph_of([*fixed, *scattered], Applications(1, 1))
    (at_0,) = measured("invented", graph, METRICS[0])
    ratio = at_0.over_best()
    # Both at once: 12 / 8 + 8 / 4. Student's t of 3 degrees of freedom times the standard error, over 8 and that.
    assert ratio.mean == pytest.approx(2.5 / 3.5)
    assert ratio.high == pytest.approx((2.5 + 3.18245 * (0.52 / 3) ** 0.5 / 2 / 8) / 3.5, rel=1e-4)


def test_the_best_fixed_policy_is_the_least_mean_and_dynamic_is_none() -> None:
    runs = proportional(Phase(8.0), Phase(2.0), [1.0], ["none", "fcfs", "interrupt", "dynamic"])
    graph = graph_of(runs, Applications(1, 1))
    (at_1s,) = measured("invented", graph, METRICS[0])
    assert at_1s.best == at_1s.values["interrupt"]
    assert at_1s.over_best("fcfs").mean > at_1s.over_best("interfere").mean > 1
