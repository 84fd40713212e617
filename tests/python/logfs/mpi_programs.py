"""Programs of MPI for tests, by each library that is installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "logfs/programs"
FAMILIES = ("openmpi", "mpich")
COMPILERS = {".c": "mpicc", ".f90": "mpifort"}
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"],
    "mpich": ["mpirun.mpich"],
}
ROMIO = {"openmpi": ["--mca", "io", "romio321"], "mpich": []}
"""Options of the launcher with which ROMIO does what MPI-IO is."""


def launcher_or_skip(family: str) -> None:
    if shutil.which(f"mpicc.{family}") is None or shutil.which(LAUNCHERS[family][0]) is None:
        pytest.skip(f"there is no {family}")


def built(family: str, source: str, folder: Path, *options: str) -> Path:
    """The program of that source."""
    compiler = f"{COMPILERS[Path(source).suffix]}.{family}"
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    program = folder / Path(source).stem
    subprocess.run([compiler, "-O1", "-w", *options, SOURCES / source, "-o", program], check=True)
    return program
