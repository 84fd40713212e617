"""`halcyon report RUN` of recorded calls."""

from pathlib import Path

import pytest

from halcyon.cli import main
from halcyon.observe.viewer import page


@pytest.fixture(autouse=True)
def _small_viewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "template", lambda: f"<html>{page.MARK}</html>")


def test_writes_a_page_and_says_where(small_dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "page.html"
    assert main(["report", str(small_dataset), "-o", str(output)]) == 0
    assert '"calls":4' in output.read_text("utf-8")
    assert f"{output} (" in capsys.readouterr().out


def test_wants_one_run(small_dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(small_dataset), str(small_dataset), "-o", str(tmp_path / "page.html")]) == 2
    assert "is of one run" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()
