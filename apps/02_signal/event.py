import sys

import numpy as np
from mpi4py import MPI

from halcyon.client import Session

NX, NY, ITERATIONS = 64, 32, 8

rank = MPI.COMM_WORLD.Get_rank()
j, i = np.mgrid[0:NY, 0:NX]

with Session(sys.argv[1] if len(sys.argv) > 1 else "halcyon.yaml", MPI.COMM_WORLD) as h:
    for t in range(ITERATIONS):
        temperature = (280 + rank + 0.25 * i + 0.5 * j + t).astype(np.float32)

        h.write("temperature", temperature)
        if temperature[NY // 2, NX // 2] == 300:
            h.signal("warm")
        h.end_iteration()
        if t == 3:
            h.wait(t, "stored")
