"""Every example stores the same values in every language, and the values are right."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import pytest

from halcyon import _core
from halcyon.errors import ConfigError, HalcyonSystemError
from halcyon.insitu.steering import Steering

PROGRAMS = Path(os.environ["EXAMPLES"])
SOURCES = Path(os.environ["EXAMPLE_SOURCES"])
MPIRUN = os.environ["MPIRUN"].split()
LANGUAGES = ("c", "cpp", "fortran", "python")
EXAMPLES = ("00_write/write", "01_zero_copy/zero_copy", "02_signal/event", "03_place/place", "04_policies/policies")


@dataclass(frozen=True)
class Run:
    """One example in one language, run on two ranks."""

    folder: Path
    printed: str

    def stored(self) -> dict[str, np.ndarray]:
        """Every array of the view over the run."""
        arrays: dict[str, np.ndarray] = {}

        def keep(name: str, item: h5py.Dataset | h5py.Group) -> None:
            if isinstance(item, h5py.Dataset):
                arrays[name] = item[()]

        (view,) = (path for path in (self.folder / "out").glob("*.h5") if path.name.count(".") == 1)
        with h5py.File(view) as file:
            file.visititems(keep)
        return arrays


Runner = Callable[[str, str], Run]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Runs an example, once for all tests."""

    @cache
    def run_once(example: str, language: str) -> Run:
        program = [str(PROGRAMS / f"{example}_{language}")]
        if language == "python":
            program = [sys.executable, str(SOURCES / f"{example}.py")]
        elif not Path(program[0]).exists():
            pytest.skip(f"{program[0]} is not built")
        folder = tmp_path_factory.mktemp(f"{example.split('/')[1]}_{language}")
        config = SOURCES / example.split("/")[0] / "halcyon.yaml"
        command = [*MPIRUN, "-n", "2", *program, str(config)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return Run(folder, done.stdout)

    return run_once


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_a_language_stores_what_c_stores(run: Runner, example: str, language: str) -> None:
    wanted, seen = run(example, "c").stored(), run(example, language).stored()
    for arrays in (wanted, seen):
        arrays.pop("picture", None)  # its policy is skip: which iterations it has depends on the storage
    assert "temperature" in wanted
    assert wanted.keys() == seen.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(array, seen[name], err_msg=name)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_view_shows_a_decomposed_variable_as_one_array(run: Runner, language: str) -> None:
    temperature = run("03_place/place", language).stored()["temperature"]
    t, j, i = np.mgrid[0:8, 0:32, 0:64]
    np.testing.assert_array_equal(temperature, (280 + 0.25 * i + 0.5 * j + t).astype(np.float32))


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_event_is_logged_by_the_server(run: Runner, language: str) -> None:
    logs = [log.read_text() for log in (run("02_signal/event", language).folder / "out").glob("server-*.log")]
    assert sum(log.count("warm") for log in logs) >= 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_lost_where_the_policy_says_so(run: Runner, language: str) -> None:
    policies = run("04_policies/policies", language)
    assert policies.printed.count("skipped") == 2
    arrays = policies.stored()
    for name in ("temperature", "pressure"):
        assert len(arrays[name]) == 50
        assert sorted(np.unique(arrays[name].reshape(50, -1).min(axis=1))) == [280 + t for t in range(50)]


def test_a_lost_view_can_be_rebuilt(run: Runner) -> None:
    write = run("00_write/write", "c")
    before = write.stored()
    (write.folder / "out" / "write.h5").unlink()
    assert _core.rebuild_view(str(write.folder / "out")).iterations == 8
    for name, array in before.items():
        np.testing.assert_array_equal(array, write.stored()[name], err_msg=name)


def test_a_run_without_description_has_no_view(tmp_path: Path) -> None:
    with pytest.raises(HalcyonSystemError, match=r"run\.json: No such file"):
        _core.rebuild_view(str(tmp_path))
    (tmp_path / "run.json").write_text('{"simulation": "write"}')
    with pytest.raises(ConfigError, match=r"run\.json: .*writers"):
        _core.rebuild_view(str(tmp_path))


def test_a_configuration_can_be_checked_without_a_run(tmp_path: Path) -> None:
    config = SOURCES / "04_policies" / "halcyon.yaml"
    without_places = "no policies.xmf for ParaView: no variable of two or three dimensions has a place"
    counted = "policies: 2 parameters, 1 layout, 3 variables, 0 events, 1 store"
    assert _core.check(str(config)).summary == f"{counted}; {without_places}"
    misspelt = tmp_path / "halcyon.yaml"
    misspelt.write_text(config.read_text().replace("layout: grid", "layout: gird", 1))
    with pytest.raises(ConfigError, match=r"halcyon\.yaml:8: .*gird.*grid"):
        _core.check(str(misspelt))


def test_a_steered_program_ends_on_all_ranks_when_it_is_told(tmp_path: Path) -> None:
    program = PROGRAMS / "07_steer/steer_c"
    command = [*MPIRUN, "-n", "2", str(program), str(SOURCES / "07_steer/halcyon.yaml")]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "iteration 0: kappa = 0.1\n"
        with Steering(tmp_path / "out") as steering:
            (effect,) = steering.wait(steering.ask({"kappa": 0.4}), ["kappa"])
            assert running.stdout.readline() == f"iteration {effect.iteration}: kappa = 0.4\n"
            steering.ask({"finished": 1})
        assert running.wait(60) == 0
    with h5py.File(tmp_path / "out/rod.h5") as view:
        temperature = view["temperature"][()]
    assert temperature.shape == (len(temperature), 128)
    assert temperature[-1, 0] > temperature[0, 0]
