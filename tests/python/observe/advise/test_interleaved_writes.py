"""Real runs: settings take effect, and what calls were made of shows it. Times are no test's business."""

import json
from pathlib import Path

import pytest

from halcyon.cli import main
from halcyon.observe.advise.report_text import print_advice
from halcyon.observe.advise.settings import named
from halcyon.observe.advise.suggestions import advise
from halcyon.observe.advise.trial import Launch
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.open_run import open_run
from halcyon.printed.tables import console_for_tables

HOWEVER_LITTLE = Settings(worth_seconds=0, worth_share=0, worth_run_share=0, sieving_share=0, call_s=0)
"""Reports what a run did, whatever its cost: that depends on the machine."""


def tried(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> dict[str, dict[str, object]]:
    """By settings, the typical run of each variant."""
    output = folder / "kept"
    assert main(["advise", "--try", "--before", f"rm -f {folder}/file", "-o", str(output), "--json", *words]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert json.loads((output / "results.json").read_text())["results"] == results
    every = [results["unchanged"], *(one["variant"] for one in results["results"])]
    return {one["name"]: one["trials"][0]["mpiio"] for one in every}


def test_without_sieving_locks_and_reads_are_gone(
    interleaved: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [*interleaved, str(tmp_path / "file"), "16384", "64", "2"]
    own = tried(capsys, tmp_path, "--runs", "1", "--setting", "romio_ds_write=disable", "--", *command)
    before, after = own["as it is"], own["romio_ds_write=disable"]
    assert set(before["parts"]) == {"lock", "read", "write", "unlock"}  # type: ignore[call-overload]
    assert set(after["parts"]) == {"write"}  # type: ignore[call-overload]
    assert after["parts"]["write"]["calls"] == 2 * 64 * 2  # type: ignore[index]
    assert before["bytes"] == after["bytes"] == 2 * 64 * 2 * 16384
    assert before["transfers"] == after["transfers"] == 4


def test_what_a_first_run_suggests_is_tried(
    interleaved: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether it suggests anything depends on what sieving costs on this machine."""
    words = ["--before", f"rm -f {tmp_path}/file", "-o", str(tmp_path / "kept"), "--runs", "1", "--json"]
    command = [*interleaved, str(tmp_path / "file"), "16384", "256", "4"]
    assert main(["advise", "--try", *words, "--", *command]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    with open_run(tmp_path / "kept/recorded") as dataset:
        wanted = [named(one.settings) for one in advise(Answers(dataset)).suggestions]
    assert [one["variant"]["name"] for one in results["results"]] == wanted


def test_sieving_that_costs_anything_suggests_to_leave_it(
    interleaved: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        Launch([*interleaved, str(tmp_path / "file"), "16384", "256", "4"]).run(tmp_path / "run", {}, keep=True).problem
        is None
    )
    with open_run(tmp_path / "run") as dataset:
        advice = advise(Answers(dataset, HOWEVER_LITTLE))
    assert "romio_ds_write=disable" in [named(one.settings) for one in advice.suggestions]
    print_advice(advice, console_for_tables())
    said = capsys.readouterr().out
    assert "printf '%s\\n' 'romio_ds_write disable' > hints" in said
    assert "Data sieving reads what nobody has written yet" in said


def test_open_mpis_own_mpiio_is_tried_against_its_romio(
    interleaved_openmpi: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tried(capsys, tmp_path, "--runs", "1", "--", *interleaved_openmpi, str(tmp_path / "file"), "64", "2048", "2")
    (setting,) = [name for name in own if name.startswith("OMPI_MCA_io=romio")]
    before, after = own["as it is"], own[setting]
    assert before["parts"]["write"]["calls"] == 2 * 2048 * 2  # type: ignore[index]
    assert after["parts"]["write"]["calls"] < 100  # type: ignore[index]
    assert before["bytes"] == after["bytes"] == 2 * 2048 * 2 * 64


def test_one_round_recommends_nothing(
    interleaved: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--runs", "1", "--setting", "romio_ds_write=disable", "--before", f"rm -f {tmp_path}/file"]
    assert main(["advise", "--try", *words, "--", *interleaved, str(tmp_path / "file"), "64", "64"]) == 0
    said = capsys.readouterr().out
    assert "1 round: at least 6 are needed" in said
    assert "Leave the settings as they are." in said


def test_a_command_that_fails_is_not_tried(capsys: pytest.CaptureFixture[str]) -> None:
    # No MPI program: what one prints before MPI_Abort, its launcher may lose.
    assert main(["advise", "--try", "--", "sh", "-c", "echo no/such/folder >&2; exit 3"]) == 2
    said = capsys.readouterr().err
    assert "ended with exit code 3" in said
    assert "no settings were tried. Have it run in order by itself first. It said:" in said
    assert "no/such/folder" in said
