"""Scripts of studies, beside their measuring: what they tell of data. All of it is invented."""

import importlib.util
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType

import pytest
import several
import studies_page
from cache_lost import PLAN
from cache_writers import cache_setup
from delta_studies import STUDIES, stem
from invented_studies import write_studies
from many_studies import CASES, MINUTES
from measured_runs import told

from halcyon.delta.data_file import DataFile, read
from halcyon.delta.io_time import Phase
from halcyon.delta.runs import Key, Run, Setup
from halcyon.testbed.plan import Plan

FOLDER = Path(__file__).resolve().parents[3] / "bench/study"


def write_of(folder: Path, *studies: str) -> None:
    """Of these alone: each run is synced."""
    write_studies(folder, without=[name for name in STUDIES if name not in studies])


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_figures_of_every_study_hold_its_own_question(tmp_path: Path) -> None:
    write_studies(tmp_path)
    figures = script("delta").figures
    for study, asked in (("files-file", "saw_violated"), ("factors", "saw_undecided"),
                         ("underload", "delay_over_fcfs_factors_at_0")):  # fmt: skip
        of = STUDIES[study.split("-")[0]]
        name = study.partition("-")[2]
        graph = of.graph(*of.applications(of.pairs[name]), read(tmp_path / f"{study}.jsonl").runs)
        found = [name for name, _, _ in figures(graph, of)]
        assert asked in found
        assert len(set(found)) == len(found)


def cache_run(key: Key, phase_bytes: int) -> Run:
    one = replace(told(8.4), phases=[Phase(4_000_000_000 * i, 0.3, phase_bytes) for i in range(21)])
    return Run(key, one if key.alone != "B" else None, one if key.alone != "A" else None, None, None, None, 1.0, 84.0)


@pytest.mark.parametrize(
    ("repeat", "why"),
    [(0, "0 of 7 runs count"), (6, "6 of 7 runs count"), (7, "no phase of A has 33554432 bytes")],
)
def test_too_little_of_the_cache_is_told_and_no_error(
    repeat: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [cache_run(key, 1) for key in (Key(alone="A"), Key(alone="B"), Key()) for _ in range(repeat)]
    script("delta-cache").report(runs)
    minutes, unmet = capsys.readouterr().out.splitlines()
    assert minutes == f"coordinate.delta_cache_measured_minutes {repeat * 3 * 84 / 60:.6g} min"
    assert unmet.startswith(f"unmet coordinate.delta_cache_lost {why}")


def test_a_short_trial_of_the_cache_is_no_measurement(capsys: pytest.CaptureFixture[str]) -> None:
    runs = [cache_run(key, 32 << 20) for key in (Key(alone="A"), Key(alone="B"), Key()) for _ in range(7)]
    cache = script("delta-cache")
    cache.report(runs, 5)
    assert capsys.readouterr().out.endswith("unmet coordinate.delta_cache_lost a trial of 5 phases\n")
    cache.report(runs)
    assert "coordinate.delta_cache_lost 0 share" in capsys.readouterr().out


def write_cache(folder: Path, setup: Setup, plan: Plan = PLAN) -> None:
    with DataFile(folder / "cache.jsonl", setup, asdict(plan)) as file:
        for key in (Key(alone="A"), Key(alone="B"), Key()):
            for _ in range(7):
                run = cache_run(key, 32 << 20)
                if key == Key() and run.a is not None:  # three of 21 lose the cache
                    lost = [replace(one, seconds=0.9) for one in run.a.phases[:3]]
                    run = replace(run, a=replace(run.a, phases=[*lost, *run.a.phases[3:]]))
                file.add(run)


def test_the_page_tells_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies_page, "DATA", tmp_path)
    write_cache(tmp_path, cache_setup())
    (section,) = studies_page._of_cache()
    assert section.startswith("\n## cache\n\nTwo periodic writers")
    assert "and 0.0% of them lose the cache; beside B, 14.3% do, at 0.33 of that rate" in section
    assert "Not met" not in section


