#!/usr/bin/env python3
"""What `halcyon run --coordinate`, forecasts included, costs an application that is alone.

The figure is its run time, from its start to its end, with the layers `predict` and `coordinate`, an agent and a
coordinator, over its run time without. It computes and writes in turn, 64 KiB at a time: past the page cache to the
file system of a test bed; and, as `…_memory`, to a file in memory, where a call takes some microseconds and nothing
costs more beside it. The controls are second runs without.
"""

import os
import subprocess
import tempfile
import time
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

from rounds import Rounds, unmet

from halcyon.delta.turns import coordinator
from halcyon.layers.coordination import Coordination, read_turns
from halcyon.layers.preload import variables
from halcyon.testbed.bed import Bed, raised
from halcyon.testbed.place import MOUNTS, mount_point
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable

PROGRAM = Path(os.environ["HALCYON_BUILD"]) / "bench/coordinate/alone_overhead"
PHASES = 24
CALL_BYTES = 64 << 10
LEAST_IO_SHARE = 0.3
IO_SHARE = 0.4
"""As it is aimed at."""
LIMIT_S = 120
PLAN = Plan(compute=1, storage=2, mounts=1)


@dataclass(frozen=True)
class Ran:
    seconds: float
    """From its start to its end."""
    io_share: float
    moved: int


@dataclass(frozen=True)
class Storage:
    """Where the application writes, and how much in each phase. `bed`: it runs on its compute host; else here.
    `coordinated`: the path of the file system."""

    figure: str
    coordinated: Path
    folder: Path
    calls: int
    bed: Bed | None = None

    @property
    def moved(self) -> int:
        return PHASES * self.calls * CALL_BYTES

    def run(self, steps: int, environment: dict[str, str] | None = None) -> Ran:
        program = [str(PROGRAM), str(self.folder / "file"), str(PHASES), str(self.calls), str(steps)]
        if self.bed is None:
            command = program
            inherited = os.environ | (environment or {})
        else:
            # The environment is the program's, not that of what enters the host.
            host = self.bed.plan.compute_hosts[0].name
            own = [f"{name}={value}" for name, value in (environment or {}).items()]
            command = self.bed.command(host, ["env", *own, *program, "direct"])
            inherited = self.bed.environment(host)
        begin = time.monotonic()
        done = subprocess.run(command, env=inherited, capture_output=True, text=True, timeout=LIMIT_S, check=True)
        took = time.monotonic() - begin
        whole, of_io, moved = done.stdout.split()
        return Ran(took, float(of_io) / float(whole), int(moved))

    def run_coordinated(self, one: Rounds, steps: int, turns_by: str) -> Ran:
        with tempfile.TemporaryDirectory() as facts:
            coordination = Coordination((turns_by,)).variables()
            ran = self.run(steps, variables(["predict", "coordinate"], Path(facts)) | coordination)
            turns = read_turns(Path(facts))
        in_turn, forecasts = turns.counts["bytes"], turns.counts["forecasts"]
        one.require("all bytes move under leases", in_turn == self.moved, f"{in_turn} of {self.moved} bytes")
        one.require("each phase is forecast", forecasts >= PHASES, f"{forecasts} forecasts of {PHASES} phases")
        return ran

    def steps(self) -> int:
        """Of computing in each phase, so that I/O has its share of the run."""
        tried = 1_000_000
        self.run(tried)
        trial = self.run(tried)
        return max(round(tried * trial.io_share / (1 - trial.io_share) * (1 - IO_SHARE) / IO_SHARE), 1)


def main() -> None:
    with ExitStack() as stack:
        memory = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm")))
        storages = [Storage("alone_overhead_memory", memory, memory, 8192)]
        if reason := unavailable(PLAN):
            unmet("coordinate", "alone_overhead", reason)
        else:
            bed = stack.enter_context(raised(PLAN))
            storages.append(Storage("alone_overhead", MOUNTS, mount_point("c1", 0), 64, bed))
        turns_by = [stack.enter_context(coordinated(one)) for one in storages]
        steps = [one.steps() for one in storages]
        for one in Rounds("coordinate"):
            for storage, each, by in zip(storages, steps, turns_by, strict=True):
                measure(one, storage, each, by)


def coordinated(storage: Storage) -> AbstractContextManager[str]:
    """A coordinator of its own, as `PATH=ADDRESS`."""
    own = Path.cwd() / storage.figure
    own.mkdir()
    return coordinator("dynamic", str(storage.coordinated), own)


def measure(one: Rounds, storage: Storage, steps: int, turns_by: str) -> None:
    kinds = ["with", "without", "again"]
    shift = one.made % 3
    ran: dict[str, Ran] = {}
    for kind in kinds[shift:] + kinds[:shift]:
        ran[kind] = storage.run_coordinated(one, steps, turns_by) if kind == "with" else storage.run(steps)
    without = ran["without"]
    one.control(f"{storage.figure}_control", ran["again"].seconds / without.seconds, 1.1)
    share = min(each.io_share for each in ran.values())
    one.require("I/O is a large part of the run", share >= LEAST_IO_SHARE, f"{share:.0%}")
    same = all(each.moved == storage.moved for each in ran.values())
    one.require("all runs write the same", same, f"{[each.moved for each in ran.values()]} bytes")
    one.value(storage.figure, ran["with"].seconds / without.seconds, "ratio")


if __name__ == "__main__":
    main()
