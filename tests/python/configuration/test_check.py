"""`halcyon check`, and `halcyon-check` for installations without Python: the same words, the same exit codes."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("halcyon._core", reason="the compiled modules are not built")

ROOT = Path(__file__).resolve().parents[3]
CONFIGURATION = """\
halcyon: 1
simulation: tiny
parameters: {nx: 6}
data:
  layouts:
    line: {type: float64, dimensions: [nx - rank]}
  variables:
    theta: {layout: line}
stores:
  main: {path: out}
"""


def check(path: Path, *ranks: str) -> "subprocess.CompletedProcess[str]":
    """Both, which have to agree; returns what they say."""
    program = ROOT / "build/release/bin/halcyon-check"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    options = ["--ranks", *ranks] if ranks else []
    verb, alone = (
        subprocess.run(command, capture_output=True, text=True, timeout=60)
        for command in ([sys.executable, "-m", "halcyon", "check", *options, path], [program, path, *ranks])
    )
    assert (verb.returncode, verb.stdout, verb.stderr) == (alone.returncode, alone.stdout, alone.stderr)
    return verb


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    path = tmp_path / "halcyon.yaml"
    path.write_text(CONFIGURATION)
    return path


def test_a_right_configuration_is_summed_up(configuration: Path) -> None:
    done = check(configuration)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "tiny: 1 parameter, 1 layout, 1 variable, 0 events, 1 store\n"


def test_with_ranks_the_bytes_of_an_iteration_are_said(configuration: Path) -> None:
    assert check(configuration, "4").stdout.endswith("1 store; 144 B per iteration of 4 ranks\n")  # 8 × (6 + 5 + 4 + 3)


def test_with_ranks_a_block_that_cannot_be_is_found(configuration: Path) -> None:
    assert check(configuration).returncode == 0
    done = check(configuration, "8")
    assert (done.returncode, done.stdout) == (1, "")
    assert "line" in done.stderr
    assert "-1" in done.stderr


def test_a_mistake_is_reported_with_its_line(configuration: Path) -> None:
    configuration.write_text(CONFIGURATION.replace("layout: line", "layout: lime"))
    done = check(configuration)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{configuration}:8: data.variables.theta.layout: no layout 'lime'" in done.stderr


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert check(tmp_path / "none.yaml").stderr == f"halcyon: {tmp_path}/none.yaml: No such file or directory\n"
    assert check(tmp_path).stderr == f"halcyon: {tmp_path}: Is a directory\n"


def test_no_ranks_are_refused_by_both(configuration: Path) -> None:
    verb = [sys.executable, "-m", "halcyon", "check", "--ranks", "0", configuration]
    for command in (verb, [ROOT / "build/release/bin/halcyon-check", configuration, "0"]):
        assert subprocess.run(command, capture_output=True, timeout=60).returncode == 2
