"""The alloy: what its files hold, and that all branches of its output are taken."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from mini_apps import MiniApps

CELLS = 96
SIDE = 12
ACROSS = CELLS // SIDE
SNAPSHOTS = 8
SETTINGS = {"cells": CELLS, "steps": 5000 * SNAPSHOTS, "output_every": 5000, "percent": -20}
LESS = np.array([0.0, 1.0, -1.0])
"""What is taken off the values of a boundary, of the first and of the second metal."""

HEADER = np.dtype([("magic", "S8"), ("step", "i8"), ("cells", "i8"), ("complete", "i8"), ("count", "i8", 3),
                   ("mean", "f8")])  # fmt: skip
ELEMENT = np.dtype([("kind", "i4"), ("number", "i4"), ("mean", "f8"), ("values", "f4", (SIDE, SIDE))])


@dataclass(frozen=True)
class Snapshot:
    header: np.void
    elements: np.ndarray

    @property
    def square(self) -> np.ndarray:
        values = self.elements["values"] + LESS[self.elements["kind"]][:, None, None]
        return values.reshape(ACROSS, ACROSS, SIDE, SIDE).swapaxes(1, 2).reshape(CELLS, CELLS)


@pytest.fixture(scope="module")
def alloy(mini_apps_at: Callable[[Path], MiniApps], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of two ranks; for all tests to read."""
    return mini_apps_at(tmp_path_factory.mktemp("alloy")).run("alloy", 2, **SETTINGS)


def snapshots(run: Path) -> list[Snapshot]:
    data = [path.read_bytes() for path in sorted(run.glob("alloy.0*"))]
    assert len(data) == SNAPSHOTS
    return [Snapshot(np.frombuffer(d, HEADER, 1)[0], np.frombuffer(d[HEADER.itemsize :], ELEMENT)) for d in data]


def test_no_metal_is_lost(alloy: Path) -> None:
    found = snapshots(alloy)
    for snapshot in found:
        assert snapshot.header["mean"] == pytest.approx(found[0].header["mean"], abs=1e-13)
        assert snapshot.elements["mean"].mean() == pytest.approx(snapshot.header["mean"], abs=1e-13)
        assert snapshot.square.mean() == pytest.approx(snapshot.header["mean"], abs=1e-7)


def test_an_element_is_written_by_the_branch_of_its_content(alloy: Path) -> None:
    for snapshot in snapshots(alloy):
        np.testing.assert_array_equal(snapshot.elements["number"], np.arange(ACROSS**2))
        values = snapshot.elements["values"] + LESS[snapshot.elements["kind"]][:, None, None]
        lowest, highest = values.min(axis=(1, 2)), values.max(axis=(1, 2))
        expected = np.where(lowest > 0.5, 1, np.where(highest < -0.5, 2, 0))
        np.testing.assert_array_equal(snapshot.elements["kind"], expected)


def test_all_branches_are_taken_and_not_alike_in_any_two_snapshots(alloy: Path) -> None:
    kinds = [snapshot.elements["kind"] for snapshot in snapshots(alloy)][SNAPSHOTS // 2 :]
    assert set(np.concatenate(kinds)) == {0, 1, 2}
    assert len({k.tobytes() for k in kinds}) == len(kinds)


def test_the_header_is_written_again_when_all_elements_are_there(alloy: Path) -> None:
    history = np.loadtxt(alloy / "history.txt")
    for snapshot, line in zip(snapshots(alloy), history, strict=True):
        assert snapshot.header["complete"] == 1
        counts = np.bincount(snapshot.elements["kind"], minlength=3)
        np.testing.assert_array_equal(snapshot.header["count"], counts)
        np.testing.assert_array_equal(line[:4], [snapshot.header["step"], *counts])


def test_the_end_is_the_last_snapshot_with_all_digits(alloy: Path) -> None:
    end = np.fromfile(alloy / "alloy.end").reshape(CELLS, CELLS)
    np.testing.assert_allclose(snapshots(alloy)[-1].square, end, atol=1e-7)
    assert end.min() < -0.9
    assert end.max() > 0.9


def test_any_number_of_ranks_writes_the_same_bytes(mini_apps: MiniApps, alloy: Path) -> None:
    one = mini_apps.run("alloy", 1, **SETTINGS)
    names = {path.name for path in one.iterdir()}
    assert names == {path.name for path in alloy.iterdir()}
    for name in names:
        assert (one / name).read_bytes() == (alloy / name).read_bytes(), name
