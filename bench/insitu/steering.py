#!/usr/bin/env python3
"""Starts the program `steering` as two ranks, each on a core of its own."""

import os
import subprocess
import sys
from pathlib import Path


def main() -> int:
    program = Path(os.environ["HALCYON_BUILD"]) / "bench/insitu/steering"
    command = ["mpirun.openmpi", "-n", "2", "--bind-to", "core", "-x", "HALCYON_BENCH_ROUNDS", str(program)]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
