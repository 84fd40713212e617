import sys

import numpy as np
from mpi4py import MPI

from halcyon.turns import Turns

CELLS, PHASES = 1 << 17, 4

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
path = sys.argv[1] if len(sys.argv) > 1 else "field"
config = sys.argv[2] if len(sys.argv) > 2 else None
targets = [int(one) for one in sys.argv[3:]]  # storage targets of the file

with Turns(path, config) as turns:
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_WRONLY)
    for phase in range(PHASES):
        field = 100 * phase + 10 * rank + 1e-6 * np.arange(CELLS)  # the simulation computes

        # The first rank waits for the job's turn, the others join it; at the end it gives the turn back last.
        with turns.phase(comm, nbytes=field.nbytes, targets=targets):
            file.Write_at_all(field.nbytes * (phase * ranks + rank), field)
    file.Close()
    status = turns.status()
    out_of_turn = status.steps_unasked + status.steps_starving
    print(f"rank {rank}: {status.coordination}, waited {status.waited_s:.3f} s, {out_of_turn} phases out of turn")
