#!/usr/bin/env python3
"""What recording costs MPI_File_write_at, with the POSIX calls below it: processes with and without it, in turn."""

import os
import statistics
import subprocess
import sys
from pathlib import Path

from rounds import Rounds

from halcyon.layers.preload import variables

PROGRAM = Path(os.environ["HALCYON_BUILD"]) / "bench/observe/mpiio_calls"
FILE = Path("/dev/shm/halcyon-bench-mpiio")
WANTED = 15
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
    kinds = [{}, recorded, {}]
    try:
        for current in (rounds := Rounds("observe", WANTED)):
            order = [(rounds.made + i) % 3 for i in range(3)]
            took = {which: ns_per_call(kinds[which]) for which in order}
            current.value("mpiio_overhead_ns", took[1] - took[0], "ns")
            current.value("mpiio_overhead_ns_control", took[2] - took[0], "ns")
            current.require_control("mpiio_overhead_ns", took[2] / took[0])
    finally:
        FILE.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
