"""`halcyon report RUN` of recorded calls."""

import re
from pathlib import Path

import pytest
from observe.analysis import scenarios
from recorded_program import recorded

from halcyon.cli import main
from halcyon.errors import UnavailableError
from halcyon.observe.viewer import page
from halcyon.predict import scores


@pytest.fixture(autouse=True)
def _small_viewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "template", lambda: f"<html>{page.MARK}</html>")


def test_writes_a_page_and_says_where(small_dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "page.html"
    assert main(["report", str(small_dataset), "-o", str(output)]) == 0
    assert '"calls":4' in output.read_text("utf-8")
    assert f"{output} (" in capsys.readouterr().out


def test_the_page_tells_how_well_calls_are_forecast(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "page.html"
    run = scenarios.healthy(ranks=4, phases=2).store(tmp_path / "run")
    assert main(["report", str(run), "-o", str(output)]) == 0
    told = re.search(r'"predictability":\{"name":"rank 0","calls":(\d+),"beyond":0', output.read_text("utf-8"))
    assert told is not None
    assert int(told[1]) > 0
    capsys.readouterr()


def test_without_the_compiled_part_the_page_is_written_without_forecasts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise UnavailableError("this installation lacks the compiled module halcyon._core")

    monkeypatch.setattr(scores, "core", missing)
    output = tmp_path / "page.html"
    run = scenarios.healthy(ranks=4, phases=2).store(tmp_path / "run")
    assert main(["report", str(run), "-o", str(output)]) == 0
    assert '"predictability":null' in output.read_text("utf-8")
    assert "warning: the page tells nothing of forecasts: this installation lacks" in capsys.readouterr().err


def test_several_runs_make_a_page_that_compares_them(
    small_dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "page.html"
    assert main(["report", str(small_dataset), str(small_dataset), "-o", str(output)]) == 0
    assert '"experiment":{"parameters":[]' in output.read_text("utf-8")
    capsys.readouterr()


def test_a_folder_of_runs_makes_such_a_page_over_its_parameters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for mode in ("shared", "own"):
        scenarios.healthy(ranks=4, phases=2).store(tmp_path / "runs" / f"mode={mode}")
    (tmp_path / "runs" / "broken.darshan").write_bytes(b"no log")
    output = tmp_path / "page.html"
    assert main(["report", str(tmp_path / "runs"), "--columns", "mode", "-o", str(output)]) == 0
    text = output.read_text("utf-8")
    assert '"parameters":["mode"]' in text
    assert '"column":"mode"' in text
    assert "left out: broken.darshan" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["analyze", "report"])
@pytest.mark.parametrize("keep", [False, True])
def test_a_folder_of_recordings_is_written_into_only_when_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str, keep: bool
) -> None:
    folder = tmp_path / "runs"
    for name in ("first", "second"):
        recorded(["cat", "/etc/hostname"], folder / name)
    before = sorted(folder.rglob("*"))
    own = ["-o", str(tmp_path / "page.html")] if verb == "report" else []
    assert main([verb, str(folder), *own, *(["--keep"] if keep else [])]) == 0
    assert "could not be read" not in capsys.readouterr().out
    new = {path.relative_to(folder).parts[:2] for path in folder.rglob("*") if path not in before}
    assert new == ({("first", "data"), ("second", "data")} if keep else set())


def test_runs_of_two_kinds_are_refused(small_dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert main(["report", str(small_dataset), str(other), "-o", str(tmp_path / "page.html")]) == 2
    assert f"{other}: no recorded run" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()
