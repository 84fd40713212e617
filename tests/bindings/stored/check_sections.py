"""Runs the program given as arguments in a new folder and compares what it stored with the section it meant."""

import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

with tempfile.TemporaryDirectory() as folder:
    subprocess.run(sys.argv[1:], cwd=folder, check=True, timeout=60)
    fortran = np.arange(1, 6 * 9 + 1).reshape(6, 9, order="F")
    wanted = fortran[0:6:2, 7:0:-2].ravel(order="F")
    assert wanted.size == 12
    with h5py.File(Path(folder) / "out" / "sections.h5") as view:
        for dtype in ("int8", "int16", "int32", "int64", "float32", "float64"):
            assert view[dtype].dtype == dtype
            np.testing.assert_array_equal(view[dtype][()].ravel(), wanted, err_msg=dtype)
