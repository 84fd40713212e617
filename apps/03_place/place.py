import sys

import numpy as np
from mpi4py import MPI

from halcyon.client import Session

NX, NY, ITERATIONS = 64, 32, 8

rank = MPI.COMM_WORLD.Get_rank()
py, px = MPI.Compute_dims(MPI.COMM_WORLD.Get_size(), 2)
columns, rows = NX // px, NY // py
first_column, first_row = rank % px * columns, rank // px * rows
j, i = np.mgrid[first_row - 1 : first_row + rows + 1, first_column - 1 : first_column + columns + 1]

config = sys.argv[1] if len(sys.argv) > 1 else "halcyon.yaml"
with Session(config, MPI.COMM_WORLD, parameters={"px": px, "py": py}) as h:
    for t in range(ITERATIONS):
        temperature = (280 + 0.25 * i + 0.5 * j + t).astype(np.float32)

        h.write("temperature", temperature)
        h.end_iteration()
