#!/usr/bin/env python3
"""What output costs the simulation, over file-per-process, on limited storage; in turns, with a control.

The storm of `make demo`, on a coarser grid. Needs root: it limits a device of its own.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from rounds import Rounds, unmet

from halcyon.demo.build_tree import find_build_tree
from halcyon.demo.calibration import calibrate
from halcyon.demo.comparison_rounds import CONTROL, DEDICATED, FILE_PER_PROCESS, SHARED, Round, adjusted, run_round
from halcyon.demo.measurement import Measurement, run_time, spread, visible
from halcyon.demo.model_run import Storm
from halcyon.errors import HalcyonError
from halcyon.testbed.limited_storage import limited_storage

STORM = Storm(cells=(40, 40, 32), spacing_m=(1500, 550), step_s=9, phases=7, steps_per_phase=20)
FIGURES: dict[str, Callable[[Measurement], float]] = {
    "visible_over_fpp": visible,
    "spread_over_fpp": spread,
    "run_time_over_fpp": run_time,
}
RUNS = {"": DEDICATED, "_shared_core": SHARED, "_control": CONTROL}
STORES = {"store_over_compute_dedicated": DEDICATED, "store_over_compute_shared_core": SHARED}
CASES = (FILE_PER_PROCESS, DEDICATED, SHARED, CONTROL)


def main() -> int:
    try:
        with limited_storage(Path.cwd()) as storage:
            if storage.why_plain is not None:
                for name in [figure + suffix for figure in FIGURES for suffix in RUNS] + list(STORES):
                    unmet("offload", name, f"the storage cannot be limited: {storage.why_plain}")
                return 0
            tree = find_build_tree()
            pace = calibrate(tree, storage, STORM, say)
            for current in (rounds := Rounds("offload")):
                order = CASES if rounds.made % 2 == 0 else CASES[::-1]
                made = run_round(tree, storage, pace, order, say)
                tell(current, made)
                pace = adjusted(pace, made)
    except HalcyonError as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    return 0


def say(what: str) -> None:
    print(what, file=sys.stderr)


def tell(current: Rounds, made: Round) -> None:
    for premise, detail in made.failures():
        current.require(premise, False, detail)
    reference = made.measured[FILE_PER_PROCESS.name]
    for figure, of in FIGURES.items():
        for suffix, case in RUNS.items():
            current.value(figure + suffix, of(made.measured[case.name]) / of(reference), "ratio")
    for name, case in STORES.items():
        current.value(name, made.measured[case.name].store_over_compute, "ratio")


if __name__ == "__main__":
    sys.exit(main())
