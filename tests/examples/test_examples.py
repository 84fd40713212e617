"""Every example stores the same values in every language, and the values are right."""

import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

PROGRAMS = Path(os.environ["EXAMPLES"])
SOURCES = Path(os.environ["EXAMPLE_SOURCES"])
MPIRUN = os.environ["MPIRUN"].split()
LANGUAGES = ("c", "cpp", "fortran", "python")
EXAMPLES = ("00_write/write", "01_zero_copy/zero_copy", "02_signal/event", "03_place/place", "04_policies/policies")


def run(example: str, language: str, folder: Path) -> str:
    """Runs an example on two ranks in `folder`; returns what it printed."""
    folder.mkdir()
    program = [str(PROGRAMS / f"{example}_{language}")]
    if language == "python":
        program = [sys.executable, str(SOURCES / f"{example}.py")]
    elif not Path(program[0]).exists():
        pytest.skip(f"{program[0]} is not built")
    config = SOURCES / example.split("/")[0] / "halcyon.yaml"
    command = [*MPIRUN, "-n", "2", *program, str(config)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def stored(example: str, folder: Path) -> dict[str, np.ndarray]:
    """Every array of the view over a run."""
    arrays: dict[str, np.ndarray] = {}

    def keep(name: str, item: h5py.Dataset | h5py.Group) -> None:
        if isinstance(item, h5py.Dataset):
            arrays[name] = item[()]

    with h5py.File(folder / "out" / f"{example.split('/')[1]}.h5") as view:
        view.visititems(keep)
    return arrays


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_a_language_stores_what_c_stores(example: str, language: str, tmp_path: Path) -> None:
    run(example, "c", tmp_path / "c")
    run(example, language, tmp_path / language)
    wanted, seen = stored(example, tmp_path / "c"), stored(example, tmp_path / language)
    for arrays in (wanted, seen):
        arrays.pop("picture", None)  # its policy is skip: which iterations it has depends on the storage
    assert "temperature" in wanted
    assert wanted.keys() == seen.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(array, seen[name], err_msg=name)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_view_shows_a_decomposed_variable_as_one_array(language: str, tmp_path: Path) -> None:
    run("03_place/place", language, tmp_path / language)
    temperature = stored("03_place/place", tmp_path / language)["temperature"]
    t, j, i = np.mgrid[0:8, 0:32, 0:64]
    np.testing.assert_array_equal(temperature, (280 + 0.25 * i + 0.5 * j + t).astype(np.float32))


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_event_is_logged_by_the_server(language: str, tmp_path: Path) -> None:
    run("02_signal/event", language, tmp_path / language)
    logs = [log.read_text() for log in (tmp_path / language / "out").glob("server-*.log")]
    assert sum(log.count("warm") for log in logs) >= 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_lost_where_the_policy_says_so(language: str, tmp_path: Path) -> None:
    printed = run("04_policies/policies", language, tmp_path / language)
    assert printed.count("skipped") == 2
    arrays = stored("04_policies/policies", tmp_path / language)
    for name in ("temperature", "pressure"):
        assert len(arrays[name]) == 50
        assert sorted(np.unique(arrays[name].reshape(50, -1).min(axis=1))) == [280 + t for t in range(50)]
