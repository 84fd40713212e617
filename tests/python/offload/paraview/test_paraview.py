"""ParaView's readers see a run as h5py does: times, extents, coordinates, and every value."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

pytestmark = pytest.mark.full

HERE = Path(__file__).resolve().parent
TYPES = ("int8", "int16", "int32", "float32", "float64")
MORE = ("int64", "uint8", "uint16", "uint32", "uint64")
Seen = dict[str, Any]


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The view of a small run of two ranks."""
    pytest.importorskip("halcyon._client", reason="the compiled modules are not built")
    folder = tmp_path_factory.mktemp("run")
    shutil.copy(HERE / "halcyon.yaml", folder)
    mpirun = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2"]
    subprocess.run([*mpirun, sys.executable, HERE / "simulation.py"], cwd=folder, check=True, timeout=60)
    return folder / "out/sim.h5"


@pytest.fixture(scope="module")
def seen(view: Path) -> Seen:
    """What pvpython saw."""
    if not shutil.which("pvpython"):
        pytest.skip("no pvpython (packaging/debian-packages-full.txt)")
    out = view.parent / "seen.npz"
    # Debian's Python and its packages: nothing of this environment.
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    command = ["pvpython", "--force-offscreen-rendering", HERE / "read_run.py", view.with_suffix(".xmf"), view, out]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Skipping" not in done.stderr, done.stderr
    with np.load(out) as arrays:
        return dict(arrays)


@pytest.mark.parametrize("reader", ["xdmf", "netcdf"])
def test_times_extents_and_coordinates(view: Path, seen: Seen, reader: str) -> None:
    with h5py.File(view) as file:
        np.testing.assert_array_equal(seen[f"{reader}/times"], file["time"])
        for axis in "xyz":
            np.testing.assert_array_equal(seen[f"{reader}/0/{axis}"], file[axis])
    np.testing.assert_array_equal(seen[f"{reader}/0/extent"], [0, 4, 0, 7, 0, 2])


def shows(view: Path, seen: Seen, grid: str, name: str) -> np.ndarray:  # type: ignore[type-arg]
    """Every value of every time step; returns what is stored."""
    with h5py.File(view) as file:
        stored: np.ndarray = file[name][()]  # type: ignore[type-arg]
    assert len(stored) == 3
    for time, values in enumerate(stored):
        np.testing.assert_array_equal(seen[f"{grid}/{name}/{time}"].reshape(values.shape), values)
    return stored


@pytest.mark.parametrize(("reader", "name"), [(r, f"of-{t}") for r in ("xdmf", "netcdf") for t in TYPES])
def test_values_of_every_type(view: Path, seen: Seen, reader: str, name: str) -> None:
    assert f"of-{shows(view, seen, f'{reader}/0', name).dtype}" == name


@pytest.mark.parametrize("name", ["micro/qc", *(f"more/of-{t}" for t in MORE)])
def test_xdmf_shows_groups(view: Path, seen: Seen, name: str) -> None:
    shows(view, seen, "xdmf/0", name)


def test_xdmf_shows_variables_without_a_mesh_on_cells_of_unit_size(view: Path, seen: Seen) -> None:
    np.testing.assert_array_equal(seen["xdmf/1/extent"], [0, 5, 0, 8, 0, 3])
    shows(view, seen, "xdmf/1", "rain")
