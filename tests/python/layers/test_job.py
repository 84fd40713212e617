"""Jobs that the environment names for `halcyon run --coordinate`."""

import subprocess
import sys
from pathlib import Path

import pytest

from halcyon.errors import UsageError
from halcyon.layers.coordination import Coordination
from halcyon.layers.job import Job


@pytest.fixture(autouse=True)
def agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALCYON_AGENT", "/bin/true")


def test_each_command_is_a_job_of_its_own() -> None:
    assert Job.given({}) is None
    one, other = Job.new(), Job.new()
    assert one.name != other.name
    assert one.secret != other.secret
    assert Job.given(one.variables()) == one


def test_a_job_that_is_given_is_taken_over() -> None:
    wanted = Coordination(("/scratch=unix:/a",), job=Job("weather", "0123456789abcdef")).variables()
    assert (wanted["HALCYON_JOB"], wanted["HALCYON_JOB_SECRET"]) == ("weather", "0123456789abcdef")


@pytest.mark.parametrize(
    ("name", "secret", "message"),
    [
        ("weather", "short", "HALCYON_JOB_SECRET: 5 characters; expected 16 to 64"),
        ("weather", "x" * 65, "HALCYON_JOB_SECRET: 65 characters; expected 16 to 64"),
        ("weather", "with a space in it", "HALCYON_JOB_SECRET: 18 characters; expected 16 to 64 letters"),
        ("weather", "", "HALCYON_JOB is set, and HALCYON_JOB_SECRET is not; set both"),
        ("", "0123456789abcdef", "HALCYON_JOB_SECRET is set, and HALCYON_JOB is not; set both"),
        ("the weather", "0123456789abcdef", "HALCYON_JOB: 'the weather'; expected 1 to 64 letters"),
        ("w" * 65, "0123456789abcdef", "expected 1 to 64 letters"),
    ],
)
def test_what_a_coordinator_would_refuse_is_refused_before(name: str, secret: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Job.given({"HALCYON_JOB": name, "HALCYON_JOB_SECRET": secret})


def test_a_run_with_a_short_secret_does_not_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HALCYON_JOB", "weather")
    monkeypatch.setenv("HALCYON_JOB_SECRET", "short")
    words = ["run", "--coordinate", "--coordinator", f"{tmp_path}=unix:/a", "--", "touch", str(tmp_path / "ran")]
    done = subprocess.run(
        [sys.executable, "-m", "halcyon", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "HALCYON_JOB_SECRET: 5 characters; expected 16 to 64" in done.stderr
    assert list(tmp_path.iterdir()) == []