OTHER = "*Not met: its file is of another measurement than the table of studies: "


@pytest.mark.parametrize(
    ("setup", "plan", "differ"),
    [
        (cache_setup(5), PLAN, "a, b"),
        (cache_setup(), replace(PLAN, compute=3), "bed.compute"),
        (replace(cache_setup(), pause_s=1.0), PLAN, "pause_s"),
    ],
)
def test_the_page_says_where_data_of_the_cache_is_of_another_measurement(
    setup: Setup, plan: Plan, differ: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies_page, "DATA", tmp_path)
    write_cache(tmp_path, setup, plan)
    (section,) = studies_page._of_cache()
    assert f"{OTHER}{differ}.*" in section


def several_run(key: several.Key) -> several.Run:
    times = {name: told(6.0) for name in "ABC" if key.alone in (None, name)}
    return several.Run(key, times, 0.95, None, 1.0, 2.0)


@pytest.mark.parametrize(
    ("smaller", "mounts", "differ"), [(1.0, 12, None), (2.0, 12, "commands"), (1.0, 24, "bed.mounts")]
)
def test_the_page_says_where_data_of_many_is_of_another_measurement(
    smaller: float, mounts: int, differ: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies_page, "DATA", tmp_path)
    case = CASES["three"]
    plan = replace(case.plan, mounts=mounts)
    keys = [*(several.Key(alone=name) for name in "ABC"), *case.keys(6.0)]
    with several.SeveralFile(tmp_path / "many-three.jsonl", case.setup(smaller), asdict(plan)) as file:
        for key in keys * 3:
            file.add(several_run(key))
    (section, _) = studies_page._of_cases()
    assert "| starts, s |" in section
    assert f"{OTHER}{differ}.*" in section if differ else "Not met" not in section


def test_the_page_names_studies_without_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(studies_page, "DATA", tmp_path)
    write_of(tmp_path, "equal")
    studies_page.main()
    page = capsys.readouterr().out
    without = {stem(study, pair): study for study, of in STUDIES.items() for pair in of.pairs if study != "equal"}
    without |= {"many-three": "many", "many-eight": "many", "cache": "cache"}
    by_name = {one.split("\n")[0]: one for one in page.split("\n## ")[1:]}
    assert set(by_name) == {"equal", *without}
    for name, section in by_name.items():
        not_measured = f"*Not measured: `make study-delta-{without.get(name)}`.*"
        assert (not_measured in section) == (name in without)
        assert ("| B starts at |" in section) == (name not in without)


