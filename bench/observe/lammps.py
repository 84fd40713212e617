#!/usr/bin/env python3
"""Bytes of trace per call of a real application: LAMMPS' example `melt`, 4 ranks, dump and restart every 50 steps."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rounds import Rounds, unmet

from halcyon.compiled import core
from halcyon.layers.preload import variables

EXAMPLE = Path("/usr/share/lammps/examples/melt/in.melt")
RANKS = 4
STEPS = {"": 250, "_long": 2500}
"""Those of the example, and ten times as many: starting is then a small part of the calls."""


def main() -> int:
    if shutil.which("lmp") is None or not EXAMPLE.exists():
        for suffix in STEPS:
            why = "LAMMPS and its examples are not installed (Debian: lammps, lammps-examples)"
            unmet("observe", f"bytes_per_call_lammps{suffix}", why)
        return 0
    for suffix, steps in STEPS.items():
        # Bytes, not times: whatever else the machine does.
        for current in Rounds("observe", quiet=False):
            current.value(f"bytes_per_call_lammps{suffix}", bytes_per_call(steps), "bytes")
    return 0


def bytes_per_call(steps: int) -> float:
    """Of all ranks together, of a run of so many steps."""
    place = Path(tempfile.mkdtemp(dir=".")).resolve()
    traces = place / "trace"
    traces.mkdir(parents=True)
    text = EXAMPLE.read_text(encoding="utf-8")
    text = re.sub(r"^#dump\s+id", "dump id", text, flags=re.MULTILINE)
    text = re.sub(r"^run\s+\d+", f"restart 50 restart.*\nrun {steps}", text, flags=re.MULTILINE)
    (place / "in.melt").write_text(text, encoding="utf-8")
    command = ["mpirun.openmpi", "-n", str(RANKS)]
    for name, value in variables(["trace"], traces).items():
        command += ["-x", f"{name}={value}"]
    subprocess.run([*command, "lmp", "-in", "in.melt"], cwd=place, stdout=subprocess.DEVNULL, check=True)
    files = list(traces.glob("*.trace"))
    if len(files) != RANKS:
        raise SystemExit(f"error: {len(files)} traces; expected {RANKS}")
    calls = 0
    for file in files:
        reader = core().TraceReader(os.fsencode(file))
        calls += sum(len(reader.chunk(index)["start"]) for index in range(reader.chunk_count))
    return sum(file.stat().st_size for file in files) / calls


if __name__ == "__main__":
    sys.exit(main())
