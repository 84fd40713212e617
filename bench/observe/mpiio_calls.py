#!/usr/bin/env python3
"""What recording costs MPI_File_write_at, with the POSIX calls below it: processes with and without it, in turn."""

import os
import statistics
import subprocess
import sys
from pathlib import Path

from figures import show

from halcyon.observe.recording.preload import variables

PROGRAM = Path(os.environ["HALCYON_BUILD"]) / "bench/observe/mpiio_calls"
FILE = Path("/dev/shm/halcyon-bench-mpiio")
ROUNDS = 15
BLOCKS = 60


def ns_per_call(environment: dict[str, str]) -> float:
    """Median over the blocks of one process."""
    command = [str(PROGRAM), str(FILE), "64", str(BLOCKS)]
    told = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=True)
    return statistics.median(float(line) for line in told.stdout.split())


def main() -> int:
    traces = Path("trace").resolve()
    traces.mkdir()
    recorded = variables(["trace"], traces, None, None)
    overhead, control = [], []
    for turn in range(ROUNDS):
        kinds = [{}, recorded, {}]
        order = [(turn + i) % 3 for i in range(3)]
        took = {which: ns_per_call(kinds[which]) for which in order}
        overhead.append(took[1] - took[0])
        control.append(took[2] - took[0])
    FILE.unlink(missing_ok=True)
    show("mpiio_overhead_ns", overhead, "ns")
    show("mpiio_overhead_ns_control", control, "ns")
    return 0


if __name__ == "__main__":
    sys.exit(main())
