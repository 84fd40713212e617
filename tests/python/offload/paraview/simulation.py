"""Writes three iterations on a rectilinear mesh from each rank, a variable of every type."""

import numpy as np
from mpi4py import MPI

from halcyon.client import Session

NZ, NY, NX = 3, 4, 5
TYPES = ("int8", "int16", "int32", "float32", "float64")
MORE = ("int64", "uint8", "uint16", "uint32", "uint64")

rank, size = MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.Get_size()
j = rank * NY + np.arange(NY)
z, y, x = np.meshgrid(np.arange(NZ), j, np.arange(NX), indexing="ij")

with Session("halcyon.yaml", MPI.COMM_WORLD) as h:
    h.write("z", 50.0 * np.arange(NZ) ** 2)  # uneven
    h.write("y", 100.0 * j)
    h.write("x", 200.0 * np.arange(NX) - 400)
    for iteration in range(3):
        number = 60 * iteration + 20 * z + 2 * y + x % 2
        for dtype in (*TYPES, *MORE):
            if dtype.startswith("float"):
                values = (number / 2).astype(dtype)
            else:  # large ones too, but none that no signed integer of 8 bytes holds
                values = (number // 2).astype(dtype) + np.array(iteration * (np.iinfo(dtype).max // 8), dtype)
            h.write(f"more/of-{dtype}" if dtype in MORE else f"of-{dtype}", values)
        h.write("micro/qc", (number / 7).astype("float32"))
        h.write("rain", (number / 3).astype("float64"))
        h.end_iteration()
