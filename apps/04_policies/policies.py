import sys

import numpy as np
from mpi4py import MPI

from halcyon.client import Session

NX, NY, ITERATIONS = 256, 256, 50

rank = MPI.COMM_WORLD.Get_rank()
j, i = np.mgrid[0:NY, 0:NX]

with Session(sys.argv[1] if len(sys.argv) > 1 else "halcyon.yaml", MPI.COMM_WORLD) as h:
    for t in range(ITERATIONS):
        field = (280 + rank + 0.25 * i + 0.5 * j + t).astype(np.float32)

        h.write("temperature", field)
        h.write("pressure", field)
        h.write("picture", field)
        h.end_iteration()
    stats = h.stats()
    print(
        f"rank {rank}: waited {1e-9 * stats.blocked_ns:.3f} s for room, "
        f"spilled {stats.spilled_blocks} blocks, skipped {stats.skipped_blocks}"
    )
