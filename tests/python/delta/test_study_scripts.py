"""Scripts of studies, beside their measuring: what they tell of data. All of it is invented."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import studies_page
from delta_studies import STUDIES
from invented_studies import write_studies
from measured_runs import told

from halcyon.delta.commands import Command
from halcyon.delta.data_file import DataFile, read
from halcyon.delta.io_time import Phase
from halcyon.delta.runs import Key, Run, Setup

FOLDER = Path(__file__).resolve().parents[3] / "bench/study"


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


def test_the_page_tells_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies_page, "DATA", tmp_path)
    command = Command("A", ("true",))
    with DataFile(tmp_path / "cache.jsonl", Setup(command, command, "/"), {}) as file:
        for key in (Key(alone="A"), Key(alone="B"), Key()):
            for _ in range(7):
                run = cache_run(key, 32 << 20)
                if key == Key() and run.a is not None:  # three of 21 lose the cache
                    lost = [replace(one, seconds=0.9) for one in run.a.phases[:3]]
                    run = replace(run, a=replace(run.a, phases=[*lost, *run.a.phases[3:]]))
                file.add(run)
    (section,) = studies_page._of_cache()
    assert section.startswith("\n## cache\n\nTwo periodic writers")
    assert "and 0.0% of them lose the cache; beside B, 14.3% do, at 0.33 of that rate" in section


def test_many_names_why_it_has_no_delays_yet() -> None:
    many = script("delta-many")
    wanted = many.Wanted(many.Delays(), (), 3, 3)
    with pytest.raises(many.UsageError, match="no run of A alone counts"):
        many.first_alone_s(many.Key(alone="A"), [], wanted)
