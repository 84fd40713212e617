"""The writers of apps/ on log containers: the same bytes as plain files, by `halcyon run --log` around the launcher."""

import hashlib
import shutil
from pathlib import Path

import pytest
from apps.mini_apps import ROOT, MiniApps
from logfs.logged import Place, both

from halcyon import logfs

RANKS = 4


@pytest.fixture(params=["openmpi", "mpich"])
def build(request: pytest.FixtureRequest) -> tuple[str, Path]:
    launcher = f"mpirun.{request.param}"
    if shutil.which(launcher) is None:
        pytest.skip(f"{launcher} is not installed")
    return launcher, ROOT / "build" / {"openmpi": "release", "mpich": "mpich"}[request.param]


def run(build: tuple[str, Path], place: Place, monkeypatch: pytest.MonkeyPatch, app: str, **settings: object) -> Path:
    with monkeypatch.context() as within:
        for name, value in place.variables.items():
            within.setenv(name, value)
        return MiniApps(*build, place.directory).run(app, RANKS, **settings)


def sums(folder: Path) -> dict[str, str]:
    found = {}
    for path in folder.iterdir():
        with logfs.open(path, "rb") if logfs.is_container(path) else path.open("rb") as file:
            found[path.name] = hashlib.sha256(file.read()).hexdigest()
    return found


@pytest.mark.parametrize(
    ("app", "settings"),
    [
        ("writers", {"blocks": 32, "files": 1, "shift": 1}),
        ("writers", {"blocks": 32, "files": 2, "way": "view"}),
        ("writers", {"blocks": 32, "files": 1, "way": "collective"}),
        ("bt-io", {"points": 11, "writes": 3, "check": 1}),
        ("bt-io", {"points": 11, "writes": 3, "check": 1, "way": "simple"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(map(str, value.values())),
)
def test_containers_hold_what_plain_files_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build: tuple[str, Path], app: str, settings: dict[str, object]
) -> None:
    plain, logged = (run(build, place, monkeypatch, app, **settings) for place in both(tmp_path))
    assert all(logfs.is_container(path) for path in logged.iterdir())
    assert sums(logged) == sums(plain)


@pytest.mark.parametrize("way", ["collective", "independent"])
def test_a_checkpoint_of_hdf5_is_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build: tuple[str, Path], way: str
) -> None:
    logged = both(tmp_path)[1]
    folder = run(build, logged, monkeypatch, "flash-io", blocks=2, side=4, variables=5, way=way, check=1)
    assert sorted(path.name for path in folder.iterdir() if logfs.is_container(path)) == [
        "flash.chk.0000.h5",
        "flash.plt.0000.h5",
    ]
