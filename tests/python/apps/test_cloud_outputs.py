"""The cloud model writes the same values whatever the way of output. Real runs, two ranks, a small grid."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr
import yaml

from halcyon.offload.run_directory import open_run

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build/release"
CLOUD = BUILD / "apps/cloud/cloud"
INPUTS = ROOT / "apps/cloud"
FIELDS = ("theta", "pi", "u", "v", "w", "qv", "qc", "qr")
CELLS = {"nx": 16, "ny": 12, "nz": 10}
PHASES = 3
LIMIT_S = 120

pytestmark = pytest.mark.skipif(
    not CLOUD.exists() or shutil.which("mpirun.openmpi") is None, reason="no cloud model built with Open MPI"
)


def run_cloud(place: Path, output: str, top: dict[str, object] | None = None, beside_world: bool = False) -> Path:
    """Runs in `place` and returns the run's directory. `beside_world`: the servers are one MPI world."""
    place.mkdir()
    configuration = yaml.safe_load((INPUTS / "cloud.yaml").read_text()) | (top or {})
    (place / "cloud.yaml").write_text(yaml.safe_dump(configuration))
    shutil.copy(INPUTS / "soundings/20110522_OUN_12Z.txt", place / "sounding.txt")
    settings: dict[str, object] = {**CELLS, "px": 1, "py": 2, "steps": 4 * PHASES, "output_every": 4}
    settings |= {"output": output, "directory": "out", "sounding": "sounding.txt", "halcyon_config": "cloud.yaml"}
    world = [sys.executable, "-m", "halcyon", "run", "--servers-per-node", "1", "--"] if beside_world else []
    environment = os.environ | {
        "HALCYON_MODULE_PATH": str(BUILD / "lib"),
        "HALCYON_SERVER_WORLD": str(BUILD / "bin/halcyon-server-world"),
    }
    done = subprocess.run(
        [*world, "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2", str(CLOUD), "--namelist",
         str(INPUTS / "cloud.nml"), *(f"{key}={value}" for key, value in settings.items())],
        cwd=place, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return place / "out"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One run for each way of output."""
    base = tmp_path_factory.mktemp("cloud")
    found = {name: run_cloud(base / name, name) for name in ("file-per-process", "collective", "halcyon", "memory")}
    found["inline"] = run_cloud(base / "inline", "halcyon", {"inline": True})
    together = {"stores": {"main": {"type": "hdf5", "path": "out", "collective": True}}}
    found["together"] = run_cloud(base / "together", "halcyon", together, beside_world=True)
    return found


def from_collective(run: Path, name: str) -> np.ndarray:
    """(phase, …): the files are written one per phase."""
    arrays = []
    for path in sorted(run.glob("cloud.i*.h5")):
        with h5py.File(path) as file:
            arrays.append(file[name][...])
    return np.stack(arrays)


def from_processes(run: Path, name: str) -> np.ndarray:
    """The blocks of the ranks put side by side along y, the second axis from the last."""
    phases = []
    for phase in range(PHASES):
        blocks = []
        for path in sorted(run.glob(f"cloud.r*.i{phase:08d}.h5")):
            with h5py.File(path) as file:
                blocks.append(file[name][...])
        phases.append(np.concatenate(blocks, axis=-2))
    return np.stack(phases)


@pytest.mark.parametrize("way", ["halcyon", "inline", "together"])
@pytest.mark.parametrize("name", FIELDS)
def test_view_is_the_collective_file_value_for_value(runs: dict[str, Path], way: str, name: str) -> None:
    expected = from_collective(runs["collective"], name)
    assert expected.shape == (PHASES, CELLS["nz"], CELLS["ny"], CELLS["nx"])
    with h5py.File(runs[way] / "cloud.h5") as view:
        np.testing.assert_array_equal(view[name][...], expected)


@pytest.mark.parametrize("name", FIELDS)
def test_files_of_the_processes_are_the_collective_file_in_pieces(runs: dict[str, Path], name: str) -> None:
    np.testing.assert_array_equal(
        from_processes(runs["file-per-process"], name), from_collective(runs["collective"], name)
    )


@pytest.mark.parametrize("name", FIELDS)
def test_files_of_all_servers_are_the_collective_file_value_for_value(runs: dict[str, Path], name: str) -> None:
    own = []
    for path in sorted(runs["together"].glob("cloud.all.i*.h5")):
        with h5py.File(path) as file:
            own.append(file[name]["whole"][...])
    np.testing.assert_array_equal(np.concatenate(own), from_collective(runs["collective"], name))


@pytest.mark.parametrize("way", ["inline", "together"])
def test_every_way_stores_what_the_server_stores(runs: dict[str, Path], way: str) -> None:
    command = [sys.executable, "-m", "halcyon", "diff", str(runs["halcyon"]), str(runs[way])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_copying_alone_counts_the_bytes_and_leaves_no_data(runs: dict[str, Path]) -> None:
    def handed_over(run: Path) -> list[int]:
        return [int(line.split(",")[-1]) for line in (run / "phases-app.csv").read_text().splitlines()[1:]]

    assert handed_over(runs["memory"]) == handed_over(runs["halcyon"])
    assert not list(runs["memory"].glob("*.h5"))


def test_fields_are_not_trivial(runs: dict[str, Path]) -> None:
    """Comparisons of zeros would prove nothing."""
    w = from_collective(runs["collective"], "w")
    assert np.unique(w).size > w.size // 8
    assert not np.array_equal(w[0], w[-1])


def test_xarray_opens_the_view_with_units_and_coordinates(runs: dict[str, Path]) -> None:
    with xr.open_dataset(runs["halcyon"] / "cloud.h5", engine="h5netcdf") as view:
        assert view["w"].dims == ("time", "z", "y", "x")
        assert view["w"].attrs["units"] == "m s-1"
        for axis in ("x", "y", "z"):
            expected = from_collective(runs["collective"], axis)[0]
            np.testing.assert_array_equal(view[axis].values, expected)
        np.testing.assert_array_equal(view["w"].values, from_collective(runs["collective"], "w"))


def test_output_does_not_change_the_simulation(runs: dict[str, Path]) -> None:
    states = {name: open_run(run).application["state"] for name, run in runs.items()}
    assert len(set(states.values())) == 1, states


def test_times_of_a_halcyon_run_are_those_the_model_measured(runs: dict[str, Path]) -> None:
    """They include filling the blocks, as the times of the other ways of output do."""
    run = open_run(runs["halcyon"])
    rows = run.phases.to_pyarrow().to_pylist()
    assert len(rows) == 2 * PHASES
    assert {row["writer"] for row in rows} == {"app"}
    assert not run.gaps
