#!/usr/bin/env python3
"""What `halcyon run --coordinate`, forecasts included, costs an application that is alone.

The figure is its run time, from its start to its end, with the layers `predict` and `coordinate`, an agent and a
coordinator, over its run time without. It computes and writes in turn, 64 KiB at a time, to a file in memory: no
storage is faster, so that nothing costs more beside it. The control is a second run without.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rounds import Rounds

from halcyon.coordinate.configuration import find_program
from halcyon.layers.coordination import Coordination, read_turns
from halcyon.layers.preload import variables

PROGRAM = Path(os.environ["HALCYON_BUILD"]) / "bench/coordinate/alone_overhead"
PHASES = 12
CALLS = 8192
BYTES = PHASES * CALLS * (64 << 10)
LEAST_IO_SHARE = 0.3
IO_SHARE = 0.4
"""As it is aimed at."""
LIMIT_S = 120


@dataclass(frozen=True)
class Ran:
    seconds: float
    """From its start to its end."""
    io_share: float
    moved: int


def main() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as mount, coordinator(Path(mount)) as address:
        file = Path(mount) / "file"
        steps = steps_for(file)
        for one in Rounds("coordinate"):
            kinds = ["with", "without", "again"]
            shift = one.made % 3
            ran: dict[str, Ran] = {}
            for kind in kinds[shift:] + kinds[:shift]:
                ran[kind] = layered(one, file, steps, Path(mount), address) if kind == "with" else run(file, steps)
            without = ran["without"]
            one.control("alone_overhead_control", ran["again"].seconds / without.seconds, 1.1)
            share = min(each.io_share for each in ran.values())
            one.require("I/O is a large part of the run", share >= LEAST_IO_SHARE, f"{share:.0%}")
            same = all(each.moved == BYTES for each in ran.values())
            one.require("all runs write the same", same, f"{[each.moved for each in ran.values()]} bytes")
            one.value("alone_overhead", ran["with"].seconds / without.seconds, "ratio")


def run(file: Path, steps: int, environment: dict[str, str] | None = None) -> Ran:
    command = [str(PROGRAM), str(file), str(PHASES), str(CALLS), str(steps)]
    begin = time.monotonic()
    done = subprocess.run(
        command, env=os.environ | (environment or {}), capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    took = time.monotonic() - begin
    whole, of_io, moved = done.stdout.split()
    return Ran(took, float(of_io) / float(whole), int(moved))


def layered(one: Rounds, file: Path, steps: int, mount: Path, address: str) -> Ran:
    with tempfile.TemporaryDirectory() as facts:
        coordination = Coordination((f"{mount}={address}",)).variables()
        ran = run(file, steps, variables(["predict", "coordinate"], Path(facts)) | coordination)
        turns = read_turns(Path(facts))
    in_turn, forecasts = turns.counts["bytes"], turns.counts["forecasts"]
    one.require("all bytes move under leases", in_turn == BYTES, f"{in_turn} of {BYTES} bytes")
    one.require("each phase is forecast", forecasts >= PHASES, f"{forecasts} forecasts of {PHASES} phases")
    return ran


def steps_for(file: Path) -> int:
    """Of computing in each phase, so that I/O has its share of the run."""
    tried = 1_000_000
    trial = run(file, tried)
    trial = run(file, tried)
    io_s, computed_s = trial.seconds * trial.io_share, trial.seconds * (1 - trial.io_share)
    return max(round(tried * io_s / computed_s * (1 - IO_SHARE) / IO_SHARE), 1)


@contextmanager
def coordinator(mount: Path) -> Iterator[str]:
    """Its address."""
    folder = Path.cwd()
    address = f"unix:{folder}/socket"
    config = folder / "coordinators.yaml"
    config.write_text(f'halcyon: 1\ncoordinators:\n  bench: {{paths: ["{mount}"], address: "{address}"}}\n')
    with subprocess.Popen([find_program(), "--config", config], stderr=subprocess.DEVNULL) as daemon:
        limit = time.monotonic() + LIMIT_S
        while not (folder / "socket").exists():
            if daemon.poll() is not None or time.monotonic() > limit:
                raise SystemExit("error: the coordinator does not start")
            time.sleep(0.01)
        try:
            yield address
        finally:
            daemon.terminate()


if __name__ == "__main__":
    main()
