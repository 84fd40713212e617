#!/usr/bin/env python3
"""What output costs the simulation, over file-per-process, on limited storage; in turns, with a control.

The storm of `make demo`, on a coarser grid. Needs root: it limits a device of its own. Elsewhere it says why it is left
out, and exits with 77.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from halcyon.demo.build_tree import find_build_tree
from halcyon.demo.comparison_rounds import CONTROL, DEDICATED, FILE_PER_PROCESS, SHARED, calibrate, compare
from halcyon.demo.measurement import Measurement, Ratio, ratio, run_time, spread, visible
from halcyon.demo.model_run import Storm
from halcyon.demo.storage import limited_storage
from halcyon.errors import HalcyonError

STORM = Storm(cells=(40, 40, 32), spacing_m=(1500, 550), step_s=9, phases=10, steps_per_phase=20)
ROUNDS = 3
LEFT_OUT = 77
FIGURES: dict[str, Callable[[Measurement], float]] = {
    "visible_over_fpp": visible,
    "spread_over_fpp": spread,
    "run_time_over_fpp": run_time,
}
RUNS = {"": DEDICATED, "_shared_core": SHARED, "_control": CONTROL}


def main() -> int:
    here = Path.cwd()
    try:
        with limited_storage(here) as storage:
            if storage.why_plain is not None:
                print(f"left out: the storage cannot be limited: {storage.why_plain}", file=sys.stderr)
                return LEFT_OUT
            tree = find_build_tree()
            compute_s = calibrate(tree, storage, STORM)
            rounds = compare(
                tree, storage, STORM, compute_s, ROUNDS, here, lambda what: print(what, file=sys.stderr)
            ).rounds
    except HalcyonError as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    for figure, of in FIGURES.items():
        for suffix, case in RUNS.items():
            tell(f"offload.{figure}{suffix}", ratio(rounds[case.name], rounds[FILE_PER_PROCESS.name], of))
    for suffix, case in {"_dedicated": DEDICATED, "_shared_core": SHARED}.items():
        tell(f"offload.store_over_compute{suffix}", Ratio.of(run.store_over_compute for run in rounds[case.name]))
    return 0


def tell(name: str, found: Ratio) -> None:
    print(f"{name} {found.median:.4f} ratio\n{name}.least {found.low:.4f} ratio\n{name}.most {found.high:.4f} ratio")


if __name__ == "__main__":
    sys.exit(main())
