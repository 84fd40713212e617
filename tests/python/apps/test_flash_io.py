"""flash-io: what its checkpoint and plot files hold."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from mini_apps import MiniApps

RANKS, BLOCKS, SIDE, VARIABLES, PLOTTED = 4, 3, 4, 5, 2
SETTINGS = {"blocks": BLOCKS, "side": SIDE, "variables": VARIABLES, "plotted": PLOTTED, "check": 1}


def variable(number: int) -> np.ndarray:
    cells = np.arange(RANKS * BLOCKS * SIDE**3, dtype="f8").reshape(RANKS * BLOCKS, SIDE, SIDE, SIDE)
    cells[:, 0, 0, 0] += number
    return cells


def check(run: Path) -> None:
    with h5py.File(run / "flash.chk.0000.h5") as file:
        assert [name.decode() for name in file["unknown names"]] == [f"v{i:03d}" for i in range(VARIABLES)]
        for i in range(VARIABLES):
            assert file[f"v{i:03d}"].dtype == "f8"
            np.testing.assert_array_equal(file[f"v{i:03d}"], variable(i))
        shapes = {name: file[name].shape for name in ("refine level", "gid", "coordinates", "bounding box")}
    tree = RANKS * BLOCKS
    expected = {"refine level": (tree,), "gid": (tree, 15), "coordinates": (tree, 3), "bounding box": (tree, 3, 2)}
    assert shapes == expected
    with h5py.File(run / "flash.plt.0000.h5") as file:
        assert f"v{PLOTTED:03d}" not in file
        for i in range(PLOTTED):
            assert file[f"v{i:03d}"].dtype == "f4"
            np.testing.assert_array_equal(file[f"v{i:03d}"], variable(i))


@pytest.mark.parametrize("way", ["collective", "independent"])
@pytest.mark.parametrize("guard", [0, 2])
def test_files_hold_the_cells_of_all_ranks(mini_apps: MiniApps, way: str, guard: int) -> None:
    check(mini_apps.run("flash-io", RANKS, **SETTINGS, way=way, guard=guard))


def test_without_plots_there_are_checkpoints_alone(mini_apps: MiniApps) -> None:
    run = mini_apps.run("flash-io", RANKS, **{**SETTINGS, "plotted": 0}, files=2)
    assert sorted(path.name for path in run.iterdir()) == ["flash.chk.0000.h5", "flash.chk.0001.h5"]
