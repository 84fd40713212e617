"""The halcyon command on a run that really took place."""

import subprocess
import sys
from pathlib import Path

import h5py
import pytest
from running import Case

pytest.importorskip("halcyon._core", reason="the compiled modules are not built")


def halcyon(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", "halcyon", *map(str, words)], capture_output=True, text=True)


def test_view_rebuilds_what_was_deleted(openmpi_case: Case) -> None:
    openmpi_case.configure()
    assert openmpi_case.run("iterations=3").status == 0
    view = openmpi_case.output / "tiny.h5"
    view.unlink()
    done = halcyon("view", openmpi_case.output)
    assert done.returncode == 0, done.stderr
    with h5py.File(view) as f:
        assert f["theta"].shape == (3, 4, 8, 32)


def test_summary_of_a_normal_run_says_that_nothing_was_dropped(openmpi_case: Case) -> None:
    openmpi_case.configure()
    assert openmpi_case.run("iterations=3").status == 0
    done = halcyon("summary", openmpi_case.output)
    assert done.returncode == 0, done.stderr
    assert "nothing dropped, spilled, skipped or switched" in done.stdout


@pytest.mark.parametrize("top", ["", "inline: true"])
def test_output_that_no_store_takes_is_counted_and_said(openmpi_case: Case, top: str) -> None:
    openmpi_case.configure(top=top)
    configuration = openmpi_case.directory / "halcyon.yaml"
    text = configuration.read_text()
    configuration.write_text(text[: text.index("stores:")] + text[text.index("resources:") :])
    outcome = openmpi_case.run("iterations=3")
    assert outcome.status == 0, outcome.text
    said = halcyon("summary", openmpi_case.directory).stdout
    assert "6 blocks (12.3 kB) accepted and not stored: the configuration has no stores" in said.replace("\n", " ")
    assert "no 'stores:': the output of 1 variable(s) is accepted and dropped" in said


def test_summary_of_a_run_that_skipped_opens_with_the_count(openmpi_case: Case) -> None:
    openmpi_case.variables = ("a", "b")
    openmpi_case.configure(attributes=", when-full: skip", nz="32", size="500 KiB")
    outcome = openmpi_case.run("iterations=200", "pause_ms=0")
    skipped = sum(rank["skipped"] for rank in outcome.ranks.values())
    done = halcyon("summary", openmpi_case.output)
    assert skipped > 0
    assert str(skipped) in "".join(done.stdout.splitlines(keepends=True)[:4])


def test_diff_of_two_equal_runs_is_silent_and_of_unequal_ones_is_not(openmpi_case: Case, tmp_path: Path) -> None:
    openmpi_case.configure()
    assert openmpi_case.run("iterations=3").status == 0
    other = Case(tmp_path / "other")
    other.directory.mkdir()
    other.configure()
    assert other.run("iterations=3").status == 0
    assert halcyon("diff", openmpi_case.output, other.output).returncode == 0
    with h5py.File(other.output / "tiny.n0000.i00000001.h5", "r+") as f:
        f["theta/d000001"][0, 2, 3, 4] += 1
    done = halcyon("diff", openmpi_case.output, other.output)
    assert done.returncode == 1
    assert "theta" in done.stdout


def test_report_is_one_page_that_needs_no_network(openmpi_case: Case) -> None:
    openmpi_case.configure()
    assert openmpi_case.run("iterations=3").status == 0
    page = openmpi_case.directory / "report.html"
    assert halcyon("report", openmpi_case.output, "-o", page).returncode == 0
    text = page.read_text()
    assert "<svg" in text
    assert 'src="http' not in text