def sections(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Of the page, of pairs of applications, by the names of their files."""
    monkeypatch.setattr(studies_page, "DATA", folder)
    return {one.split("\n")[1].removeprefix("## "): one for one in studies_page._of_pairs()}


def change(file: Path, policy: str, dt_ns: int, b_s: Sequence[float]) -> None:
    """B's times in the runs of a point."""
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    of_point = [row for row in rows[1:] if row["key"] == {"policy": policy, "dt_ns": dt_ns, "alone": None}]
    for row, seconds in zip(of_point, b_s, strict=True):
        row["b"]["seconds"] = seconds
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def as_claimed(what: str, until: str, before: str, after: str, violated: str = "none", undecided: str = "none") -> str:
    return (
        f"By {what}, interruption wins where it should, before {until} T_A, at {before} delays, and waiting after it "
        f"at {after}; violated at {violated}; undecided at {undecided}."
    )


def test_the_page_says_whether_the_claims_of_the_thesis_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_of(tmp_path, "equal", "files", "factors", "underload")
    # Far from the other sum, but not met.
    change(tmp_path / "files-request.jsonl", "interrupt", 1_600_000_000, [18.0, 20.0, 22.0])
    change(tmp_path / "files-request.jsonl", "interrupt", 3_200_000_000, [20.0] * 3)
    change(tmp_path / "files-request.jsonl", "interrupt", 4_800_000_000, [1.0, 2.0, 3.0])
    change(tmp_path / "underload.jsonl", "delay", 0, [12.0] * 3)
    found = sections(tmp_path, monkeypatch)
    assert as_claimed("core seconds", "3/4", "5 of 5", "3 of 3") in found["files-file"]
    undecided = "+0.20 T_A, +0.60 T_A"
    assert as_claimed("core seconds", "3/4", "2 of 5", "3 of 3", "+0.40 T_A", undecided) in found["files-request"]
    assert as_claimed("factors", "15/16", "7 of 7", "1 of 1") in found["factors"]
    # (8 s + 12 s) over (8 s + 16 s), and over twice 1.4 times 8 s.
    for other, ratio in (("fcfs", "0.83 ± 0.00"), ("none", "0.89 ± 0.00")):
        sums = f"{ratio} by factors (below 1), {ratio} by core seconds (below 1)"
        assert f"`delay` over `{other}` at 0: {sums}." in found["underload"]
    assert "wins" not in found["equal"]


def test_the_page_names_the_builds_and_the_days_of_each_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_of(tmp_path, "equal", "small", "factors")
    # The last line, of a run that began a day later, is of another build.
    for name, builds in (("equal", ("0123456789ab",) * 2), ("small", ("ba9876543210", "0123456789ab"))):
        file = tmp_path / f"{name}.jsonl"
        *lines, last = file.read_text().replace('"at_s": 1.0', '"at_s": 1795710560.2').splitlines()
        text = "\n".join(lines).replace('"programs": ""', f'"programs": "{builds[0]}"')
        last = last.replace('"programs": ""', f'"programs": "{builds[1]}"')
        file.write_text(f"{text}\n{last.replace('1795710560.2', '1795796960.2')}\n")
    found = sections(tmp_path, monkeypatch)
    days = "Measured from 2026-11-26 to 2026-11-27 (UTC) by"
    assert f"{days} build 0123456789ab.\n" in found["equal"]
    assert f"{days} build ba9876543210, build 0123456789ab.\n" in found["small"]
    assert "Measured on 1970-01-01 (UTC) by a build that nobody noted.\n" in found["factors"]


def test_the_page_tells_no_verdict_of_data_whose_premises_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_of(tmp_path, "factors")
    file = tmp_path / "factors.jsonl"
    file.write_text(file.read_text().replace('"link_share": 0.95', '"link_share": 0.5'))
    section = sections(tmp_path, monkeypatch)["factors"]
    assert "*Not met: storage links carry 0.5 of their rate" in section
    assert "Whether the claims of the thesis hold is not told" in section
    assert "interruption wins" not in section


def test_a_ratio_whose_interval_reaches_1_is_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_of(tmp_path, "underload")
    as_fcfs = sections(tmp_path, monkeypatch)["underload"]
    assert "`delay` over `fcfs` at 0: 1.00 ± 0.00 by factors (undecided)" in as_fcfs
    change(tmp_path / "underload.jsonl", "delay", 0, [17.0] * 3)
    worse = sections(tmp_path, monkeypatch)["underload"]
    assert "`delay` over `fcfs` at 0: 1.04 ± 0.00 by factors (above 1)" in worse


def test_many_says_its_limit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["delta-many.py", "--help"])
    with pytest.raises(SystemExit):
        script("delta-many").main()
    assert re.findall(r"(\d+) minutes", capsys.readouterr().out) == [str(MINUTES)]


def test_many_names_why_it_has_no_delays_yet() -> None:
    many = script("delta-many")
    wanted = many.Wanted(many.Delays(), (), 3, 3)
    with pytest.raises(many.UsageError, match="no run of A alone counts"):
        many.first_alone_s(many.Key(alone="A"), [], wanted)
