"""Runs the small C++ program that writes runs as node servers do."""

import os
import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

NZ, NY, NX = 3, 8, 10
ITERATIONS = 4


def build_directory() -> Path:
    root = Path(__file__).resolve().parents[4]
    return Path(os.environ.get("HALCYON_BUILD_DIR", root / "build" / "release"))


def write_sample(folder: Path, kind: str, store_type: str = "hdf5") -> Path:
    """Fills `folder` with a run of `kind` (see tests/offload/store/write_sample.cpp); returns the path of its view."""
    program = build_directory() / "tests" / "offload" / "store" / "write_sample"
    folder.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"HALCYON_MODULE_PATH": str(build_directory() / "lib")}
    subprocess.run([program, folder, kind, store_type], check=True, env=environment, capture_output=True, timeout=60)
    return folder / "sim.h5"


def expected(iterations: int = ITERATIONS) -> NDArray[np.float64]:
    """theta of the sample."""
    t, z, y, x = np.ogrid[0:iterations, 0:NZ, 0:NY, 0:NX]
    return (1000.0 * t + 100 * z + 10 * y + x).astype(np.float64)
