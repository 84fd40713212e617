"""The bench figures that studies' data gives, and what is said where data is missing."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from coordinator_bounds import coordinator_bounds
from delta_studies import STUDIES
from dynamic_over_best import report, tell_greater
from invented_studies import both, proportional, write_studies
from over_best import METRICS, measured
from premises import setup_of
from rule import Figures

from halcyon.delta.data_file import DataFile
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


def take_out(file: Path, policy: str, at: str) -> None:
    """The three runs of a point."""
    lines = file.read_text().splitlines()
    kept = [line for line in lines if not (policy in line and at in line)]
    assert len(kept) == len(lines) - 3
    file.write_text("\n".join(kept) + "\n")


def test_without_data_every_study_is_named_that_has_to_be_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counted, unmet = figures_of(tmp_path, capsys)
    assert counted == {}
    per_metric = {f"dynamic_over_best_{by}" for of in METRICS for by in
                  (f"replay_{of.figure}", f"replay_{of.figure}_known", f"bed_{of.figure}")}  # fmt: skip
    headlines = {"dynamic_over_best", "dynamic_over_best_bed", "dynamic_over_best_bed_upper_end"}
    assert set(unmet) == per_metric | headlines
    assert unmet["dynamic_over_best_bed"] == \
        "not met: dynamic_over_best_bed_factors, dynamic_over_best_bed_core_s"  # fmt: skip
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
    at_most = 1 / (1 - coordinator_bounds().least_gain)
    for of in METRICS:
        assert counted[f"dynamic_over_best_replay_{of.figure}"] <= at_most
        assert counted[f"dynamic_over_best_replay_{of.figure}_known"] <= at_most
        assert counted[f"dynamic_over_best_replay_{of.figure}_mean_interfere"] > 1.05
    assert counted["dynamic_over_best_bed_factors"] <= 1.0 + 1e-9
    assert counted["dynamic_over_best_bed_factors_fcfs"] > 1.0
    assert counted["dynamic_over_best_bed_factors_upper_end"] <= 1.0 + 1e-9
    assert counted["dynamic_over_best_bed_factors_not_counted"] == 0


def test_figures_of_the_bed_say_of_how_many_builds_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_studies(tmp_path)
    for study in ("equal", "small"):
        file = tmp_path / f"{study}.jsonl"
        file.write_text(file.read_text().replace('"programs": ""', f'"programs": "build of {study}"'))
    report(tmp_path)
    said = capsys.readouterr()
    # Those, and the one that nobody noted, of all other studies; `files` alone minimise core seconds.
    assert "coordinate.dynamic_over_best_bed_factors_builds 3 builds\n" in said.out
    assert "coordinate.dynamic_over_best_bed_core_s_builds 1 builds\n" in said.out
    assert "dynamic_over_best_bed_factors: runs of build build of equal: equal\n" in said.err
    assert "dynamic_over_best_bed_core_s: runs of build that nobody noted: files-request, files-file\n" in said.err


def test_headlines_are_the_greater_one_of_both_sums(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for of_metrics in ([1.01, 1.02], [1.02, 1.01]):
        tell_greater("dynamic_over_best", of_metrics, "replay")
        assert capsys.readouterr().out == "coordinate.dynamic_over_best 1.02 ratio\n"
    tell_greater("dynamic_over_best", [1.01, None], "replay")
    assert capsys.readouterr().out == \
        "unmet coordinate.dynamic_over_best not met: dynamic_over_best_replay_core_s\n"  # fmt: skip
    write_studies(tmp_path)
    counted, _ = figures_of(tmp_path, capsys)
    for headline, of_metric in (
        ("dynamic_over_best", "dynamic_over_best_replay_{}"), ("dynamic_over_best_bed", "dynamic_over_best_bed_{}"),
        ("dynamic_over_best_bed_upper_end", "dynamic_over_best_bed_{}_upper_end"),
    ):  # fmt: skip
        both_sums = [counted[of_metric.format(of.figure)] for of in METRICS]
        assert counted[headline] == max(both_sums)


def test_delays_with_set_10_and_those_at_which_the_two_meet_have_a_mean_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_studies(tmp_path)
    counted, _ = figures_of(tmp_path, capsys)
    # Of the invented `files`, B ends in 2 s of A's 8: at -0.4 and at 1.2 of A's time they do not meet. Two pairs of 10.
    assert counted["dynamic_over_best_bed_core_s_together_delays"] == 16
    assert counted["dynamic_over_best_bed_core_s_at_set10_delays"] == 4
    assert counted["dynamic_over_best_bed_core_s_together"] >= counted["dynamic_over_best_bed_core_s"]


def test_a_delay_that_lacks_a_policy_of_others_is_no_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_studies(tmp_path)
    take_out(tmp_path / "equal.jsonl", '"set-10"', '"dt_ns": 4000000000')
    _, unmet = figures_of(tmp_path, capsys)
    assert "B starts +4.00 s: no run under set-10" in unmet["dynamic_over_best_bed_factors"]
    assert "dynamic_over_best_replay_factors" not in unmet


def test_data_of_a_trial_with_less_is_no_data_of_the_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_studies(tmp_path)
    equal = tmp_path / "equal.jsonl"
    text = equal.read_text()
    less = setup_of(STUDIES["equal"], STUDIES["equal"].pairs[""], 5.0).a.words[-1]
    full = setup_of(STUDIES["equal"], STUDIES["equal"].pairs[""]).a.words[-1]
    as_written, as_less = (json.dumps(one, ensure_ascii=False) for one in (full, less))
    assert as_written in text
    equal.write_text(text.replace(as_written, as_less))
    _, unmet = figures_of(tmp_path, capsys)
    for figure in ("replay_factors", "bed_factors"):
        why = unmet[f"dynamic_over_best_{figure}"]
        assert "equal: its file is of another measurement than the table of studies: a)" in why


def test_data_of_another_bed_is_no_data_of_the_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_studies(tmp_path)
    equal = tmp_path / "equal.jsonl"
    equal.write_text(equal.read_text().replace('"storage": 2', '"storage": 3'))
    _, unmet = figures_of(tmp_path, capsys)
    assert "equal: its file is of another measurement than the table of studies: bed.storage" in \
        unmet["dynamic_over_best_replay_factors"]  # fmt: skip


def test_a_study_whose_storage_was_not_the_limit_says_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_studies(tmp_path)
    equal = tmp_path / "equal.jsonl"
    equal.write_text(equal.read_text().replace('"link_share": 0.95', '"link_share": 0.5'))
    _, unmet = figures_of(tmp_path, capsys)
    for figure in ("replay_factors", "bed_factors"):
        why = unmet[f"dynamic_over_best_{figure}"]
        assert "equal: storage links carry 0.5 of their rate while both are in I/O, not 0.9" in why


def test_a_point_of_which_more_than_a_quarter_of_the_runs_do_not_count_is_not_met(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_studies(tmp_path)
    study = STUDIES["equal"]
    late = replace(both("fcfs", 2 * 10**9, 8.0, 14.0), problem="late")
    with DataFile(tmp_path / "equal.jsonl", setup_of(study, study.pairs[""]), asdict(study.plan)) as file:
        file.add(late)
    counted, unmet = figures_of(tmp_path, capsys)
    assert unmet == {}, "1 of 4"
    assert counted["dynamic_over_best_bed_factors_not_counted"] == 1
    with DataFile(tmp_path / "equal.jsonl", setup_of(study, study.pairs[""]), asdict(study.plan)) as file:
        file.add(late)
    _, unmet = figures_of(tmp_path, capsys)
    why = "fcfs, B 2.00 s after A: 2 of 5 runs do not count, above 25%"
    assert why in unmet["dynamic_over_best_bed_factors"]


def test_a_study_that_lacks_runs_of_a_point_is_no_measurement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_studies(tmp_path)
    take_out(tmp_path / "equal.jsonl", '"fcfs"', '"dt_ns": 2000000000')
    _, unmet = figures_of(tmp_path, capsys)
    headlines = ["dynamic_over_best_bed", "dynamic_over_best_bed_upper_end"]
    assert list(unmet) == ["dynamic_over_best_bed_factors", *headlines]
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


@pytest.mark.parametrize(
    ("policy", "times_s", "not_known"),
    [
        ("fcfs", ((8.0, 6.0), (8.0, 14.0)), ()),  # far from the best
        ("interrupt", ((10.0, 1.0), (10.0, 3.0)), ("interrupt",)),
        ("dynamic", ((10.0, 1.0), (10.0, 3.0)), ("dynamic",)),
        ("dynamic", ((14.0, 1.0), (6.0, 3.0)), ()),  # each time varies, their metric does not
    ],
)
def test_a_wide_interval_matters_only_where_it_is_of_the_metric_and_may_be_that_of_the_best(
    policy: str, times_s: tuple[tuple[float, float], ...], not_known: tuple[str, ...]
) -> None:
    runs = proportional(Phase(8.0), Phase(2.0), [0.0], ["none", "fcfs", "interrupt", "dynamic"])
    graph = graph_of([*runs, *(both(policy, 0, *each) for each in times_s)], Applications(1, 1))
    assert [point.policy for point in graph.wide] == [policy]
    (at_0,) = measured("invented", graph, METRICS[0])
    assert at_0.not_known == not_known


def test_a_pair_whose_best_is_not_known_is_not_met(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_studies(tmp_path)
    study = STUDIES["equal"]
    with DataFile(tmp_path / "equal.jsonl", setup_of(study, study.pairs[""]), asdict(study.plan)) as file:
        for by in (-4.0, 4.0):
            file.add(both("dynamic", 2 * 10**9, 8.0, 14.0 + by))
    _, unmet = figures_of(tmp_path, capsys)
    assert "equal at +2.00 s: too wide intervals of dynamic" in unmet["dynamic_over_best_bed_factors"]


def test_the_best_fixed_policy_is_the_least_mean_and_dynamic_is_none() -> None:
    runs = proportional(Phase(8.0), Phase(2.0), [1.0], ["none", "fcfs", "interrupt", "dynamic"])
    graph = graph_of(runs, Applications(1, 1))
    (at_1s,) = measured("invented", graph, METRICS[0])
    assert at_1s.best == at_1s.values["interrupt"]
    assert at_1s.over_best("fcfs").mean > at_1s.over_best("interfere").mean > 1
