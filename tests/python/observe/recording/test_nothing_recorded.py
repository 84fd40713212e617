"""Runs of which nothing was recorded: no folder stays that only takes a name, and whoever reads one is told why."""

import subprocess
import sys
from pathlib import Path

import pytest

from halcyon.cli import main
from halcyon.errors import HalcyonSystemError
from halcyon.exit_status import Ended
from halcyon.layers.record import record
from halcyon.observe.recording.folder import Recording, newer_run

COPY = [sys.executable, "-c", "open('out', 'wb').write(bytes(100))"]


def halcyon_run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "halcyon", "run", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("there_before", [False, True])
def test_a_command_that_cannot_be_started_leaves_no_folder(tmp_path: Path, there_before: bool) -> None:
    folder = tmp_path / "run"
    if there_before:
        folder.mkdir()
    with pytest.raises(HalcyonSystemError, match="no-such-program"):
        record([str(tmp_path / "no-such-program")], ["trace"], folder)
    assert folder.exists() == there_before
    assert not there_before or not any(folder.iterdir())


@pytest.mark.parametrize("layer", ["--trace", "--predict"])
def test_a_command_that_fails_before_its_first_call_leaves_none_either(tmp_path: Path, layer: str) -> None:
    (tmp_path / "fails.c").write_text("int main(void) { return 3; }\n")
    folder = tmp_path / "here"
    folder.mkdir()
    subprocess.run(["cc", "-static", "-o", folder / "fails", tmp_path / "fails.c"], check=True)
    done = halcyon_run(folder, layer, "--", "./fails")
    assert done.returncode == 3
    ended = "the command ended with exit status 3"
    assert done.stderr == f"halcyon: nothing was recorded: {ended}; {folder}/fails.halcyon is removed\n"
    assert [path.name for path in folder.iterdir()] == ["fails"]


def test_a_run_that_only_learnt_says_so_to_whoever_wants_its_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = halcyon_run(tmp_path, "--predict", "-o", "learnt", "--", *COPY)
    assert done.stderr.splitlines()[-1] == (
        f"halcyon: {tmp_path}/learnt: how much was learnt, and no calls; --trace keeps these, too"
    )
    folder = str(tmp_path / "learnt")
    why = "nothing was recorded: the run was made with --predict, without --trace, which records its calls"
    for verb in ("analyze", "report", "advise", "predict", "summary"):
        assert main([verb, folder]) != 0
        assert capsys.readouterr().err == f"halcyon: {folder}: {why}\n"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (132, "nothing was recorded: the command ended with exit status 132\n"),
        (-9, "nothing was recorded: the command ended with exit status 137, which stands for SIGKILL"),
        (0, "no process was recorded. Static programs"),
    ],
)
def test_a_folder_without_traces_says_how_the_command_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], code: int, said: str
) -> None:
    recording = Recording.of(["./model"], ["trace"], 1.0)
    (tmp_path / "trace").mkdir()
    recording.write(tmp_path)
    assert main(["analyze", str(tmp_path)]) == 1
    assert "nothing was recorded: `halcyon run` has not ended yet, or was killed" in capsys.readouterr().err
    recording.finish(Ended.of(code))
    recording.write(tmp_path)
    for verb in ("analyze", "summary"):
        assert main([verb, str(tmp_path)]) != 0
        assert f"{tmp_path}: {said}" in capsys.readouterr().err


def test_a_run_without_layers_says_that_it_records_nothing(tmp_path: Path) -> None:
    done = halcyon_run(tmp_path, "--", "sh", "-c", "echo said >&2; exit 5")
    assert done.returncode == 5
    assert done.stderr == "said\nhalcyon: nothing was recorded: neither --trace nor --predict was given\n"
    assert not [*tmp_path.iterdir()]


def test_the_newer_of_two_runs_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sim").write_text("#!/bin/sh\ncat /etc/hostname\n")
    (tmp_path / "sim").chmod(0o755)
    for name in ("sim.halcyon", "sim.2.halcyon"):
        done = halcyon_run(tmp_path, "--trace", "--", "./sim")
        assert done.stderr.endswith(f"now: halcyon report {tmp_path / name}\n")
    first, second = tmp_path / "sim.halcyon", tmp_path / "sim.2.halcyon"
    assert main(["report", str(first), "-o", str(tmp_path / "page.html")]) == 0
    assert f"halcyon: {first} is not the last run: {second} is newer\n" in capsys.readouterr().err
    assert newer_run(second) is None
    assert newer_run(first.rename(tmp_path / "mine")) is None


def test_runs_of_other_programs_are_not_newer(tmp_path: Path) -> None:
    for name, program, start in (("sim.halcyon", "sim", 1.0), ("sim.2.halcyon", "sim.2", 2.0), ("a.halcyon", "a", 3.0)):
        (tmp_path / name).mkdir()
        Recording.of([f"./{program}"], ["trace"], start).write(tmp_path / name)
    assert newer_run(tmp_path / "sim.halcyon") is None
