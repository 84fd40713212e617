#!/usr/bin/env python3
"""What output costs the simulation where storage is fast, over file-per-process: 20 to 40 minutes.

The storm of `make demo` writes to a tmpfs, in runs of at least RUN_S. In each round: file-per-process twice (the second
time is the control), Halcyon with a server on a core of its own and with one that shares a core, and for each of
the two as many ranks that only copy the same arrays by memcpy.
"""

import math
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rounds import Rounds, unmet

from halcyon.demo.build_tree import BuildTree, find_build_tree
from halcyon.demo.calibration import Pace, calibrate
from halcyon.demo.comparison_rounds import CONTROL, DEDICATED, FILE_PER_PROCESS, SHARED, run_round
from halcyon.demo.measurement import Measurement, run_time, steady_time, visible
from halcyon.demo.model_run import Case, Storm
from halcyon.errors import HalcyonError
from halcyon.testbed.limited_storage import Storage

STORM = Storm(cells=(40, 40, 32), spacing_m=(1500, 550), step_s=9, phases=0, steps_per_phase=20)
RUN_S = 20.0
MARGIN = 1.2
"""So much longer the runs shall be: the machine is not always as fast as it was when its pace was taken."""
MEMORY = Path("/dev/shm")
STORE_OVER_COMPUTE_AT_MOST = 0.2
"""Of file-per-process: above, the storage is not fast."""
RUN_TIME_WITHIN = 1.1
"""By this factor the run time of file-per-process may differ from itself in one round."""
COPY_1 = Case("memory-1", "memcpy, 1 rank", "memory", 1)
COPY_2 = Case("memory-2", "memcpy, 2 ranks", "memory", 2)
CASES = (COPY_1, DEDICATED, FILE_PER_PROCESS, SHARED, CONTROL, COPY_2)
"""What is compared by its run time is neighbours: how fast the machine is changes within minutes."""
RUNS = {"": DEDICATED, "_shared_core": SHARED, "_control": CONTROL}
OVER_FPP: dict[str, Callable[[Measurement], float]] = {
    "visible_over_fpp": visible,
    "run_time_over_fpp": run_time,
    "steady_over_fpp": steady_time,
}
SERVERS = {"": (DEDICATED, COPY_1), "_shared_core": (SHARED, COPY_2)}
BESIDE = ("start_stop", "memcpy_over_fpp", "visible_beyond_memcpy")
"""Figures of a run with a server."""


def main() -> int:
    try:
        with tempfile.TemporaryDirectory(dir=MEMORY, prefix="halcyon-bench-") as place:
            tree, storage = find_build_tree(), Storage(Path(place))
            pace = calibrate(tree, storage, STORM, say)
            pace = lengthened(pace, pace.compute_phase_s)
            reason = why_not(pace.storm)
            if reason is not None:
                names = [figure + suffix for figure in OVER_FPP for suffix in RUNS]
                names += [figure + suffix for figure in BESIDE for suffix in SERVERS]
                for name in [f"{name}_fast" for name in names]:
                    unmet("offload", name, reason)
                return 0
            for current in (rounds := Rounds("offload")):
                shortest = measure_round(current, tree, storage, pace, CASES if rounds.made % 2 == 0 else CASES[::-1])
                if shortest < RUN_S:
                    pace = lengthened(pace, shortest / pace.storm.phases)
    except HalcyonError as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    return 0


def lengthened(pace: Pace, phase_s: float) -> Pace:
    return replace(pace, storm=replace(pace.storm, phases=math.ceil(MARGIN * RUN_S / phase_s)))


def why_not(storm: Storm) -> str | None:
    of = os.statvfs(MEMORY)
    needed = 3 * storm.phases * storm.bytes_per_phase
    kinds = {line.split()[1]: line.split()[2] for line in Path("/proc/mounts").read_text().splitlines()}
    if kinds.get(str(MEMORY)) != "tmpfs":
        return f"{MEMORY} is no tmpfs"
    if of.f_bavail * of.f_frsize < needed:
        return f"{MEMORY} has no room for {needed >> 20} MiB"
    return None


def measure_round(
    current: Rounds, tree: BuildTree, storage: Storage, pace: Pace, order: tuple[Case, ...]
) -> float:  # fmt: skip
    """Returns how long its shortest run took, in seconds."""
    made = run_round(tree, storage, pace, order, say)
    for premise, detail in made.failures():
        current.require(premise, False, detail)
    reference = made.measured[FILE_PER_PROCESS.name]
    shortest = min(run.run_s for run in made.measured.values())
    current.require("runs are long enough", shortest >= RUN_S, f"{shortest:.1f} s, expected {RUN_S:.0f}")
    share = reference.store_over_compute
    fast = share <= STORE_OVER_COMPUTE_AT_MOST
    current.require("the storage is fast", fast, f"store/compute {share:.2f}, at most {STORE_OVER_COMPUTE_AT_MOST}")
    for figure, of in OVER_FPP.items():
        for suffix, case in RUNS.items():
            current.value(f"{figure}{suffix}_fast", of(made.measured[case.name]) / of(reference), "ratio")
    again = run_time(made.measured[CONTROL.name]) / run_time(reference)
    current.require_control("run_time_over_fpp_control_fast", again, RUN_TIME_WITHIN)
    for suffix, (case, copy) in SERVERS.items():
        run, copying = made.measured[case.name], made.measured[copy.name]
        current.value(f"start_stop{suffix}_fast", run.start_stop_s, "s")
        current.value(f"memcpy_over_fpp{suffix}_fast", visible(copying) / visible(reference), "ratio")
        beyond = (visible(run) - visible(copying)) / visible(reference)
        current.value(f"visible_beyond_memcpy{suffix}_fast", beyond, "ratio")
    return shortest


def say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
