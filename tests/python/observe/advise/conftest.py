"""Launches that follow a formula, and what real ones need."""

import os
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from halcyon.errors import UnavailableError
from halcyon.layers.preload import find_library
from halcyon.observe.advise.library import HINTS_FILE
from halcyon.observe.advise.mpiio_time import MpiIo
from halcyon.observe.advise.trial import Launch, Trial

ROOT = Path(__file__).resolve().parents[4]
Seconds = Callable[[dict[str, str]], float]


def hints_of(variables: Mapping[str, str]) -> dict[str, str]:
    """What the hints file that the variables name says."""
    if HINTS_FILE not in variables:
        return {}
    lines = Path(variables[HINTS_FILE]).read_text(encoding="utf-8").splitlines()
    return dict(line.split(maxsplit=1) for line in lines)


class Modelled(Launch):
    """Takes as long in MPI-IO as `seconds` of its hints says, with noise; 1 GB each. Nothing runs."""

    def __init__(self, seconds: Seconds, noise: float = 0.05, seed: int = 1) -> None:
        super().__init__(["modelled"])
        object.__setattr__(self, "_seconds", seconds)
        object.__setattr__(self, "_noise", noise)
        object.__setattr__(self, "_random", random.Random(seed))
        object.__setattr__(self, "order", [])

    def run(self, folder: Path, settings: Mapping[str, str], *, keep: bool = False, prepare: object = None) -> Trial:
        hints = hints_of(settings)
        self.order.append(hints)  # type: ignore[attr-defined]
        took = self._seconds(hints) * self._random.lognormvariate(0, self._noise)  # type: ignore[attr-defined]
        seen = {"romio_ds_write": "automatic"} | hints
        return Trial(took + 1, MpiIo(took, 10, 10**9, {}, {name: frozenset([value]) for name, value in seen.items()}))


@pytest.fixture
def recorder() -> Path:
    """libhalcyon-io.so; the test is skipped without it."""
    try:
        return find_library()
    except UnavailableError as why:
        pytest.skip(str(why))


@pytest.fixture
def interleaved(recorder: Path) -> list[str]:
    """The command that writes interleaved blocks under MPICH: FILE BLOCK-BYTES BLOCKS-PER-CALL CALLS follow."""
    program = ROOT / "build/mpich/apps/interleaved/interleaved_writes"
    if not program.exists() or shutil.which("mpirun.mpich") is None:
        pytest.skip("needs MPICH and the apps of the mpich build")
    return ["mpirun.mpich", "-n", "2", str(program)]


@pytest.fixture
def interleaved_openmpi(recorder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The same under Open MPI, whose own MPI-IO it takes."""
    program = ROOT / "build/release/apps/interleaved/interleaved_writes"
    if not program.exists() or shutil.which("mpirun.openmpi") is None:
        pytest.skip("needs Open MPI and the apps of the release build")
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")
    return ["mpirun.openmpi", "-n", "2", str(program)]


@pytest.fixture(autouse=True)
def no_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    """The developer's own settings stay out of it."""
    for name in list(os.environ):
        if name.startswith((HINTS_FILE, "OMPI_MCA_", "MPICH_MPIIO")):
            monkeypatch.delenv(name)
