import sys

import numpy as np
from mpi4py import MPI

from halcyon.client import Session

ITERATIONS = 8

rank = MPI.COMM_WORLD.Get_rank()

with Session(sys.argv[1] if len(sys.argv) > 1 else "halcyon.yaml", MPI.COMM_WORLD) as h:
    for t in range(ITERATIONS):
        temperature = h.alloc("temperature")
        j, i = np.indices(temperature.shape)
        temperature[...] = 280 + rank + 0.25 * i + 0.5 * j + t
        h.commit("temperature")

        if rank == 0:
            print(f"iteration {t}: warmest {temperature.max()} K")
        h.clear("temperature")
        del temperature  # its memory is the server's now
        h.end_iteration()
