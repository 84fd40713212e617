"""Real runs: settings take effect, and what calls were made of shows it. Times are no test's business."""

import json
from pathlib import Path

import pytest

from halcyon.cli import main


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


def test_a_first_run_with_sieving_suggests_to_leave_it(
    interleaved: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tried(capsys, tmp_path, "--runs", "1", "--", *interleaved, str(tmp_path / "file"), "16384", "256", "4")
    assert "romio_ds_write=disable" in own
    assert main(["advise", str(tmp_path / "kept/recorded")]) == 0
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
