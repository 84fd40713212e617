"""A communicator of one MPI must never reach the other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import LIBRARY

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import conftest
from halcyon.client import Session
from halcyon.errors import UnavailableError
try:
    Session("recorded.yaml")
except UnavailableError as refused:
    print("refused:", refused)
"""


def run_with(environment: dict[str, str]) -> str:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "PMI_", "MPI"))}
    arguments = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent)]
    done = subprocess.run(arguments, env=clean | environment, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


def other_mpi(folder: Path) -> dict[str, str]:
    """Lets mpi4py's wheel load the MPI that the client was not built for; Debian's MPICH has a name of its own."""
    from halcyon import _client

    if _client.MPI_FAMILY == "MPICH":
        return {"MPI4PY_MPIABI": "openmpi", "MPI4PY_LIBMPI": "libmpi.so.40"}
    library = next(Path("/usr/lib").glob("*/libmpich.so.12"), None)
    if library is None:
        pytest.skip("MPICH is not installed: no other MPI to be refused")
    (folder / "libmpi.so.12").symlink_to(library)
    return {"MPI4PY_MPIABI": "mpich", "MPI4PY_LIBMPI": "libmpi.so.12", "LD_LIBRARY_PATH": str(folder)}


def test_an_mpi4py_of_the_other_mpi_is_refused(tmp_path: Path) -> None:
    said = run_with(other_mpi(tmp_path))
    assert said.startswith("refused: mpi4py uses '"), said
    assert "halcyon._client was built for" in said
    assert LIBRARY.exists()
