"""Several runs: what tells them apart, and how well they scale."""

from collections.abc import Callable
from pathlib import Path

import pytest
from synthetic_runs import Shape, write_counts, write_manifest, write_run

from halcyon.offload.comparison import open_comparison, scalings_of
from halcyon.offload.report.figures import Picture
from halcyon.offload.report.figures.scalability import scalability

TwoRanks = Callable[..., Path]


def test_runs_are_named_by_the_fewest_things_that_tell_them_apart(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / f"{approach}{ranks}", Shape(approach, ranks, phases=1, parameters={"nx": 10 * ranks}))
        for ranks in (16, 4)
        for approach in ("halcyon", "collective")
    ]
    comparison = open_comparison(runs)
    assert comparison.differing == ("approach", "ranks", "dedicated cores", "nx")
    assert comparison.dimensions == ("approach", "ranks")
    labels = [entry.label for entry in comparison.entries]
    assert labels == ["halcyon ranks=4", "halcyon ranks=16", "collective ranks=4", "collective ranks=16"]


def test_parameters_alone_name_runs_of_one_approach_in_numeric_order(phases_of_two_ranks: TwoRanks) -> None:
    runs = [phases_of_two_ranks(f"r{nx}", [(1, 1)], parameters={"nx": nx}) for nx in (128, 64, 96)]
    assert [entry.label for entry in open_comparison(runs).entries] == ["nx=64", "nx=96", "nx=128"]


def test_repetitions_are_named_by_their_directories(phases_of_two_ranks: TwoRanks) -> None:
    runs = [phases_of_two_ranks(name, [(1, 1)]) for name in ("first", "second")]
    labels = [entry.label for entry in open_comparison(runs).entries]
    assert labels == ["file-per-process (first)", "file-per-process (second)"]


def test_same_run_twice_still_has_two_names(phases_of_two_ranks: TwoRanks) -> None:
    run = phases_of_two_ranks("one", [(1, 1)])
    assert len(open_comparison([run, run]).entries) == 2


def test_runs_with_losses_and_unfinished_ones_are_marked_where_they_are_named(tmp_path: Path) -> None:
    left = {"calm": {}, "lossy": {"skipped_blocks": 2}, "killed": {"finished": False}, "spilled": {"spilled_blocks": 1}}
    left["both"] = {"finished": False, "missing_blocks": 1}
    runs = [write_run(tmp_path / name, Shape(phases=1)) for name in left]
    for run, counts in zip(runs, left.values(), strict=True):
        write_counts(run, **counts)
    write_manifest(tmp_path / "open", ended_ns=None)
    write_counts(tmp_path / "open")
    comparison = open_comparison([*runs, tmp_path / "open"])
    assert {entry.name: entry.label.removeprefix(entry.name) for entry in comparison.entries} == {
        "halcyon (calm)": "",
        "halcyon (lossy)": " [with losses]",
        "halcyon (killed)": " [unfinished]",
        "halcyon (spilled)": "",
        "halcyon (both)": " [with losses, unfinished]",
        "halcyon (open)": " [unfinished]",
    }
    marked = {label for verdict in comparison.verdicts() for label in verdict.labels}
    assert "halcyon (lossy) [with losses]" in marked


def test_scalability_by_hand_against_a_run_without_output(tmp_path: Path) -> None:
    write_manifest(tmp_path / "none", approach="none", ranks=4, dedicated_cores=0, run_s=100.0, compute_s=99.0)
    write_manifest(tmp_path / "fpp", approach="file-per-process", ranks=16, dedicated_cores=0, run_s=200.0)
    write_manifest(tmp_path / "halcyon", ranks=14, nodes=2, dedicated_cores=1, run_s=110.0)
    comparison = open_comparison([tmp_path / name for name in ("fpp", "halcyon", "none")])
    scalings = scalings_of(comparison)
    assert scalings is not None
    assert (scalings.reference.approach, scalings.reference_is_without_output) == ("none", True)
    factors = {run.entry.approach: (run.cores, run.factor) for run in scalings.runs}
    assert factors["file-per-process"] == (16, pytest.approx(16 * 100 / 200))
    assert factors["halcyon"] == (16, pytest.approx(16 * 100 / 110))
    assert factors["none"] == (4, pytest.approx(4.0))


def test_scalability_falls_back_on_the_compute_time_of_the_fewest_cores(tmp_path: Path) -> None:
    for ranks, run_s, compute_s in ((4, 80.0, 50.0), (2, 60.0, 40.0)):
        write_manifest(
            tmp_path / str(ranks), ranks=ranks, dedicated_cores=0, run_s=run_s, compute_s=compute_s, approach="x"
        )
    scalings = scalings_of(open_comparison([tmp_path / "4", tmp_path / "2"]))
    assert scalings is not None
    assert (scalings.reference.run.manifest.ranks, scalings.reference_is_without_output) == (2, False)
    assert [run.factor for run in scalings.runs] == pytest.approx([2 * 40 / 60, 4 * 40 / 80])


def test_scalability_is_per_iteration_when_runs_differ_in_iterations(phases_of_two_ranks: TwoRanks) -> None:
    short = phases_of_two_ranks("short", [(1, 1)] * 2, run_s=20.0, compute_s=10.0, parameters={"n": 1})
    long = phases_of_two_ranks("long", [(1, 1)] * 4, run_s=80.0, compute_s=60.0, parameters={"n": 2})
    scalings = scalings_of(open_comparison([short, long]))
    assert scalings is not None
    assert scalings.per_iteration
    # C is 5 s an iteration; the runs take 10 s and 20 s an iteration, on 2 cores.
    assert [run.factor for run in scalings.runs] == pytest.approx([2 * 5 / 10, 2 * 5 / 20])


def test_runs_of_one_approach_keep_names_of_their_own_in_the_figure(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, Shape(phases=2, compute_s=n)) for n, name in enumerate(("slow", "quick"), 1)]
    picture = scalability(open_comparison(runs))
    assert isinstance(picture, Picture)
    assert "halcyon (slow)" in picture.title
    assert "halcyon (quick)" in picture.title
    assert picture.caption.startswith("Weak scaling assumed")
    larger = write_run(tmp_path / "larger", Shape(ranks=4, phases=2))
    over_cores = scalability(open_comparison([*runs, larger]))
    assert isinstance(over_cores, Picture)
    assert all(f"({name})" in over_cores.svg for name in ("slow", "quick"))
    assert "weak scaling assumed" in over_cores.svg


def test_single_run_has_no_scalability(hand_run: Path) -> None:
    assert scalings_of(open_comparison([hand_run])) is None
